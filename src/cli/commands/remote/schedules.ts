/** `millrace schedules`: the schedules of a pipeline, and their pause. */
import type { MillraceClient, Schemas } from "../../../../clients/typescript/src/index.ts";
import { formatDuration } from "../../../domain/durations.ts";
import { findPipeline } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface ScheduleOptions extends RemoteOptions {
  readonly project?: string;
}

export interface PauseOptions extends ScheduleOptions {
  readonly reason?: string;
}

export function listSchedules(pipeline: string, options: ScheduleOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, pipeline, options.project);
    const { list } = await client.get("/pipelines/{pipelineId}/schedules", { path: { pipelineId }, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "state", text: ({ state }) => state, colour: ({ state }) => (state === "active" ? "green" : "gray") },
        { title: "schedule", text: ({ schedule, timezone }) => `${schedule} (${timezone})` },
        { title: "next", text: ({ next }) => next[0] ?? "-" },
        { title: "waiting", text: ({ waiting }) => `${waiting.length}` },
        { title: "active runs", text: ({ activeRuns }) => `${activeRuns.length}` },
      ],
      "no schedules: the definition has no cron trigger",
    );
  });
}

/** The next times of a schedule, and what became of the last ones. */
export function showSchedule(
  pipeline: string,
  name: string,
  options: ScheduleOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = await placeOf(client, pipeline, name, options);
    const found = await client.get("/pipelines/{pipelineId}/schedules/{scheduleName}", { path, signal });
    const { schedule, timezone, state, overlap, catchUp, jitter, pause } = found;
    const delay = jitter > 0 ? `, jitter ${formatDuration(jitter)}` : "";
    report.object(
      found,
      `${found.name}  ${state}  ${schedule} (${timezone})  overlap ${overlap}, catch-up ${catchUp}${delay}`,
      ...(pause === null ? [] : [`paused   by ${pause.by} at ${pause.at} ${pause.reason}`.trimEnd()]),
      ...found.next.map((at) => `next     ${at}`),
      ...found.waiting.map((at) => `waiting  ${at}`),
      ...found.outcomes.map(outcomeLine),
    );
  });
}

export function pauseSchedule(
  pipeline: string,
  name: string,
  options: PauseOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = await placeOf(client, pipeline, name, options);
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const paused = await client.post("/pipelines/{pipelineId}/schedules/{scheduleName}/pause", { path, body, signal });
    report.object(paused, `${paused.name} is paused`);
  });
}

export function resumeSchedule(
  pipeline: string,
  name: string,
  options: ScheduleOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = await placeOf(client, pipeline, name, options);
    const back = await client.post("/pipelines/{pipelineId}/schedules/{scheduleName}/resume", {
      path,
      body: {},
      signal,
    });
    report.object(back, `${back.name} goes on; its next time is ${back.next[0] ?? "never"}`);
  });
}

async function placeOf(client: MillraceClient, pipeline: string, scheduleName: string, { project }: ScheduleOptions) {
  return { pipelineId: (await findPipeline(client, pipeline, project)).pipelineId, scheduleName };
}

function outcomeLine({ at, until, count, runId, reason, text }: Schemas["ScheduleOutcome"]): string {
  if (runId !== null) return `run      ${at}  ${runId}`;
  const times = count === 1 ? at : `${at} to ${until} (${count ?? "many"} times)`;
  return `skipped  ${times}  ${[reason, text].filter((one) => one !== "").join(": ")}`;
}

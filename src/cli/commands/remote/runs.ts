/** `millrace runs`, `trigger`, `stop`, `rerun` and `approve`. */
import { ApiError, type MillraceClient, type Schemas } from "../../../../clients/typescript/src/index.ts";
import { formatDuration } from "../../../domain/durations.ts";
import { CommandFailure, UsageError } from "../../command-line.ts";
import { EXIT } from "../../exit-codes.ts";
import { findPipeline, findProject, findRunId, requireDefinition } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";
import { visible } from "../../remote/visible.ts";
import { parseTime } from "./parse-time.ts";
import { renderTree } from "../../run-tree.ts";
import { Screen, STATUS_COLOURS } from "../../screen.ts";
import { parseVariables } from "../../variables.ts";

export interface RunOptions extends RemoteOptions {
  readonly project?: string;
}

export interface ListOptions extends RunOptions {
  readonly status?: readonly Schemas["Run"]["status"][];
  readonly mine?: boolean;
  readonly by?: string;
  readonly ref?: string;
  readonly trigger?: "manual" | "cron" | "event";
  /** A time of RFC 3339, or a duration before now. */
  readonly since?: string;
  readonly limit: number;
}

const COLUMNS: readonly Column<Schemas["Run"]>[] = [
  { title: "run", text: ({ runId }) => runId },
  { title: "status", text: ({ status }) => status, colour: ({ status }) => STATUS_COLOURS[status] },
  { title: "attempt", text: ({ attempt }) => `${attempt}` },
  { title: "trigger", text: ({ trigger }) => trigger.kind },
  { title: "by", text: ({ triggeredBy }) => triggeredBy },
  { title: "created", text: ({ createdAt }) => createdAt },
  { title: "took", text: ({ startTime, duration }) => (startTime === null ? "-" : formatDuration(duration)) },
  { title: "waits for", text: ({ waitingFor }) => waitingFor?.text ?? "" },
];

/** The runs of a pipeline or of all pipelines that the caller may see, the newest first. */
export function listRuns(pipeline: string | undefined, options: ListOptions, signal: AbortSignal): Promise<number> {
  const { status, mine = false, by, ref, trigger: kind, since, limit, project } = options;
  const from = since === undefined ? undefined : parseTime("--since", since);
  return withServer(options, signal, async ({ client, report }) => {
    const found = pipeline === undefined ? undefined : await findPipeline(client, pipeline, project);
    const projectId = project === undefined ? undefined : (await findProject(client, project)).projectId;
    const query = {
      limit: Math.min(limit, 100),
      mine: mine ? ("true" as const) : undefined,
      pipelineId: found?.pipelineId,
      projectId,
      status: status?.join(","),
      triggeredBy: by,
      ref,
      trigger: kind,
      from,
    };
    const runs = await takeItems(client.items("/runs", { query, signal }), limit);
    // Runs of users who were removed keep the name, so an unknown name is no error.
    const none =
      by === undefined
        ? "no runs"
        : `no runs by ${visible(by)}: --by takes a whole name, such as in \`millrace users\``;
    if (found !== undefined || report.isJson) {
      report.list(runs, COLUMNS, none);
      return;
    }
    const names = await namesOf(client, signal);
    const ofPipeline = {
      title: "pipeline",
      text: ({ pipelineId }: Schemas["Run"]) => names.get(pipelineId) ?? pipelineId,
    };
    report.list(runs, [ofPipeline, ...COLUMNS], none);
  });
}

/** The names of the first pipelines by id; of others, a table shows the id. */
async function namesOf(client: MillraceClient, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { list } = await client.get("/pipelines", { query: { pageSize: 100, sort: "name" }, signal });
  return new Map(list.map(({ pipelineId, name }) => [pipelineId, name]));
}

/** A run with its jobs and steps. */
export function showRun(run: string, options: RunOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const { client, report } = session;
    const found = await readRun(session, run, options);
    if (report.isJson) {
      report.json(found);
      return;
    }
    const { name } = await client.get("/pipelines/{pipelineId}", { path: { pipelineId: found.pipelineId }, signal });
    const screen = new Screen(process.stdout);
    screen.print(screen.paint("gray", `${found.runId}, triggered by ${found.triggeredBy} at ${found.createdAt}`));
    screen.printTree(renderTree(found, { name, steps: "all" }));
    const unheard = await unheardNotifications(client, found.runId, signal);
    for (const { channel, target, error, state, lastTry, nextTry } of unheard) {
      // A server of an older release does not say when it was tried.
      const last = lastTry ? `tried at ${lastTry}, ` : "";
      const next = state === "owed" ? `tried again at ${nextTry}` : "not tried again";
      screen.print(screen.paint("yellow", visible(`${channel} ${target} was not told: ${error} (${last}${next})`)));
    }
  });
}

/** The newest notifications whose last try failed. */
async function unheardNotifications(
  client: MillraceClient,
  runId: string,
  signal: AbortSignal,
): Promise<readonly Schemas["Notification"][]> {
  try {
    const { list } = await client.get("/pipelines/runs/{runId}/notifications", { path: { runId }, signal });
    return list.filter(({ error }) => error !== "");
  } catch (error) {
    // A server of an older release does not list them.
    if (error instanceof ApiError && error.code === 404) return [];
    throw error;
  }
}

export interface WatchOptions extends RunOptions {
  readonly logs?: boolean;
}

export function watch(run: string, options: WatchOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const { client } = session;
    const { runId, pipelineId } = await readRun(session, run, options);
    const { name } = await client.get("/pipelines/{pipelineId}", { path: { pipelineId }, signal });
    const { watchRun } = await import("../../remote/watch-run.ts");
    return watchRun(session, runId, { name, logs: options.logs === true });
  });
}

export interface TriggerOptions extends WatchOptions {
  /** `name=value` texts. */
  readonly var: readonly string[];
  /** `NAME=FILE` or `NAME=ID` texts. */
  readonly upload: readonly string[];
  readonly ref?: string;
  readonly watch?: boolean;
  readonly requestId?: string;
}

export function trigger(pipeline: string, options: TriggerOptions, signal: AbortSignal): Promise<number> {
  const variables = parseVariables(options.var);
  return withServer(options, signal, async (session) => {
    const { client } = session;
    const found = await findPipeline(client, pipeline, options.project);
    requireDefinition(found, "conflict");
    const { pipelineId, projectId, name } = found;
    const { requestId, upload, ref } = options;
    const uploads =
      upload.length > 0 &&
      (await (await import("./uploads.ts")).giveUploads(client, upload, { projectId, requestId, signal }));
    const body = {
      variables,
      ...(ref !== undefined && { ref }),
      ...(requestId !== undefined && { requestId }),
      ...(uploads && { uploads }),
    };
    const begun = await client.post("/pipelines/{pipelineId}/trigger", { path: { pipelineId }, body, signal });
    return afterBegin(session, begun, `triggered ${name}: ${begun.runId}`, { ...options, name });
  });
}

export interface StopOptions extends RunOptions {
  readonly reason?: string;
}

export function stop(run: string, options: StopOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const { client, report } = session;
    const { runId, pipelineId } = await readRun(session, run, options);
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const path = { pipelineId, runId };
    const stopped = await client.post("/pipelines/{pipelineId}/runs/{runId}/stop", { path, body, signal });
    report.object(stopped, `stopping ${runId}: ${stopped.status}`);
  });
}

export interface RerunOptions extends WatchOptions {
  readonly failed?: boolean;
  readonly step?: string;
  readonly watch?: boolean;
}

export function rerun(run: string, options: RerunOptions, signal: AbortSignal): Promise<number> {
  const { failed = false, step } = options;
  if (failed && step !== undefined) throw new UsageError("--failed and --step exclude each other");
  return withServer(options, signal, async (session) => {
    const { client } = session;
    const { runId, pipelineId } = await readRun(session, run, options);
    const scope = step !== undefined ? "step" : failed ? "failed" : "all";
    const body = { scope, ...(step === undefined ? {} : { stepRunId: step }) } as const;
    const path = { pipelineId, runId };
    const begun = await client.post("/pipelines/{pipelineId}/runs/{runId}/rerun", { path, body, signal });
    const { name } = await client.get("/pipelines/{pipelineId}", { path: { pipelineId }, signal });
    return afterBegin(session, begun, `runs ${runId} again: ${begun.runId}, attempt ${begun.attempt}`, {
      ...options,
      name,
    });
  });
}

export interface ApproveOptions extends RunOptions {
  readonly comment?: string;
  readonly reject?: boolean;
  readonly gate?: string;
}

/** Votes on the approval that the run waits for; of several, on the one of the stage or job that `gate` names. */
export function approve(run: string, options: ApproveOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const runId = await findRunId(client, run, options.project);
    const { list } = await client.get("/pipelines/runs/{runId}/approvals", { path: { runId }, signal });
    const { gate, comment, reject = false } = options;
    const pending = list.filter(({ status }) => status === "pending");
    const chosen = gate === undefined ? pending : pending.filter((approval) => gateOf(approval) === gate);
    const [approval] = chosen;
    if (approval === undefined) {
      throw new CommandFailure(`no approval of ${gate ?? runId} is pending`, EXIT.failure, {
        next: `millrace runs show ${runId}`,
      });
    }
    if (chosen.length > 1) {
      throw new UsageError(`several approvals are pending: choose one by --gate: ${chosen.map(gateOf).join(", ")}`);
    }
    const { pipelineId, approvalId } = approval;
    const vote = reject ? "reject" : "approve";
    const call = { path: { pipelineId, runId, approvalId }, body: comment === undefined ? {} : { comment }, signal };
    const after = await client.post(`/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/${vote}`, call);
    const left = after.status === "pending" ? `, ${after.missing.count} more needed` : "";
    report.object(after, `${reject ? "rejected" : "approved"} ${gateOf(approval)}${left}`);
  });
}

async function afterBegin(
  session: Session,
  begun: { readonly runId: string },
  text: string,
  options: { readonly watch?: boolean; readonly logs?: boolean; readonly name: string },
): Promise<number> {
  const { report } = session;
  if (options.watch !== true) {
    report.object(begun, text);
    return EXIT.ok;
  }
  if (!report.isJson) report.object(begun, text);
  const { watchRun } = await import("../../remote/watch-run.ts");
  return watchRun(session, begun.runId, { name: options.name, logs: options.logs === true });
}

async function readRun(
  { client, signal }: Session,
  run: string,
  { project }: RunOptions,
): Promise<Schemas["RunDetail"]> {
  const runId = await findRunId(client, run, project);
  return client.get("/pipelines/runs/{runId}", { path: { runId }, signal });
}

const gateOf = ({ gate }: Schemas["ApprovalForCaller"]) => Object.values(gate).join("");

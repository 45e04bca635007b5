/**
 * One round of races: a run of one step, and viewers that subscribe at random moments around one event. Afterwards the judge
 * compares what each viewer saw with what is stored.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../chaos/world/random.ts";
import { STEP_STATUS_CODES } from "../../src/domain/status.ts";
import { until } from "../support/until.ts";
import type { RaceWorld } from "./race-world.ts";
import { type FollowedStep, isLines, type Message, RacingViewer, VIEWER_KINDS } from "./racing-viewer.ts";

/** What the viewers of a round subscribe around. */
export const MOMENTS = ["start", "end", "edge restart", "owner change"] as const;
export type Moment = (typeof MOMENTS)[number];

const AROUND_MS = 300;
const LINES = 40;
/** The step writes for this long: a line each time, the last one without its end. */
const WRITES_MS = 800;
/** Odd bytes, so that equal means equal to the byte. */
const SCRIPT = `for n in $(seq ${LINES}); do printf '%s \\033[32m%s\\033[0m \\t"\\\\\\u00e9" %s\\n' "$n" "$n" "$RANDOM"; sleep ${WRITES_MS / LINES / 1_000}; done; printf 'the end'`;
const DEADLINE_MS = 60_000;

export async function createRacePipeline({ api }: RaceWorld): Promise<string> {
  const { pipelineId } = await api.createPipeline("races", "");
  const steps = [{ name: "write", uses: "shell", args: { script: SCRIPT, shell: "bash" } }];
  await api.saveSpec(pipelineId, { jobs: [{ name: "job", steps }] });
  return pipelineId;
}

/**
 * Plays one round. For a restart or a change of owner, `faultAt` resolves when the fault is injected. Rejects with what a
 * viewer saw that is not what is stored.
 */
export async function playRound(
  world: RaceWorld,
  pipelineId: string,
  moment: Moment,
  random: Random,
  faultAt: Promise<unknown>,
): Promise<void> {
  const { runId } = await world.api.trigger(pipelineId, {});
  const begun = performance.now();
  const { jobs } = await world.read<RunDetails>(`/pipelines/runs/${runId}`);
  const [{ jobId, steps }] = jobs as [RunDetails["jobs"][number]];
  const step = { pipelineId, runId, jobId, stepRunId: steps[0]!.stepRunId };
  const viewers: RacingViewer[] = [];
  try {
    await Promise.all(
      VIEWER_KINDS.map(async (kind) => {
        // A viewer of a restart or a change may also be there before.
        const edge = random.between(0, world.edges.length - 1);
        const jitter = random.between(0, 2 * AROUND_MS);
        if (moment === "start") await sleep(jitter);
        else if (moment === "end") await sleep(Math.max(0, begun + WRITES_MS - performance.now()) + jitter);
        else await Promise.race([faultAt, sleep(jitter)]);
        viewers.push(new RacingViewer(world, kind, step, edge));
      }),
    );
    await until(
      "the run has ended",
      async () => (await world.read<RunDetails>(`/pipelines/runs/${runId}`)).status === "success",
      DEADLINE_MS,
    );
    const stored = await readStored(world, step);
    for (const viewer of viewers) await judge(viewer, stored);
  } finally {
    for (const viewer of viewers) viewer.close();
  }
}

interface RunDetails {
  readonly status: string;
  readonly jobs: readonly { readonly jobId: string; readonly steps: readonly { readonly stepRunId: string }[] }[];
}

interface StoredEvent {
  readonly number: number;
  readonly object: string;
  readonly status: string;
  readonly stepRunId: string | null;
}

interface Stored {
  readonly lines: readonly object[];
  readonly events: readonly StoredEvent[];
  /** The statuses of the step, oldest first. */
  readonly statuses: readonly string[];
}

async function readStored(world: RaceWorld, { pipelineId, runId, stepRunId }: FollowedStep): Promise<Stored> {
  const log = `/pipelines/${pipelineId}/runs/${runId}/steps/${stepRunId}/logs?limit=200`;
  const read = () => world.read<{ readonly list: readonly object[]; readonly isComplete: boolean }>(log);
  const { list } = await until("the log is complete", async () => {
    const answer = await read();
    return answer.isComplete && answer;
  });
  const timeline = await world.read<{ readonly list: readonly StoredEvent[] }>(
    `/pipelines/runs/${runId}/timeline?limit=1000`,
  );
  const statuses = timeline.list.filter((event) => event.stepRunId === stepRunId).map(({ status }) => status);
  return { lines: list, events: timeline.list, statuses: ["pending", ...statuses] };
}

async function judge(viewer: RacingViewer, stored: Stored): Promise<void> {
  const { kind } = viewer;
  const fault = kind.startsWith("log") ? faultOfLines : kind === "status" ? faultOfStatuses : faultOfEvents;
  // A viewer is behind what is stored for a moment, and more than a moment after its edge has died.
  const isDone = () => fault(viewer.connections, stored) === null;
  await until(`the viewer of the ${kind} has everything`, isDone, DEADLINE_MS).catch(() => {
    const seen = JSON.stringify(viewer.connections);
    throw new Error(
      `the viewer of the ${kind} ${fault(viewer.connections, stored)}; stored: ${JSON.stringify(stored)}; seen: ${seen}`,
    );
  });
}

type Connections = readonly (readonly Message[])[];

/** What is wrong with the lines that a viewer saw, over all its connections; null when they are the stored ones. */
export function faultOfLines(connections: Connections, { lines }: Stored): string | null {
  const seen = connections.flat().flatMap(({ type, data }) => (isLines(type) ? ([data].flat() as object[]) : []));
  const wrong = lines.findIndex((line, at) => JSON.stringify(seen[at]) !== JSON.stringify(line));
  if (wrong !== -1) return `has another line ${wrong + 1}`;
  return seen.length > lines.length ? "has lines behind the end" : null;
}

/** Each connection begins with the status of the moment, and then has each later one, once and in order. */
export function faultOfStatuses(connections: Connections, { statuses }: Stored): string | null {
  let at = 0;
  for (const messages of connections) {
    for (const { type, data } of messages) {
      if (type === "status_snapshot") {
        const found = statuses.findIndex((status) => STEP_STATUS_CODES[status as "pending"] === data.status);
        if (found < at) return "went back, or has a status that the step never had";
        at = found;
      } else if (type === "status") {
        if (data.status !== statuses[++at]) return `has the status ${data.status} instead of ${statuses[at]}`;
      }
    }
  }
  return at < statuses.length - 1 ? `never saw the end, but ${statuses[at]}` : null;
}

/** The first connection has a snapshot; all events behind it come once and in order, over all connections. */
export function faultOfEvents(connections: Connections, { events }: Stored): string | null {
  let last: number | null = null;
  for (const { type, data } of connections.flat()) {
    if (type === "snapshotDone") last = data.eventNumber as number;
    if (type !== "event") continue;
    if (data.eventNumber !== (last ?? 0) + 1) return `has the event ${data.eventNumber} behind ${last}`;
    last = data.eventNumber as number;
    const stored = events[last - 1];
    if (stored?.object !== data.object || stored?.status !== data.status || stored?.stepRunId !== data.stepRunId) {
      return `has another event ${last}`;
    }
  }
  return last === events.length ? null : `has events to ${last} of ${events.length}`;
}

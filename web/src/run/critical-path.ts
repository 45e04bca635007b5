/** What a run waited for, and the chain of jobs that made it as long as it was. Pure. */
import type { Schemas } from "../../../clients/typescript/src/api-types.ts";
import { msOf } from "./moments.ts";
import { plannedName } from "./graph/blocks.ts";
import type { Job, PlannedJob, RunView } from "./run-view.ts";

export type WaitName = keyof Schemas["Waits"];
export const WAIT_NAMES: readonly WaitName[] = ["plan", "stage", "needs", "paused", "agent", "start"];

export interface Span {
  readonly kind: WaitName | "run";
  /** Milliseconds since the trigger. */
  readonly from: number;
  readonly to: number;
}

export interface JobSpans {
  readonly job: PlannedJob;
  readonly spans: readonly Span[];
}

export interface Waterfall {
  readonly rows: readonly JobSpans[];
  /** Milliseconds from the trigger to the end, or until now. */
  readonly lengthMs: number;
  /** Keys of the jobs of the chain. */
  readonly path: ReadonlySet<string>;
  /** How long the chain spent on what; waits for other jobs are theirs and do not count again. */
  readonly spent: ReadonlyMap<Span["kind"], number>;
}

const SHORTEST_MS = 1;

export function waterfallOf(view: RunView, nowMs: number): Waterfall {
  const triggeredMs = triggerOf(view);
  const rows = view.jobs.map((job) => ({ job, spans: spansOf(job.newest, triggeredMs, nowMs) }));
  const ends = rows.flatMap(({ spans }) => spans.map(({ to }) => to));
  const own = view.head.endTime === null ? 0 : msOf(view.head.endTime) - triggeredMs;
  const path = chainOf(rows);
  const spent = new Map<Span["kind"], number>();
  for (const { spans } of path) {
    for (const { kind, from, to } of spans) {
      if (kind === "stage" || kind === "needs") continue;
      // The plan is made once, for all jobs.
      if (kind === "plan" && spent.has("plan")) continue;
      spent.set(kind, (spent.get(kind) ?? 0) + to - from);
    }
  }
  return { rows, lengthMs: Math.max(SHORTEST_MS, own, ...ends), path: new Set(path.map(({ job }) => job.key)), spent };
}

function triggerOf(view: RunView): number {
  const step = view.jobs[0]?.newest.steps[0];
  return msOf(step?.timing.triggeredAt ?? view.head.createdAt);
}

function spansOf(job: Job, triggeredMs: number, nowMs: number): readonly Span[] {
  const first = job.steps[0];
  if (first === undefined) return [];
  const spans: Span[] = [];
  let at = 0;
  if (job.reusedFrom === null) {
    for (const kind of WAIT_NAMES) {
      const ms = first.timing.waits[kind] ?? 0;
      if (ms >= SHORTEST_MS) spans.push({ kind, from: at, to: at + ms });
      at += ms;
    }
  }
  const began = first.startTime ?? job.startTime;
  if (began === null) return spans;
  const from = msOf(began) - triggeredMs;
  const to = (job.endTime === null ? nowMs : msOf(job.endTime)) - triggeredMs;
  // The moments come from several clocks: a bar that would end before it begins has no length.
  spans.push({ kind: "run", from: Math.max(0, from), to: Math.max(0, from, to) });
  return spans;
}

/** From the job that ended last back to the first: each time the job before it that ended last. */
function chainOf(rows: readonly JobSpans[]): readonly JobSpans[] {
  const endOf = ({ spans }: JobSpans): number => spans.findLast(({ kind }) => kind === "run")?.to ?? -1;
  const last = (list: readonly JobSpans[]): JobSpans | undefined =>
    list.reduce<JobSpans | undefined>(
      (best, row) => (best === undefined || endOf(row) > endOf(best) ? row : best),
      undefined,
    );
  const stages = [...new Set(rows.map(({ job }) => job.newest.stage))];
  const chain: JobSpans[] = [];
  let at = last(rows.filter((row) => endOf(row) >= 0));
  while (at !== undefined && !chain.includes(at)) {
    chain.unshift(at);
    const { needs, stage } = at.job.newest;
    const needed = rows.filter(({ job }) => needs.includes(plannedName(job.newest)) || needs.includes(job.newest.name));
    const before = stages[stages.indexOf(stage) - 1];
    const candidates = needed.length > 0 ? needed : rows.filter(({ job }) => job.newest.stage === before);
    at = last(candidates.filter((row) => endOf(row) >= 0));
  }
  return chain;
}

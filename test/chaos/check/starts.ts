/**
 * Compares the runs that the control plane has started by itself with what it has promised to start: one run for each time of a
 * schedule, and one for each delivery and trigger. Pure.
 */
import type { AcknowledgedTrigger, Evidence, PromisedStart, RunEvidence, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";

/**
 * What was promised, as triggers whose answer a client has read: so their runs are judged like all others. The oldest run of a
 * cause is the promised one. A second run of the cause belongs to no trigger, and so is found.
 */
export function promisedTriggers({ starts, runs }: Pick<Evidence, "starts" | "runs">): readonly AcknowledgedTrigger[] {
  const byCause = groupBy(runs, ({ startedBy }) => startedBy ?? "");
  return starts.flatMap(({ by, isCertain, definition, exclusion }): readonly AcknowledgedTrigger[] => {
    const [run] = (byCause.get(by) ?? []).toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
    if (run === undefined && !isCertain) return [];
    const runId = run?.runId ?? `the run of ${by}`;
    return [{ requestId: by, runId, definition, vote: "approve", repeats: null, ends: ["success"], exclusion }];
  });
}

/** The API tells exactly the runs that there are. */
export function checkStarts({ starts, runs }: Pick<Evidence, "starts" | "runs">): readonly Violation[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  return starts.flatMap((start) => checkTold(start, byId));
}

function checkTold({ by, told }: PromisedStart, byId: ReadonlyMap<string, RunEvidence>): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: Violation["kind"], text: string) => found.push({ kind, text: `the API tells of ${by} ${text}` });
  const isStarted = [...byId.values()].some(({ startedBy }) => startedBy === by);
  const own = told.filter((runId) => byId.get(runId)?.startedBy === by);
  if (isStarted && own.length === 0) say("lost", "no run, and it has one");
  if (own.length > 1) say("doubled", `${own.length} runs`);
  for (const runId of told) if (!byId.has(runId)) say("wrong", `the run ${runId}, which is not in the store`);
  return found;
}

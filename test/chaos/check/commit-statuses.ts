/** Checks the statuses that the host of the repository has taken: each state once, in order, and the last one of each run. Pure. */
import type { Evidence, SetStatus, Violation } from "./evidence.ts";
import { groupBy } from "./groups.ts";

/** States in the order in which a run has them; of the final ones, a run has one. */
const PLACES: Readonly<Record<SetStatus["state"], number>> = {
  pending: 0,
  running: 1,
  success: 2,
  failure: 2,
  cancelled: 2,
};
/** The state that tells of the end of a run. */
const ENDS: Readonly<Record<string, SetStatus["state"]>> = {
  success: "success",
  partial: "success",
  failed: "failure",
  cancelled: "cancelled",
};

/**
 * A status that overtakes an older one makes that one pointless, so states may be left out, but never the last one. A worker that
 * dies between the answer of the host and its own record of it sets the same state again: at most one for each fault.
 */
export function checkCommitStatuses({ starts, runs, statuses, kills, hasZombies }: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const byCommit = groupBy(statuses, ({ commit }) => commit);
  const byCause = new Map(runs.map((run) => [run.startedBy, run]));
  let repeats = 0;
  for (const { by, commit } of starts) {
    const run = byCause.get(by);
    if (commit === null || run === undefined) continue;
    const say = (kind: Violation["kind"], text: string) =>
      found.push({ kind, text: `the statuses of ${commit} ${text}` });
    const ofCommit = byCommit.get(commit) ?? [];
    const due = ENDS[run.status];
    if (ofCommit.at(-1)?.state !== due) say("lost", `end with ${ofCommit.at(-1)?.state}, and the run is ${run.status}`);
    for (const name of new Set(ofCommit.map((status) => status.name))) {
      const states = ofCommit.filter((status) => status.name === name).map(({ state }) => state);
      for (const [at, state] of states.entries()) {
        const before = states[at - 1];
        if (before === undefined) continue;
        if (state === before) repeats++;
        // A worker that was frozen in the middle of a call sets an old state late, and the newest one is set again after it.
        else if (PLACES[state] < PLACES[before] && !hasZombies) say("reordered", `have ${state} after ${before}`);
        else if (PLACES[state] === PLACES[before]) say("wrong", `have two ends: ${before}, ${state}`);
      }
    }
  }
  if (repeats > kills) {
    const text = `the host was told ${repeats} states again, with ${kills} faults`;
    found.push({ kind: "doubled", text });
  }
  return found;
}

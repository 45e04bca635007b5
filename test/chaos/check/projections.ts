/**
 * Compares the projections with the snapshots: as the database held them, and after the store had loaded the run. A
 * difference that loading repairs is one that a look-up met before. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { ActorEvidence, ProjectionRow, RunEvidence, Violation } from "./evidence.ts";

/** The status that users see for each state, where the two words differ. */
const SHOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run: { stopping: "running" },
  job: { waiting: "pending", cancelling: "running", spread: "running" },
  step: { cancelling: "running" },
};
/** The states in which an agent holds the job or step. */
const HELD: Readonly<Record<string, readonly string[]>> = {
  job: ["running", "cancelling"],
  step: ["queued", "running", "cancelling"],
};

export function checkProjections({ runId, status, settled, owed, actors, rows }: RunEvidence): readonly Violation[] {
  const wrong = (text: string): Violation => ({ kind: "wrong", text: `run ${runId}: ${text}` });
  const found: Violation[] = [];
  const run = actors.find(({ kind }) => kind === "run");
  if (run === undefined) found.push({ kind: "lost", text: `run ${runId} has no actor of its own` });
  else if (shown(run) !== status) found.push(wrong(`its head says ${status}, its actor ${run.phase}`));
  if (settled && owed > 0) found.push(wrong(`it counts as settled and owes ${owed} effects`));
  const parts = actors.filter(({ kind }) => kind !== "run");
  for (const [when, list] of [
    ["before a load", rows.before],
    ["after a load", rows.after],
  ] as const) {
    const byId = new Map(list.map((row) => [row.id, row]));
    for (const actor of parts) {
      const row = byId.get(actor.id);
      const text = row === undefined ? "it has none" : difference(actor, row);
      if (text !== null) found.push(wrong(`the projection of ${actor.kind} ${actor.id} ${when}: ${text}`));
    }
    const known = new Set(parts.map(({ id }) => id));
    for (const { kind, id } of list)
      if (!known.has(id)) found.push(wrong(`a projection of ${kind} ${id} without actor`));
    if (list.length !== byId.size)
      found.push({ kind: "doubled", text: `run ${runId} has two projections of one actor` });
  }
  return found;
}

function difference(actor: ActorEvidence, row: ProjectionRow): string | null {
  const agentId = HELD[actor.kind]?.includes(actor.phase) === true ? actor.agentId : null;
  const pairs = [
    ["kind", actor.kind, row.kind],
    ["status", shown(actor), row.status],
    ["attempt", actor.attempt, row.attempt],
    ["agent", agentId, row.agentId],
  ] as const;
  const differing = pairs.find(([, snapshot, projection]) => snapshot !== projection);
  if (differing !== undefined) return `${differing[0]} ${differing[2]} instead of ${differing[1]}`;
  return isDeepStrictEqual(actor.state, row.state) ? null : "another state than the snapshot's";
}

function shown({ kind, phase }: ActorEvidence): string {
  return SHOWN[kind]?.[phase] ?? phase;
}

/**
 * The creator's grace. The edge that creates a run takes its first turn, stores the run, and then performs what that turn owes. For
 * `creatorMs` after the creation, the owner of the shard leaves those effects to the creator. After that time the owner looks for
 * what the creator has not performed, because the creator may have died, and performs only that.
 *
 * The creator saves nothing after it has performed the effects, since a second save would cost every run as much as its first one.
 * The board shows what the creator has done: an offer is on the board, or its job has left the queue since. So does the agent of
 * a job that was granted in the first turn: it has reported the step. So without a fault no offer is made twice, none is made after
 * its job was granted, and no step is dispatched again. An effect that leaves no such trace is performed again, and its target
 * ignores the repeat: a command and a timer by their ids, an event by its number.
 *
 * Three places use the grace: the load of an aggregate (what may the creator be performing?), each turn (is the grace over?), and the
 * sweep of the shard (shall an aggregate that owes something be woken?). Saves within the grace carry the creator's effects
 * on and mark them, so that another owner knows them too. Groups are created by their owner and have no grace. Pure.
 */
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { JobRunId, RootId, RunId, StepRunId } from "../../src/domain/ids.ts";
import { timeOf } from "../../src/domain/ids.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";

/** Effects that the creator of an aggregate performs or has performed, and until when the owner leaves them to it. */
export interface CreatorGrace {
  readonly owed: readonly OwedRecord[];
  /** Unix milliseconds. */
  readonly until: number;
}

export const NO_GRACE: CreatorGrace = { owed: [], until: 0 };

/**
 * The grace of an aggregate that was just loaded: what it owes, when nothing was saved since its creation; else the
 * first of the owed effects, as far as a save has marked them. See {@link endOfGrace}.
 */
export function graceOf(head: AggregateHead<RootId>, now: number, creatorMs: number): CreatorGrace {
  const isNew = head.version === 1;
  const others = isNew ? -1 : head.owed.findIndex(({ leftToCreator }) => leftToCreator !== true);
  const owed = others === -1 ? head.owed : head.owed.slice(0, others);
  if (owed.length === 0) return NO_GRACE;
  return { owed: owed.map(markAsLeft), until: endOfGrace(head.summary.createdAt, now, creatorMs) };
}

/**
 * When the grace of what was created at `createdAt` by its creator's clock ends. A clock that is further ahead than the grace is
 * long says nothing of when that was: such a grace is over.
 */
function endOfGrace(createdAt: number, now: number, creatorMs: number): number {
  return createdAt - now < creatorMs ? createdAt + creatorMs : 0;
}

function markAsLeft(record: OwedRecord): OwedRecord {
  if (record.leftToCreator === true) return record;
  // A member that is new behind a spread takes V8 of Node 20 some microseconds.
  const { effect, eventNumber, at } = record;
  return { effect, eventNumber, at, leftToCreator: true };
}

/**
 * What is left of the grace when the run has ended: a final run needs none of the creator's offers and timers. Its
 * first events may be missing from the store, and its first commands from the inboxes of its groups, because the
 * creator may have died before it stored them.
 */
export function graceOfFinal({ owed, until }: CreatorGrace): CreatorGrace {
  return { owed: owed.filter(({ effect: { type } }) => type === "publish" || type === "command"), until };
}

/**
 * `effects` behind those of the creator's commands that have to be performed before them: the commands to a target that
 * `effects` command too. A job that is cancelled within the grace leaves its group. If its enter came after that, the
 * job would hold a place indefinitely. The creator's own command is ignored then, by its id.
 */
export function afterCreator({ owed }: CreatorGrace, effects: readonly OwedRecord[]): readonly OwedRecord[] {
  const targets = new Set(effects.flatMap(({ effect }) => (effect.type === "command" ? [effect.to] : [])));
  return [...owed.filter(({ effect }) => effect.type === "command" && targets.has(effect.to)), ...effects];
}

/** True when there was a grace, and its time is over: the owner performs what the creator has not. */
export function isGraceOver(grace: CreatorGrace, now: number): boolean {
  return grace.owed.length > 0 && now >= grace.until;
}

/** The jobs that the effects offer and that still wait for an agent; `waits` tells that of a job. */
export function offeredJobs(owed: readonly OwedRecord[], waits: (jobId: JobRunId) => boolean): readonly JobRunId[] {
  return owed.flatMap(({ effect }) =>
    effect.type === "offer" && waits(effect.offer.jobId) ? [effect.offer.jobId] : [],
  );
}

/** The steps that the effects dispatch and whose agent has reported nothing. `outstanding`: the effects of a step. */
export function unheardSteps(
  owed: readonly OwedRecord[],
  outstanding: (stepRunId: StepRunId) => readonly OwedEffect[],
): ReadonlySet<StepRunId> {
  const steps = owed.flatMap(({ effect }) => (effect.type === "dispatch" ? [effect.order.stepRunId] : []));
  return new Set(steps.filter((stepRunId) => outstanding(stepRunId).some(({ type }) => type === "dispatch")));
}

/**
 * The effects that the owner has to perform after the grace. `missing`: the jobs of {@link offeredJobs} that have no
 * offer on the board; `unheard`: {@link unheardSteps}. Without one of both the creator was at work, so only commands are
 * left: they go to the store and leave no trace.
 */
export function leftByCreator(
  owed: readonly OwedRecord[],
  missing: ReadonlySet<JobRunId>,
  unheard: ReadonlySet<StepRunId>,
): readonly OwedRecord[] {
  const leavesTrace = owed.some(({ effect: { type } }) => type === "offer" || type === "dispatch");
  const hasTrace = leavesTrace && missing.size + unheard.size === 0;
  return owed.filter(({ effect }) => {
    if (effect.type === "offer") return missing.has(effect.offer.jobId);
    if (effect.type === "dispatch") return unheard.has(effect.order.stepRunId);
    return effect.type === "command" || !hasTrace;
  });
}

/** {@link graceOf} for a run that is not in memory, judged by the time in its id: true while its creator may be at work. */
export function isInGrace(runId: RunId, now: number, creatorMs: number): boolean {
  return now < endOfGrace(timeOf(runId), now, creatorMs);
}

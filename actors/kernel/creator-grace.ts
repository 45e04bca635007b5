/**
 * The creator's grace. The edge that creates a run takes its first turn, stores the run, and then performs what that turn owes. For
 * `creatorMs` after the creation, the owner of the shard leaves those effects to the creator, so that each is performed once when
 * nothing fails. After that time the owner performs what is still owed, because the creator may have died.
 *
 * Three places use the grace: the load of an aggregate (is it in its grace?), each turn (is the grace over?), and the sweep of the
 * shard (shall an aggregate that owes something be woken?). Saves within the grace carry the creator's effects on. Groups are
 * created by their owner and have no grace. The grace only saves work: an effect that is performed twice changes nothing. Pure.
 */
import { type RootId, type RunId, timeOf } from "../../src/domain/ids.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";

/** Effects that the creator of an aggregate is about to perform, and until when the owner leaves them to it. */
export interface CreatorGrace {
  readonly owed: readonly OwedRecord[];
  /** Unix milliseconds. */
  readonly until: number;
}

export const NO_GRACE: CreatorGrace = { owed: [], until: 0 };

/**
 * The grace of an aggregate that was just loaded: what it owes, when nothing was saved since its creation and `creatorMs` have not
 * passed; else {@link NO_GRACE}. A creation that lies in the future by this node's clock counts as now.
 */
export function graceOf(head: AggregateHead<RootId>, now: number, creatorMs: number): CreatorGrace {
  const until = Math.min(head.summary.createdAt, now) + creatorMs;
  return head.version === 1 && now < until ? { owed: head.owed, until } : NO_GRACE;
}

/** True when there was a grace, and its time is over: the owner performs what the creator has not. */
export function isGraceOver(grace: CreatorGrace, now: number): boolean {
  return grace.owed.length > 0 && now >= grace.until;
}

/** {@link graceOf} for a run that is not in memory, judged by the time in its id: true while its creator may be at work. */
export function isInGrace(runId: RunId, now: number, creatorMs: number): boolean {
  const ageMs = now - timeOf(runId);
  return ageMs >= 0 && ageMs < creatorMs;
}

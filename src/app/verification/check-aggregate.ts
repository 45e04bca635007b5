/** Checks one stored aggregate against itself: snapshot, copies for queries, look-ups and event numbers. Pure. */
import { type AggregateType, kindOf } from "../../../actors/kernel/actor-kind.ts";
import { attemptsBefore } from "../../../actors/run/ended-attempts.ts";
import { isBound, type JobState, jobStatus } from "../../../actors/job/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { jobRunId, type RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { isActiveStepStatus, isFinalJobStatus } from "../../domain/status.ts";
import { NO_PIPELINE } from "../../stores/ports/aggregates.ts";
import type { InspectedAggregate } from "../../stores/ports/inspection.ts";
import type { Difference, DifferenceKind } from "./difference.ts";

/** Kinds of actors that have rows of their own. */
const WITH_ROWS: readonly string[] = ["job", "step", "approval"];

export interface AggregateFacts {
  readonly type: AggregateType;
  /** Undefined when none is stored, and for a group. */
  readonly plan: RunPlan | undefined;
  /** The shard that the id of the root belongs to. */
  readonly shard: number;
}

/** Every difference within the aggregate. The order of the differences is always the same. */
export function checkAggregate(found: InspectedAggregate, facts: AggregateFacts): readonly Difference[] {
  const { rootId } = found.head;
  const differences: Difference[] = [];
  const say = (kind: DifferenceKind, text: string, object: string = rootId): void => {
    differences.push({ kind, object, text });
  };
  if (found.head.shard !== facts.shard)
    say("shard", `is stored in shard ${found.head.shard}, and its id belongs to shard ${facts.shard}`);
  const root = found.actors.find(({ id }) => id === rootId);
  if (root === undefined) {
    say("snapshot", `has a head and ${found.actors.length} actors, but not its own`);
    return differences;
  }
  if (facts.type.isPlanned && facts.plan === undefined) {
    say("snapshot", "has no stored plan");
    return differences;
  }
  const plan = facts.plan ?? ({} as RunPlan);
  checkHead(found, root.state, plan, facts.type, say);
  checkActors(found, facts.type, say);
  if (facts.type.isPlanned) checkRun(found, plan, say);
  checkRows(found, say);
  return differences;
}

type Say = (kind: DifferenceKind, text: string, object?: string) => void;

function checkHead(
  { head, owes, actors }: InspectedAggregate,
  root: unknown,
  plan: RunPlan,
  type: AggregateType,
  say: Say,
): void {
  const isFinal = type.isFinal(root as never);
  if (head.final !== isFinal) say("snapshot", `is stored as ${head.final ? "final" : "live"}, and its actor is not`);
  if (head.settled && !head.final) say("snapshot", "is stored as settled, and is not final");
  if (head.settled && head.owed.length > 0) say("owed", `is settled and owes ${head.owed.length} effects`);
  if (owes !== head.owed.length > 0) {
    say("look-up", `is stored as owing ${owes ? "effects" : "nothing"}, and owes ${head.owed.length}`);
  }
  for (const { effect, eventNumber } of head.owed) {
    if (effect.type === "publish" && (eventNumber === null || eventNumber > head.eventNumber))
      say("events", `owes event ${eventNumber}, and has published ${head.eventNumber}`);
  }
  const kinds = actors.map((actor) => ({ actor, kind: kindOf(type, actor.kind) }));
  const dueAt = kinds.flatMap(({ actor, kind }) =>
    kind.timers(actor.state as never).flatMap(([, timer]) => timer?.dueAt ?? []),
  );
  const nextDueAt = dueAt.length === 0 ? null : dueAt.reduce((a, b) => Math.min(a, b));
  if (head.nextDueAt !== nextDueAt)
    say("look-up", `has its next timer at ${nextDueAt}, and ${head.nextDueAt} is stored for the sweeps`);
  const bound = kinds.some(({ actor, kind }) => kind.heldBy(actor.state as never) !== null);
  if (head.summary.bound !== bound)
    say("look-up", `is stored as ${head.summary.bound ? "bound" : "not bound"} to agents`);
  if (head.summary.pipelineId === NO_PIPELINE) return;
  const { status, startedAt, endedAt, createdAt } = type.summarise(root as never, bound, actors, plan);
  for (const [name, expected] of Object.entries({ status, startedAt, endedAt, createdAt })) {
    const stored = head.summary[name as "status"];
    if (stored !== expected) say("look-up", `has ${name} ${String(expected)}, and lists show ${String(stored)}`);
  }
}

function checkActors({ actors }: InspectedAggregate, type: AggregateType, say: Say): void {
  for (const { kind, id, state, index } of actors) {
    const expected = kindOf(type, kind).index(state as never);
    for (const field of ["position", "jobId", "status", "attempt", "agentId"] as const) {
      if (index[field] !== expected[field])
        say("look-up", `has ${field} ${expected[field]}, and ${index[field]} is stored for queries`, id);
    }
  }
}

/** The jobs and steps of a run are those of its plan, and end before the run. */
function checkRun({ head, actors, apart }: InspectedAggregate, plan: RunPlan, say: Say): void {
  const jobs = actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const jobIds = new Set<string>(jobs.map(({ jobId }) => jobId));
  for (const { index, name } of plan.jobs) {
    if (!jobIds.has(jobRunId(head.rootId as RunId, index, 1)))
      say("snapshot", `has no job ${JSON.stringify(name)}, which is job ${index} of its plan`);
  }
  const byId = new Map(actors.map((actor) => [actor.id, actor]));
  const followed = new Set(attemptsBefore(actors, (id) => byId.get(id)?.state, plan));
  for (const id of apart) {
    if (!followed.has(id)) say("snapshot", "is stored apart from its run as an ended attempt, and is none", id);
  }
  const ended = new Set<string>();
  for (const job of jobs) {
    if (isFinalJobStatus(jobStatus(job.state))) ended.add(job.jobId);
    else if (head.final) say("snapshot", `is ${job.state}, and its run has ended`, job.jobId);
    if (job.grant !== null && job.reusedFrom === null && job.grant.token > job.fence)
      say("snapshot", `has token ${job.grant.token} above its newest, ${job.fence}`, job.jobId);
    if (isBound(job) && job.grant === null) say("snapshot", "runs without a grant", job.jobId);
  }
  for (const { kind, id, state } of actors) {
    if (kind !== "step") continue;
    const step = state as StepState;
    if (!jobIds.has(step.jobId)) say("snapshot", `is a step of job ${step.jobId}, which its run does not have`, id);
    else if (ended.has(step.jobId) && isActiveStepStatus(stepStatus(step.state)))
      say("snapshot", `is ${step.state}, and its job has ended`, id);
  }
}

function checkRows({ head, actors, rows }: InspectedAggregate, say: Say): void {
  const byId = new Map(rows.map((row) => [row.actor.id, row]));
  for (const actor of actors) {
    if (!WITH_ROWS.includes(actor.kind)) continue;
    const row = byId.get(actor.id);
    if (row === undefined) {
      say("look-up", `cannot be found: its row is missing`, actor.id);
      continue;
    }
    if (row.rootId !== head.rootId) say("look-up", `its row names ${row.rootId}, not ${head.rootId}`, actor.id);
    if (row.shard !== head.shard) say("look-up", `its row is in shard ${row.shard}, not ${head.shard}`, actor.id);
    if (row.version > head.version)
      say("look-up", `its row is of version ${row.version}, and the snapshot of ${head.version}`, actor.id);
    if (!isSame(row.actor.index, actor.index))
      say("look-up", `its row has ${textOf(row.actor.index)}, and the snapshot ${textOf(actor.index)}`, actor.id);
    else if (!isSame(row.actor.state, actor.state))
      say("look-up", "the state in its row is not that of the snapshot", actor.id);
  }
}

/** Compares event numbers page by page, so that a run of any length costs one page of memory. */
export class EventCheck {
  readonly #rootId: string;
  readonly #last: number;
  /** Numbers of events that the snapshot owes: their owner stores them when it loads the run. */
  readonly #owed: ReadonlySet<number>;
  readonly #differences: Difference[] = [];
  #next = 1;

  constructor({ head }: Pick<InspectedAggregate, "head">) {
    this.#rootId = head.rootId;
    this.#last = head.eventNumber;
    this.#owed = new Set(head.owed.flatMap(({ eventNumber }) => eventNumber ?? []));
  }

  /** The next stored numbers, ascending. */
  add(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#missUpTo(number);
      if (number < this.#next) this.#say(`event ${number} is stored twice`);
      if (number > this.#last) this.#say(`event ${number} is stored, and the run has published ${this.#last}`);
      this.#next = Math.max(this.#next, number + 1);
    }
  }

  end(): readonly Difference[] {
    this.#missUpTo(this.#last + 1);
    return this.#differences;
  }

  #missUpTo(number: number): void {
    for (; this.#next < Math.min(number, this.#last + 1); this.#next++) {
      if (!this.#owed.has(this.#next)) this.#say(`event ${this.#next} is missing`);
    }
  }

  #say(text: string): void {
    if (this.#differences.length < 100) this.#differences.push({ kind: "events", object: this.#rootId, text });
  }
}

function textOf({ status, agentId }: { readonly status: string; readonly agentId: string | null }): string {
  return `${status}${agentId === null ? "" : ` on ${agentId}`}`;
}

/** Compares JSON values; a key whose value is undefined counts as absent. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) {
    if (!isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false;
  }
  return true;
}

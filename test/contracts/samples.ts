/** Sample aggregates and log lines for the contract suites. */
import { approvalActor } from "../../actors/approval/actor.ts";
import { type ApprovalGate, type ApprovalState, newApproval } from "../../actors/approval/state.ts";
import { createRunAggregate } from "../../actors/run/create.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, AggregateHead, AggregateSave, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { MANUAL_ORIGIN, planOf } from "../support/plans.ts";

export interface SampleOptions {
  readonly shard?: number;
  readonly now?: number;
  readonly plan?: RunPlan;
  readonly pipelineId?: PipelineId;
  readonly variables?: Pairs<string>;
}

export function sampleAggregate(options: SampleOptions = {}): Aggregate {
  const { shard = 0, now = 1_000, plan = planOf([[{ steps: 2 }]]), variables = [] } = options;
  const pipelineId = options.pipelineId ?? plan.pipelineId;
  return createRunAggregate({
    runId: newId("run"),
    shard,
    plan: { ...plan, pipelineId },
    now,
    origin: { ...MANUAL_ORIGIN, variables },
  });
}

/** A run that has ended, and whose job has deployed to `production`. */
export function deployedRun({ projectId, pipelineId }: Pick<RunPlan, "projectId" | "pipelineId">): Aggregate {
  // Retention removes old runs.
  const now = Date.now();
  const { head, actors } = sampleAggregate({ plan: { ...planOf([[{}]]), projectId }, pipelineId, now });
  const deployment = { projectId, pipelineId, environment: "production", job: "one", startedAt: now };
  const ended = actors.map((actor) => {
    if (actor.kind !== "job") return actor;
    return withIndex(actor, { status: "success", deployment }, { ...(actor.state as object), deployment });
  });
  const summary = { ...head.summary, status: "success" } as const;
  return { head: { ...head, final: true, settled: true, nextDueAt: null, summary }, actors: ended };
}

/** An approval of the run, as the owner of the shard stores it. */
export function sampleApproval(
  { head: { rootId, summary } }: Pick<Aggregate, "head">,
  gate: ApprovalGate,
  requestedAt: number,
  overrides: Partial<ApprovalState> = {},
): StoredActor {
  const asked = newApproval({ runId: rootId, gate, message: "", timeoutMs: 1_000 }, requestedAt, summary);
  const state = { ...asked, ...overrides };
  return { kind: "approval", id: state.approvalId, state, index: approvalActor.index(state) };
}

/** A save of the next version of `aggregate`, with the given fields changed in its head. */
export function saveOf(
  { head }: Pick<Aggregate, "head">,
  overrides: Partial<AggregateHead> = {},
  changed: readonly StoredActor[] = [],
): AggregateSave {
  const next = { ...head, version: head.version + 1, ...overrides };
  return { expectedVersion: head.version, head: next, changed, events: [] };
}

export function withIndex(actor: StoredActor, index: Partial<StoredActor["index"]>, state?: unknown): StoredActor {
  return { ...actor, state: state ?? actor.state, index: { ...actor.index, ...index } };
}

export function actorOf(aggregate: Aggregate, kind: StoredActor["kind"], position = 0): StoredActor {
  return aggregate.actors.find((actor) => actor.kind === kind && actor.index.position === position)!;
}

export function lines(from: number, to: number): readonly LogLine[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({
    line: from + at,
    timeMs: 1_000,
    stream: "stdout",
    level: "",
    content: `line ${from + at}`,
    lost: 0,
  }));
}

export function gap(from: number, to: number): LogLine {
  return { line: from, timeMs: 1_000, stream: "stdout", level: "warn", content: "", lost: to - from + 1 };
}

/** All entries of a pager, page after page. */
export async function allPages<T extends string>(
  next: (after: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await next(all.at(-1) ?? "");
    if (page.length === 0) return all;
    all.push(...page);
  }
}

export const byText = (ids: Iterable<string>): readonly string[] => [...ids].toSorted();

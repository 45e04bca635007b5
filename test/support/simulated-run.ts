/**
 * A run aggregate without a kernel: it decides one message at a time and keeps the effects; the test sets its clock.
 */
import { createRunAggregate } from "../../actors/run/create.ts";
import { chooseRerun, type RerunRefusal, type RerunScope } from "../../actors/run/rerun.ts";
import { beginAgain } from "../../actors/run/reuse.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import type { JobMessage } from "../../actors/job/messages.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { ApprovalGate, ApprovalState } from "../../actors/approval/state.ts";
import type { RunMessage } from "../../actors/run/messages.ts";
import type { RunState } from "../../actors/run/state.ts";
import type { StepMessage, StepReported } from "../../actors/step/messages.ts";
import type { StepState } from "../../actors/step/state.ts";
import { decideTurn, type LiveActor, type TurnResult } from "../../actors/kernel/turn.ts";
import type { OwedEffect } from "../../src/domain/effects.ts";
import { memberKey } from "../../src/domain/groups.ts";
import {
  type AgentId,
  approvalId,
  asId,
  type CommandId,
  type JobRunId,
  jobRunId,
  type RunId,
  type StepRunId,
  stepRunId,
  timeOf,
} from "../../src/domain/ids.ts";
import type { OutputsReader } from "../../src/domain/outputs.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";

export const RUN_ID = asId<RunId>("run_01JD0000000000000000000000");
export const AGENT = asId<AgentId>("agt_A");
export const OTHER_AGENT = asId<AgentId>("agt_B");

/** A run that has ended, and the part of it that a rerun repeats. */
interface Repetition {
  readonly of: SimulatedRun;
  readonly scope: RerunScope;
}

export class SimulatedRun {
  readonly runId: RunId;
  readonly plan: RunPlan;
  readonly attempt: number;
  readonly actors = new Map<string, LiveActor>();
  /** Every effect since the start. */
  readonly effects: OwedEffect[] = [];
  readonly undecided: string[] = [];
  /** Outputs of steps, by step run. */
  readonly outputs = new Map<string, Pairs<string>>();
  readonly readOutputs: OutputsReader = ({ stepRunId: id }) => this.outputs.get(id) ?? [];
  /** The run is planned 7 ms after its trigger. */
  now = timeOf(RUN_ID) + 7;
  /** Keys of the run's group members that have asked for a place. */
  readonly asked = new Set<string>();
  /** True once the run has had a place in its group. */
  placed = false;
  last: TurnResult | undefined;

  /** Throws {@link RefusedRerun} when the run cannot be run again with that scope. */
  constructor(plan: RunPlan, repetition?: Repetition) {
    this.plan = plan;
    this.attempt = repetition === undefined ? 1 : repetition.of.attempt + 1;
    this.runId = asId<RunId>(`${RUN_ID.slice(0, -1)}${this.attempt - 1}`);
    const origin = {
      trigger: { kind: "manual" as const, ref: "" },
      variables: [],
      triggeredBy: "test",
      actor: "test",
      revisionId: "rev_TEST",
      commitSha: "",
      attempt: this.attempt,
      retryOf: repetition?.of.runId ?? null,
      firstRunId: repetition === undefined ? null : RUN_ID,
    };
    const beginning = repetition && this.#beginning(repetition);
    const { actors } = createRunAggregate({
      runId: this.runId,
      shard: 0,
      plan,
      origin,
      now: this.now,
      ...(beginning && { beginning }),
    });
    for (const { kind, id, state } of actors) this.actors.set(id, { kind, id, state });
  }

  /** A rerun of this run. */
  again(scope: RerunScope): SimulatedRun {
    return new SimulatedRun(this.plan, { of: this, scope });
  }

  #beginning({ of, scope }: Repetition): ReturnType<typeof beginAgain> {
    for (const [id, values] of of.outputs) this.outputs.set(id, values);
    this.now = of.now + 1_000;
    const ended = { runId: of.runId, plan: of.plan, state: (id: string) => of.actors.get(id)?.state };
    const rerun = chooseRerun(ended, this.plan, scope);
    if (typeof rerun === "string") throw new RefusedRerun(rerun);
    return beginAgain(this.runId, this.plan, ended, rerun);
  }

  get run(): RunState {
    return this.actors.get(this.runId)!.state as RunState;
  }

  job(index: number, attempt = 1): JobState {
    return this.actors.get(jobRunId(this.runId, index, attempt))!.state as JobState;
  }

  step(jobIndex: number, index: number, jobAttempt = 1): StepState {
    return this.actors.get(this.stepId(jobIndex, index, jobAttempt))!.state as StepState;
  }

  stepId(jobIndex: number, index: number, jobAttempt = 1): StepRunId {
    return stepRunId(this.runId, jobRunId(this.runId, jobIndex, jobAttempt), index, 1);
  }

  start(): this {
    this.tellRun({ type: "timer", timer: "start", generation: 0 });
    return this;
  }

  tellRun(message: RunMessage): readonly OwedEffect[] {
    return this.tell("run", this.runId, message);
  }

  command(type: "stop" | "pause" | "resume", id: string = type): readonly OwedEffect[] {
    return this.tellRun({ type, commandId: asId<CommandId>(id), reason: "", operator: "test" });
  }

  tellJob(index: number, message: JobMessage, attempt = 1): readonly OwedEffect[] {
    return this.tell("job", jobRunId(this.runId, index, attempt), message);
  }

  tellStep(jobIndex: number, index: number, message: StepMessage, jobAttempt = 1): readonly OwedEffect[] {
    return this.tell("step", this.stepId(jobIndex, index, jobAttempt), message);
  }

  claim(index: number, attempt = 1, agentId = AGENT, requestId = `claim-${index}-${attempt}`): readonly OwedEffect[] {
    return this.tellJob(index, { type: "claimRequested", agentId, bootId: "boot-1", requestId }, attempt);
  }

  /** A report of the agent that holds the step, with the token of its grant. */
  report(
    jobIndex: number,
    index: number,
    phase: StepReported["phase"],
    overrides: Partial<StepReported> & { jobAttempt?: number } = {},
  ): readonly OwedEffect[] {
    const { jobAttempt = 1, ...rest } = overrides;
    const grant = this.step(jobIndex, index, jobAttempt).grant;
    return this.tellStep(
      jobIndex,
      index,
      {
        type: "reported",
        agentId: grant?.agentId ?? AGENT,
        token: grant?.token ?? 1,
        phase,
        exitCode: phase === "succeeded" ? 0 : phase === "failed" ? 1 : -1,
        reason: "",
        hasOutputs: false,
        lastLine: 0,
        durationMs: phase === "started" ? 0 : 5,
        usage: null,
        ...rest,
      },
      jobAttempt,
    );
  }

  /** Claims a job and reports success for each of its steps. */
  runJob(index: number, attempt = 1): this {
    this.claim(index, attempt);
    this.plan.jobs[index]!.steps.forEach((_, step) => this.report(index, step, "succeeded", { jobAttempt: attempt }));
    return this;
  }

  tell(kind: string, id: string, message: unknown): readonly OwedEffect[] {
    const result = decideTurn(
      this.actors,
      [{ to: { kind, id }, message }],
      this.now,
      this.plan,
      RUN_AGGREGATE,
      this.readOutputs,
    );
    for (const actor of result.changed.values()) this.actors.set(actor.id, actor);
    this.effects.push(...result.effects);
    for (const effect of result.effects) {
      if (effect.type === "command" && effect.body.kind === "enter") this.asked.add(memberKey(effect.body.member));
    }
    this.undecided.push(...result.undecided.map(({ reason }) => reason));
    this.last = result;
    this.placed ||= this.run.place?.held === true;
    return result.effects;
  }

  /** All job runs, first attempts first. */
  jobs(): readonly JobState[] {
    return this.#statesOf<JobState>("job");
  }

  steps(): readonly StepState[] {
    return this.#statesOf<StepState>("step");
  }

  approvals(): readonly ApprovalState[] {
    return this.#statesOf<ApprovalState>("approval");
  }

  approvalOf(gate: ApprovalGate): ApprovalState | undefined {
    return this.actors.get(approvalId(this.runId, gate))?.state as ApprovalState | undefined;
  }

  /** Published events in order, such as `step.started`. */
  events(): readonly string[] {
    return this.effects.flatMap((effect) =>
      effect.type === "publish" ? [`${effect.event.object}.${effect.event.lifecycle}`] : [],
    );
  }

  #statesOf<State>(kind: string): readonly State[] {
    return [...this.actors.values()].filter((actor) => actor.kind === kind).map(({ state }) => state as State);
  }
}

export class RefusedRerun extends Error {
  readonly refusal: RerunRefusal;

  constructor(refusal: RerunRefusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

/** The types of effects, for short assertions. */
export function typesOf(effects: readonly OwedEffect[]): readonly string[] {
  return effects.map(({ type }) => type);
}

export function jobIdOf(index: number, attempt = 1): JobRunId {
  return jobRunId(RUN_ID, index, attempt);
}

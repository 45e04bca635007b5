/**
 * Whole runs at the limits of a definition, without a store: each turn does all that the kernel computes for one
 * (decisions, index, head, stored form), and nothing that waits.
 */
import type { JobState } from "../../actors/job/state.ts";
import { isHeld, type StepState } from "../../actors/step/state.ts";
import { EndedActors } from "../../actors/kernel/ended-actors.ts";
import { takeFirstTurn } from "../../actors/kernel/first-turn.ts";
import { afterTurn, dueTimers, headAfter, LiveIndex, toStored } from "../../actors/kernel/head.ts";
import { type ActorMessage, decideTurn, type LiveActor } from "../../actors/kernel/turn.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../actors/run/create.ts";
import type { RunState } from "../../actors/run/state.ts";
import type { ReportPhase } from "../../actors/step/messages.ts";
import { asId, type CommandId, type RunId, type UserId } from "../../src/domain/ids.ts";
import type { OutputsReader } from "../../src/domain/outputs.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, AggregateHead, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { MANUAL_ORIGIN } from "./plans.ts";
import { AGENT, RUN_ID } from "./simulated-run.ts";

/** Messages that the kernel decides in one turn at most (activation.ts). */
const BATCH = 1_000;
const NOW = 1_800_000_000_000;

/** How a turn is measured: calls it, and keeps what it cost. */
export type Meter = <T>(what: string, turn: () => T) => T;

export class LargeRun {
  readonly plan: RunPlan;
  readonly runId: RunId;
  readonly undecided: string[] = [];
  readonly #meter: Meter;
  readonly #outputs: OutputsReader;
  #head: AggregateHead;
  readonly #index: LiveIndex;
  #actors: Map<string, LiveActor>;
  readonly #ended: EndedActors;
  #now = NOW;
  /** Called after each turn, with what the turn stores; `ended` are the actors that leave the snapshot with it. */
  onSaved: (head: AggregateHead, changed: readonly StoredActor[], ended: readonly StoredActor[]) => void = () => {};

  /** Takes the first turn, as the edge does at the trigger. */
  constructor(plan: RunPlan, meter: Meter = (_, turn) => turn(), outputs: OutputsReader = () => [], id = RUN_ID) {
    this.plan = plan;
    this.runId = id;
    this.#meter = meter;
    this.#outputs = outputs;
    const { runId } = this;
    const { head, actors } = meter("trigger", () =>
      takeFirstTurn(
        createRunAggregate({ runId, shard: 0, plan, origin: MANUAL_ORIGIN, now: this.#now }),
        plan,
        this.#now,
        RUN_AGGREGATE,
        outputs,
      ),
    );
    this.#head = head;
    this.#actors = new Map(actors.map(({ kind, id, state }): [string, LiveActor] => [id, { kind, id, state }]));
    this.#index = new LiveIndex(RUN_AGGREGATE, this.#actors.values());
    this.#ended = new EndedActors(RUN_AGGREGATE, plan);
  }

  get run(): RunState {
    return this.#actors.get(this.runId)!.state as RunState;
  }

  get snapshot(): Aggregate {
    return { head: this.#head, actors: toStored(this.#actors.values(), RUN_AGGREGATE) };
  }

  actors(kind?: LiveActor["kind"]): readonly LiveActor[] {
    return [...this.#actors.values()].filter((actor) => kind === undefined || actor.kind === kind);
  }

  jobs(state?: JobState["state"]): readonly JobState[] {
    const jobs = [...this.#actors.values()].filter(({ kind }) => kind === "job").map((job) => job.state as JobState);
    return state === undefined ? jobs : jobs.filter((job) => job.state === state);
  }

  heldSteps(): readonly StepState[] {
    const steps = [...this.#actors.values()].filter(({ kind }) => kind === "step");
    return steps.map((step) => step.state as StepState).filter(isHeld);
  }

  /** An agent claims each of these jobs. */
  claim(jobs: readonly JobState[], what = "claims"): void {
    this.#batches(
      what,
      jobs.map(({ jobId }) => ({
        to: { kind: "job", id: jobId },
        message: { type: "claimRequested", agentId: AGENT, bootId: "boot-1", requestId: `claim-${jobId}` },
      })),
    );
  }

  /** The agent reports the end of each of these steps. */
  report(steps: readonly StepState[], phase: ReportPhase, what = `reports ${phase}`, reason = ""): void {
    this.#batches(
      what,
      steps.map(({ stepRunId, grant }) => ({
        to: { kind: "step", id: stepRunId },
        message: {
          type: "reported",
          agentId: AGENT,
          token: grant!.token,
          phase,
          exitCode: phase === "succeeded" ? 0 : phase === "failed" ? 1 : -1,
          reason,
          hasOutputs: false,
          lastLine: 1,
          durationMs: 5,
          usage: null,
        },
      })),
    );
  }

  /** A user approves whatever waits for an approval. */
  approveAll(): void {
    const voter = { userId: asId<UserId>("usr_TEST"), name: "test" };
    const message = { type: "approve", commandId: asId<CommandId>("approve"), voter, comment: "yes" };
    this.#batches(
      "approvals",
      this.actors("approval").map(({ id }) => ({ to: { kind: "approval", id }, message })),
    );
  }

  /** All that these jobs run on is lost. */
  loseAgents(jobs: readonly JobState[]): void {
    const message = { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "agent_lost" };
    this.#batches(
      "agents lost",
      jobs.map(({ jobId }) => ({ to: { kind: "job", id: jobId }, message })),
    );
  }

  /** Lets so many milliseconds pass, and all timers that are due then fire. */
  pass(ms: number): void {
    this.#now += ms;
    for (;;) {
      const due = dueTimers(this.#actors.values(), this.#now, RUN_AGGREGATE);
      if (due.length === 0) return;
      this.#turn("timers", due);
    }
  }

  command(type: "stop" | "pause" | "resume"): void {
    const message = { type, commandId: asId<CommandId>(type), reason: "", operator: "test" };
    this.#turn(type, [{ to: { kind: "run", id: this.runId }, message }]);
  }

  /** Lets agents run everything to its end; each job's steps end as `phaseOf` says. */
  finish(phaseOf: (step: StepState) => ReportPhase = () => "succeeded"): void {
    for (;;) {
      const queued = this.jobs("queued");
      const held = this.heldSteps();
      if (queued.length === 0 && held.length === 0) return;
      this.claim(queued);
      const running = this.heldSteps();
      for (const phase of new Set(running.map(phaseOf))) {
        this.report(
          running.filter((step) => phaseOf(step) === phase),
          phase,
        );
      }
    }
  }

  /** Answers how many of the messages it has decided. */
  #turn(what: string, messages: readonly ActorMessage[]): number {
    const { taken, stored, ended } = this.#meter(what, () => {
      const result = decideTurn(this.#actors, messages, this.#now, this.plan, RUN_AGGREGATE, this.#outputs);
      this.undecided.push(...result.undecided.map(({ reason }) => reason));
      const stored = toStored(result.changed.values(), RUN_AGGREGATE);
      const facts = this.#index.after(result.changed);
      const root = (result.changed.get(this.runId) ?? this.#actors.get(this.runId))!.state;
      const actors = afterTurn(this.#actors, result.changed);
      const after = { root, facts, carried: [], actors, plan: this.plan };
      this.#head = headAfter(this.#head, result, after, this.#now, RUN_AGGREGATE);
      const left = this.#ended.leaving(this.#actors, [...result.changed.values()]);
      const made = [...result.changed.values()].filter(({ id }) => !this.#actors.has(id));
      for (const actor of result.changed.values()) this.#actors.set(actor.id, actor);
      this.#ended.saved(left, made, this.#actors);
      this.#index.update(result.changed.values());
      return { ...result, stored, ended: toStored(left, RUN_AGGREGATE) };
    });
    this.onSaved(this.#head, stored, ended);
    return taken;
  }

  #batches(what: string, messages: readonly ActorMessage[]): void {
    for (let at = 0; at < messages.length;) at += this.#turn(what, messages.slice(at, at + BATCH));
  }
}

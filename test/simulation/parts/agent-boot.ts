/** One process of a simulated agent, from its start to its end: the steps that it runs, by the rules of the protocol. */
import type { ReportPhase } from "../../../actors/step/messages.ts";
import type { AgentId, JobRunId, StepRunId } from "../../../src/domain/ids.ts";
import type { AgentMessage } from "../../../src/gateway/agent-message.ts";
import type { AgentHoldings } from "../../../src/gateway/reconciliation.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import type { Executions } from "../judge/executions.ts";
import { workOf } from "../load/work.ts";
import type { Journal, JournalEntry } from "./agent-journal.ts";
import { StepProcess } from "./step-process.ts";

type Dispatched = Extract<AgentMessage, { readonly type: "dispatch" }>["dispatch"];

/** A guard outside of the process kills the steps of a frozen agent this long after the end of their lease. */
const GUARD_DELAY_MS = 500;
/** A step that is asked to end does so within this time. */
const ENDING_MS = 400;

interface RunningStep {
  readonly entry: JournalEntry;
  readonly process: StepProcess;
  readonly leaseMs: number;
}

export interface AgentBootOptions {
  readonly world: World;
  readonly executions: Executions;
  readonly agentId: AgentId;
  readonly journal: Journal;
  readonly process: Process;
  /** Sends a report, when the agent is connected. */
  readonly report: (entry: JournalEntry, phase: ReportPhase, exitCode: number) => void;
  /** Probability that a step cannot be started. */
  readonly unable: number;
}

export class AgentBoot {
  readonly #options: AgentBootOptions;
  readonly #running = new Map<string, RunningStep>();
  readonly #jobs = new Set<JobRunId>();
  readonly #released = new Set<JobRunId>();
  readonly #revoked = new Set<string>();
  /** When the newest acknowledged hello or heartbeat was sent. */
  #contactAt = Number.NEGATIVE_INFINITY;

  /** The steps of the process before this one are gone with it. */
  constructor(options: AgentBootOptions) {
    this.#options = options;
    for (const entry of options.journal.held()) if (entry.state === "running") this.#end(entry, "lost", -1);
    options.process.onDeath.push(() => {
      for (const { process } of this.#running.values()) process.kill();
      this.#running.clear();
    });
  }

  get holdings(): AgentHoldings {
    const steps = this.#options.journal.held().map(({ stepRunId, token }) => ({ stepRunId, token }));
    return { steps, jobIds: [...this.#jobs], takesNoJobs: "" };
  }

  /** A hello or heartbeat that was sent at `sentAt` is acknowledged. */
  renew(sentAt: number): void {
    for (const step of this.#running.values()) this.#checkLease(step);
    this.#contactAt = Math.max(this.#contactAt, sentAt);
  }

  /** Reports again every end that is not acknowledged. */
  reportEnds(): void {
    for (const entry of this.#options.journal.unacknowledged()) this.#reportEnd(entry);
  }

  receive(message: AgentMessage): void {
    switch (message.type) {
      case "dispatch":
        return this.#dispatch(message.dispatch);
      case "revoke":
        return this.#revoke(message.stepRunId, message.token);
      case "acknowledge":
        return this.#settle(message.stepRunId, message.token);
      case "refuse":
        return this.#settle(message.stepRunId, message.token);
      case "release":
        this.#released.add(message.jobId);
        this.#jobs.delete(message.jobId);
        for (const { stepRunId, token } of this.#options.journal.ofJob(message.jobId)) this.#settle(stepRunId, token);
        return;
      case "welcome":
      case "heartbeatAck":
    }
  }

  #dispatch(dispatch: Dispatched): void {
    const { journal, world, report } = this.#options;
    const { stepRunId, jobId, token, leaseMs } = dispatch;
    const known = journal.find(stepRunId, token);
    if (known !== undefined) {
      if (known.state === "running") report(known, "started", -1);
      else if (known.state === "ended") this.#reportEnd(known);
      return;
    }
    if (this.#contactAt + leaseMs <= world.now) return;
    const entry: JournalEntry = { stepRunId, jobId, token, state: "running", end: null };
    journal.add(entry);
    if (this.#released.has(jobId)) return this.#end(entry, "lost", -1);
    this.#jobs.add(jobId);
    if (this.#revoked.has(keyOf(entry))) return this.#end(entry, "cancelled", -1);
    if (world.draws.chance(this.#options.unable)) return this.#end(entry, "notStarted", -1);
    this.#start(entry, dispatch);
  }

  #start(entry: JournalEntry, { argsJson, stepIndex, leaseMs, timeoutMs }: Dispatched): void {
    const { world, executions, process, report } = this.#options;
    const { script } = JSON.parse(argsJson) as { readonly script: string };
    const { stepRunId, jobId } = entry;
    const { workMs, exitCode } = workOf(script, executions.countStart(jobId, stepIndex));
    const isOver = timeoutMs > 0 && workMs > timeoutMs;
    const step: RunningStep = {
      entry,
      leaseMs,
      process: new StepProcess({
        world,
        executions,
        stepRunId,
        jobId,
        workMs: isOver ? timeoutMs : workMs,
        onEnd: () => {
          process.enter(() => {
            if (isOver) this.#end(entry, "timedOut", -1);
            else this.#end(entry, exitCode === 0 ? "succeeded" : "failed", exitCode);
          });
        },
      }),
    };
    this.#running.set(keyOf(entry), step);
    this.#guard(step);
    report(entry, "started", -1);
  }

  /** Kills the step when its lease runs out, also while the agent is frozen. */
  #guard(step: RunningStep): void {
    const { world, process } = this.#options;
    const leftMs = this.#contactAt + step.leaseMs - world.now;
    world.scheduler.after(Math.max(0, leftMs), () => {
      if (!step.process.isRunning) return;
      if (this.#contactAt + step.leaseMs > world.now) return this.#guard(step);
      if (!process.isFrozen) return this.#checkLease(step);
      world.scheduler.after(GUARD_DELAY_MS, () => {
        if (this.#contactAt + step.leaseMs > world.now) return this.#guard(step);
        step.process.kill();
        process.enter(() => this.#end(step.entry, "lost", -1));
      });
    });
  }

  #checkLease(step: RunningStep): void {
    if (this.#contactAt + step.leaseMs > this.#options.world.now) return;
    step.process.kill();
    this.#end(step.entry, "lost", -1);
  }

  #revoke(stepRunId: StepRunId, token: number): void {
    const { journal, process, world } = this.#options;
    const entry = journal.find(stepRunId, token);
    if (entry === undefined) {
      this.#revoked.add(`${stepRunId}/${token}`);
      return;
    }
    if (entry.state === "ended") return this.#reportEnd(entry);
    process.after(world.draws.fraction() * ENDING_MS, () => {
      const step = this.#running.get(keyOf(entry));
      if (step === undefined || !step.process.isRunning) return;
      step.process.kill();
      this.#end(entry, "cancelled", -1);
    });
  }

  #end(entry: JournalEntry, phase: ReportPhase, exitCode: number): void {
    this.#running.delete(keyOf(entry));
    if (entry.state !== "running") return;
    entry.state = "ended";
    entry.end = { phase, exitCode };
    this.#reportEnd(entry);
  }

  #reportEnd(entry: JournalEntry): void {
    this.#options.report(entry, entry.end!.phase, entry.end!.exitCode);
  }

  /** The control plane knows the end of the step, or takes the step away. */
  #settle(stepRunId: StepRunId, token: number): void {
    const entry = this.#options.journal.find(stepRunId, token);
    if (entry === undefined) return;
    this.#running.get(keyOf(entry))?.process.kill();
    this.#running.delete(keyOf(entry));
    entry.state = "settled";
  }
}

function keyOf({ stepRunId, token }: Pick<JournalEntry, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}

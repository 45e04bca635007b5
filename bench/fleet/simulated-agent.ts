/**
 * An agent without steps: the real connection of an agent (channel, control stream, back-off), and timers in place of
 * processes. It counts its leases, as a real agent does.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { HeldStepRun, StepReport } from "../../proto/generated/agent/v1/agent.ts";
import { Backoff } from "../../src/agent/connection/backoff.ts";
import { ControlStream, type Instruction } from "../../src/agent/connection/control-stream.ts";
import { bearer, type GatewayClients, openGatewayClients } from "../../src/agent/connection/gateway-clients.ts";
import { systemClock } from "../../src/domain/clock.ts";

/** As long as a real agent's step lives without a heartbeat that is acknowledged. */
const LEASE_MS = 30_000;
/** A report without an answer is sent again. */
const REPORT_AGAIN_MS = 5_000;
/** As in src/agent/run-agent.ts. */
const STEADY_MS = 5_000;

/** What happens to the agents of a fleet, as its measurement wants to know it. */
export interface FleetListener {
  /**
   * A dispatch has come: milliseconds since the agent's last step ended or the agent began to take jobs, and since the
   * gateway released the agent's slot.
   */
  dispatched(step: HeldStepRun, sinceEndMs: number, sinceReleaseMs: number): void;
  welcomed(agent: SimulatedAgent): void;
  /** The lease of a step has run out: a real agent has killed the step. */
  lost(step: HeldStepRun): void;
  /** The gateway has said that the agent no longer holds the step. */
  refused(step: HeldStepRun): void;
}

interface Held {
  readonly step: HeldStepRun;
  readonly timer: NodeJS.Timeout;
  /** The report of its end, until it is acknowledged. */
  end: StepReport | null;
}

export interface SimulatedAgentOptions {
  readonly address: string;
  readonly token: string;
  readonly labels: Record<string, string>;
  /** How long the next step takes, milliseconds. */
  readonly stepMs: () => number;
  readonly listener: FleetListener;
}

export class SimulatedAgent {
  /** Why it takes no jobs; empty: it takes jobs. */
  takesNoJobs = "";
  readonly #options: SimulatedAgentOptions;
  readonly #clients: GatewayClients;
  readonly #bootId = randomUUID();
  readonly #held = new Map<string, Held>();
  readonly #jobs = new Set<string>();
  readonly #ending = new AbortController();
  readonly #again: NodeJS.Timeout;
  #stream: ControlStream | undefined;
  #sequence = 0n;
  #endedAt = performance.now();
  #releasedAt = performance.now();
  #contactAt = 0;
  /** How often it has said hello, and how often the gateway has told it to come back later. */
  hellos = 0;
  sentAway = 0;

  static async open(options: SimulatedAgentOptions): Promise<SimulatedAgent> {
    return new SimulatedAgent(options, await openGatewayClients({ address: options.address }));
  }

  private constructor(options: SimulatedAgentOptions, clients: GatewayClients) {
    this.#options = options;
    this.#clients = clients;
    this.#again = setInterval(() => this.#reportAgain(), REPORT_AGAIN_MS);
    void this.#keepConnected();
  }

  get isConnected(): boolean {
    return this.#stream?.isOpen === true;
  }

  get holdsSteps(): boolean {
    return this.#held.size > 0;
  }

  /** Takes jobs from now on. */
  takeJobs(): void {
    this.takesNoJobs = "";
    this.#endedAt = this.#releasedAt = performance.now();
    this.#stream?.beat();
  }

  /** Ends the connection and all that the agent holds. */
  close(): void {
    this.#ending.abort();
    clearInterval(this.#again);
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#stream?.close();
    this.#clients.close();
  }

  async #keepConnected(): Promise<void> {
    const backoff = new Backoff();
    const { signal } = this.#ending;
    while (!signal.aborted) {
      this.hellos++;
      const stream = new ControlStream({
        client: this.#clients.agent,
        metadata: bearer(this.#options.token),
        clock: systemClock,
        bootId: this.#bootId,
        labels: this.#options.labels,
        slots: 1,
        version: "simulated",
        nextSequence: () => ++this.#sequence,
        held: () => ({
          held: [...this.#held.values()].map(({ step }) => step),
          heldJobIds: [...this.#jobs],
          takesNoJobs: this.takesNoJobs,
        }),
        onContact: (sentAt) => this.#renew(sentAt),
        onHeartbeat: () => {},
        onWelcome: () => this.#welcomed(),
        onInstruction: (instruction) => this.#handle(instruction),
      });
      this.#stream = stream;
      const end = await stream.ended;
      this.#stream = undefined;
      if (end.welcomeMs > STEADY_MS) backoff.reset();
      if (end.comeBackMs > 0) this.sentAway++;
      await backoff.wait(signal, end.comeBackMs);
    }
  }

  #welcomed(): void {
    this.#options.listener.welcomed(this);
    this.#reportAgain();
  }

  #renew(sentAt: number): void {
    this.#contactAt = Math.max(this.#contactAt, sentAt);
  }

  #handle(instruction: Instruction): void {
    switch (instruction.$case) {
      case "dispatch": {
        const { runId, jobId, stepRunId, token } = instruction.value;
        if (this.#held.has(stepRunId)) return;
        const step = { runId, jobId, stepRunId, token };
        this.#options.listener.dispatched(
          step,
          performance.now() - this.#endedAt,
          performance.now() - this.#releasedAt,
        );
        this.#jobs.add(jobId);
        this.#contactAt = Math.max(this.#contactAt, performance.now());
        const timer = setTimeout(() => this.#finish(stepRunId), this.#options.stepMs());
        this.#held.set(stepRunId, { step, timer, end: null });
        this.#report(report(step, "STEP_PHASE_STARTED"));
        return;
      }
      case "release":
        this.#releasedAt = performance.now();
        this.#jobs.delete(instruction.value.jobId);
        for (const { step } of this.#held.values()) if (step.jobId === instruction.value.jobId) this.#forget(step);
        return;
      case "acknowledge":
        this.#forget(instruction.value);
        return;
      case "refuse": {
        const held = this.#held.get(instruction.value.stepRunId);
        if (held !== undefined) this.#options.listener.refused(held.step);
        this.#forget(instruction.value);
        return;
      }
      default:
        return;
    }
  }

  #finish(stepRunId: string): void {
    const held = this.#held.get(stepRunId);
    if (held === undefined) return;
    if (performance.now() - this.#contactAt > LEASE_MS) {
      this.#options.listener.lost(held.step);
      this.#forget(held.step);
      return;
    }
    held.end = report(held.step, "STEP_PHASE_SUCCEEDED");
    this.#endedAt = performance.now();
    this.#report(held.end);
  }

  #forget({ stepRunId }: { readonly stepRunId: string }): void {
    clearTimeout(this.#held.get(stepRunId)?.timer);
    this.#held.delete(stepRunId);
  }

  #reportAgain(): void {
    for (const { end } of this.#held.values()) if (end !== null) this.#report(end);
  }

  #report(value: StepReport): void {
    if (this.isConnected) this.#stream!.send({ $case: "report", value });
  }
}

function report(step: HeldStepRun, phase: StepReport["phase"]): StepReport {
  const now = BigInt(Date.now());
  const rest = { exitCode: 0, reason: "", lastLine: 0n, outputs: {}, usage: undefined, notes: undefined };
  return { ...step, ...rest, phase, startedAtMs: now, endedAtMs: phase === "STEP_PHASE_STARTED" ? 0n : now };
}

/** Waits at random up to `withinMs`, so that agents do not begin together. */
export const spread = (withinMs: number): Promise<void> => sleep(Math.random() * withinMs);

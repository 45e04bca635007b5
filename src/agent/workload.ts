/**
 * What this agent has to do: the jobs whose slot and workspace it holds, the step runs that run, and the ends that the
 * control plane does not know yet. Orders come in any order and more than once; each names its grant.
 */
import {
  type Dispatch,
  type HeldStepRun,
  type Revoke,
  StepPhase,
  type StepReport,
} from "../../proto/generated/agent/v1/agent.ts";
import type { Logger } from "../domain/logger.ts";
import type { AfterJobs } from "./after-job.ts";
import type { Order } from "./connection/control-stream.ts";
import type { DiskGuard } from "./disk-guard.ts";
import type { FifoPool } from "./process/fifo-pool.ts";
import type { GatewayAccess } from "./connection/gateway-call.ts";
import { type Journal, lostReport } from "./journal.ts";
import type { Launcher } from "./process/launcher.ts";
import type { HeldLease, Leases } from "./leases.ts";
import type { LogShipper } from "./logs/log-shipper.ts";
import type { PluginSources } from "./builtins/plugin/plugin-step.ts";
import { SecretFinder } from "./logs/secret-finder.ts";
import type { StepEnd } from "./step-end.ts";
import { StepExecution } from "./step-execution.ts";
import type { Trash } from "./trash.ts";
import { workspacePath } from "./workspace.ts";

/** How often an end is reported again that the plane has not acknowledged. */
const REPORT_AGAIN_MS = 5_000;
/**
 * How long the report of a start is held back: the report of an end implies it, and most steps that are over so soon would
 * cost twice the messages. Short enough for nobody to see it; the report says for how long the step has run.
 */
const START_HELD_MS = 20;
/** How many orders that came before or after their time are remembered. */
const REMEMBERED = 1_000;

export interface WorkloadOptions {
  readonly workDir: string;
  readonly scratchDir: string;
  readonly trash: Trash;
  readonly launcher: Launcher;
  readonly pipes: FifoPool;
  readonly journal: Journal;
  readonly shipper: LogShipper;
  readonly leases: Leases;
  readonly disk: DiskGuard;
  readonly gateway: GatewayAccess;
  readonly plugins: PluginSources;
  readonly afterJobs: AfterJobs;
  readonly log: Logger;
  /** Sends a report when there is a connection; what is lost is asked for again, or sent again. */
  readonly report: (report: StepReport) => void;
}

interface RunningStep {
  readonly held: HeldStepRun;
  readonly execution: StepExecution;
  /** 0 until its process runs. */
  startedAtMs: number;
  /** True when the plane wants to hear nothing more of it. */
  refused: boolean;
}

export class Workload {
  readonly #options: WorkloadOptions;
  readonly #running = new Map<string, RunningStep>();
  readonly #jobs = new Set<string>();
  /** Why grants were revoked before their dispatch came. */
  readonly #revokedEarly = new Map<string, string>();
  /** Jobs that are over; no dispatch that comes late begins them again. */
  readonly #released = new Map<string, true>();
  readonly #waiting: (() => void)[] = [];
  #reportTimer: NodeJS.Timeout | undefined;
  #draining = false;
  #handingBack = false;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** Step runs that run, or whose end the plane has not acknowledged. */
  heldStepRuns(): HeldStepRun[] {
    return this.#options.journal
      .unsettled()
      .map(({ runId, jobId, stepRunId, token }) => ({ runId, jobId, stepRunId, token }));
  }

  heldJobIds(): string[] {
    return [...this.#jobs];
  }

  /** Tells the plane all that it may have missed: what runs, and what has ended. */
  reportAll(): void {
    for (const step of this.#running.values()) this.#reportStarted(step);
    this.#reportEnds();
  }

  obey(order: Order): void {
    const { journal } = this.#options;
    switch (order.$case) {
      case "dispatch":
        return this.#dispatch(order.value);
      case "revoke":
        return this.#revoke(order.value);
      case "release":
        return void this.#release(order.value.jobId, order.value.succeeded);
      case "acknowledge":
        journal.settle(order.value.stepRunId, order.value.token);
        return this.#checkIdle();
      case "refuse":
        return this.#refuse(order.value.stepRunId, order.value.token);
    }
  }

  /** Begins no more jobs; a dispatch for one that was on its way is answered as lost, so that it begins elsewhere. */
  drain(): void {
    this.#draining = true;
  }

  /**
   * Begins nothing more, and asks all steps to end; after `graceMs`, or their own grace if that is shorter, they are killed.
   * Whatever their processes make of it they are reported as lost, so that their jobs begin anew elsewhere.
   */
  handBack(reason: string, graceMs: number): void {
    this.#draining = true;
    this.#handingBack = true;
    for (const { execution } of this.#running.values()) execution.handBack(reason, graceMs);
  }

  /** Kills all steps; they are reported as lost. */
  killAll(reason: string): void {
    this.#draining = true;
    this.#handingBack = true;
    for (const { execution } of this.#running.values()) execution.kill(reason);
  }

  /** Resolves when the agent holds no job. */
  async whenWithoutJobs(): Promise<void> {
    while (this.#jobs.size > 0) await this.#nextChange();
  }

  /** Resolves when no step runs. */
  async whenWithoutSteps(): Promise<void> {
    while (this.#running.size > 0) await this.#nextChange();
  }

  /** Resolves when the plane knows every end. */
  async whenSettled(): Promise<void> {
    while (this.#options.journal.unsettled().length > 0) await this.#nextChange();
  }

  close(): void {
    clearTimeout(this.#reportTimer);
  }

  #dispatch(dispatch: Dispatch): void {
    const { journal, leases, log } = this.#options;
    const { stepRunId, token, jobId, leaseMs } = dispatch;
    const key = keyOf(stepRunId, token);
    const known = journal.find(stepRunId, token);
    if (known !== undefined) {
      log.debug({ stepRunId, token: String(token) }, "a dispatch came again");
      const running = this.#running.get(key);
      if (running !== undefined) this.#reportStarted(running);
      else if (known.report !== undefined) this.#options.report(known.report);
      return;
    }
    let lease: HeldLease | undefined;
    try {
      lease = leases.take(Number(leaseMs));
      // It may be somebody else's by now. The plane finds it not held, and sends it again when it is not.
      if (lease === undefined)
        return log.warn({ stepRunId }, "a step came when its lease had run out; it is not started");
      journal.begin(dispatch);
    } catch (error) {
      lease?.release();
      const reason = `cannot write to the data directory: ${(error as Error).message}`;
      log.error({ stepRunId, reason }, "a step is not started");
      journal.remember(dispatch);
      return this.#ended({ ...lostReport(dispatch, reason), phase: StepPhase.STEP_PHASE_NOT_STARTED });
    }
    const obstacle = this.#obstacleTo(dispatch, this.#revokedEarly.get(key));
    if (obstacle === undefined) {
      this.#jobs.add(jobId);
      return this.#start(key, dispatch, lease);
    }
    lease.release();
    this.#ended({ ...lostReport(dispatch, obstacle.reason), phase: obstacle.phase });
  }

  /** Why a new step run is not started, and how that is reported; undefined when it is. */
  #obstacleTo({ jobId }: Dispatch, revoked: string | undefined): Pick<StepReport, "phase" | "reason"> | undefined {
    const { STEP_PHASE_CANCELLED, STEP_PHASE_LOST, STEP_PHASE_NOT_STARTED } = StepPhase;
    if (revoked !== undefined) return { phase: STEP_PHASE_CANCELLED, reason: revoked };
    if (this.#released.has(jobId))
      return { phase: STEP_PHASE_LOST, reason: "the job was released before this step arrived" };
    const isNew = !this.#jobs.has(jobId);
    if (this.#handingBack || (this.#draining && isNew))
      return { phase: STEP_PHASE_LOST, reason: "the agent begins no more jobs: it is about to stop" };
    const reason = isNew ? this.#options.disk.obstacle() : "";
    return reason === "" ? undefined : { phase: STEP_PHASE_NOT_STARTED, reason };
  }

  #start(key: string, dispatch: Dispatch, lease: HeldLease): void {
    const { workDir, scratchDir, trash, launcher, pipes, shipper, disk, gateway, plugins, afterJobs, log } =
      this.#options;
    const { runId, jobId, stepRunId, token } = dispatch;
    const held = { runId, jobId, stepRunId, token };
    let startTimer: NodeJS.Timeout | undefined;
    const execution = new StepExecution(dispatch, {
      workDir,
      scratchDir,
      trash,
      launcher,
      pipes,
      lease,
      output: { shipper, log: shipper.open(held), secrets: new SecretFinder(dispatch.secrets) },
      gateway,
      plugins,
      afterJobs,
      onStarted: (startedAtMs) => {
        step.startedAtMs = startedAtMs;
        startTimer = setTimeout(() => this.#reportStarted(step), START_HELD_MS);
      },
    });
    const step: RunningStep = { held, execution, startedAtMs: 0, refused: false };
    this.#running.set(key, step);
    log.info({ runId, jobId, stepRunId, step: dispatch.stepName }, "a step run begins");
    void execution.ended.then((end) => {
      clearTimeout(startTimer);
      lease.release();
      this.#running.delete(key);
      log.info({ runId, jobId, stepRunId, phase: end.phase, reason: end.reason }, "a step run has ended");
      this.#ended(reportOf(held, end, disk), step.refused);
    });
  }

  #revoke({ stepRunId, token, graceMs, reason }: Revoke): void {
    const key = keyOf(stepRunId, token);
    const running = this.#running.get(key);
    const known = this.#options.journal.find(stepRunId, token);
    if (running !== undefined) running.execution.cancel(reason, Number(graceMs));
    else if (known?.report !== undefined) this.#options.report(known.report);
    else remember(this.#revokedEarly, key, reason);
  }

  #refuse(stepRunId: string, token: bigint): void {
    this.#options.shipper.abandon({ stepRunId, token });
    const running = this.#running.get(keyOf(stepRunId, token));
    if (running === undefined) {
      this.#options.journal.settle(stepRunId, token);
      return this.#checkIdle();
    }
    running.refused = true;
    running.execution.kill("the control plane has given the step up");
  }

  /** Frees the slot and lets the workspace go, once nothing of the job runs any more and nothing is left to be done with it. */
  async #release(jobId: string, hasSucceeded: boolean): Promise<void> {
    const { journal, afterJobs } = this.#options;
    remember(this.#released, jobId, true);
    if (!this.#jobs.has(jobId)) return;
    const steps = [...this.#running.values()].filter(({ held }) => held.jobId === jobId);
    for (const step of steps) {
      step.refused = true;
      step.execution.kill("the job is over");
    }
    await Promise.all(steps.map(({ execution }) => execution.ended));
    void afterJobs.end(jobId, hasSucceeded).then(() => this.#removeWorkspace(jobId));
    for (const entry of journal.unsettled()) {
      if (entry.jobId === jobId) journal.settle(entry.stepRunId, entry.token);
    }
    this.#jobs.delete(jobId);
    this.#checkIdle();
  }

  #removeWorkspace(jobId: string): void {
    const { workDir, trash, log } = this.#options;
    try {
      trash.take(workspacePath(workDir, jobId));
    } catch (error) {
      log.warn({ jobId, error: (error as Error).message }, "cannot remove the workspace of a job");
    }
  }

  /** The step run is over. What the plane does not want to hear is settled at once. */
  #ended(report: StepReport, refused = false): void {
    const { journal } = this.#options;
    journal.end(report);
    if (refused) journal.settle(report.stepRunId, report.token);
    else this.#options.report(report);
    this.#checkIdle();
    this.#reportAgain();
  }

  #reportStarted({ held, startedAtMs }: RunningStep): void {
    if (startedAtMs === 0) return;
    this.#options.report({
      ...lostReport(held, ""),
      phase: StepPhase.STEP_PHASE_STARTED,
      startedAtMs: BigInt(startedAtMs),
      endedAtMs: BigInt(Date.now()),
    });
  }

  #reportEnds(): void {
    for (const { report } of this.#options.journal.unsettled()) {
      if (report === undefined) continue;
      this.#options.report(report);
      this.#reportAgain();
    }
  }

  #reportAgain(): void {
    this.#reportTimer ??= setTimeout(() => {
      this.#reportTimer = undefined;
      this.#reportEnds();
    }, REPORT_AGAIN_MS);
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #checkIdle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A failure on a full disk names that as what may be behind it. */
function reportOf(held: HeldStepRun, end: StepEnd, disk: DiskGuard): StepReport {
  const { STEP_PHASE_FAILED, STEP_PHASE_NOT_STARTED } = StepPhase;
  const hasFailed = end.phase === STEP_PHASE_FAILED || end.phase === STEP_PHASE_NOT_STARTED;
  const fullness = hasFailed ? disk.fullness() : "";
  return {
    ...held,
    phase: end.phase,
    exitCode: end.exitCode,
    reason: fullness === "" ? end.reason : `${end.reason} (${fullness})`,
    lastLine: end.lastLine,
    startedAtMs: BigInt(end.startedAtMs),
    endedAtMs: BigInt(end.endedAtMs),
    outputs: { ...end.outputs },
    usage: end.usage && { cpuMs: BigInt(end.usage.cpuMs), maxRssBytes: BigInt(end.usage.maxRssBytes) },
  };
}

/** Adds to a map of bounded size; its oldest entry goes. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  if (map.size >= REMEMBERED) map.delete(map.keys().next().value!);
  map.set(key, value);
}

function keyOf(stepRunId: string, token: bigint): string {
  return `${stepRunId}/${token}`;
}

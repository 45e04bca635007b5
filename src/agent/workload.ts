/**
 * The work of this agent: the jobs that hold a slot and a workspace here, the running step runs, and the ended ones
 * that the control plane has not acknowledged yet. Instructions of the gateway may arrive in any order and more than
 * once. Each names its grant by step run and token.
 */
import {
  AnnotationLevel,
  type Dispatch,
  type HeldStepRun,
  type Revoke,
  StepPhase,
  type StepReport,
} from "../../proto/generated/agent/v1/agent.ts";
import type { Logger } from "../domain/logger.ts";
import type { AfterJobs } from "./builtins/after-job.ts";
import type { Instruction } from "./connection/control-stream.ts";
import type { DiskGuard } from "./disk-guard.ts";
import type { FifoPool } from "./process/fifo-pool.ts";
import type { GatewayAccess } from "./connection/gateway-call.ts";
import { type Journal, lostReport } from "./journal.ts";
import type { Launcher } from "./process/launcher.ts";
import type { HeldLease, Leases } from "./process/leases.ts";
import type { LogShipper } from "./logs/log-shipper.ts";
import type { StepLogLimit } from "./logs/step-log.ts";
import type { PluginSources } from "./builtins/plugin/plugin-step.ts";
import { AnnotationCapture } from "./logs/annotation-capture.ts";
import type { OutputTarget } from "./logs/output-capture.ts";
import { SecretFinder } from "./logs/secret-finder.ts";
import type { StepEnd } from "./step-end.ts";
import { StepExecution } from "./step-execution.ts";
import type { StepUser } from "./process/step-user.ts";
import type { Confinement } from "./confinement.ts";
import type { JobContainers } from "./containers/job-containers.ts";
import type { Trash } from "./folders/trash.ts";
import { startReportDelayMs } from "./start-report.ts";
import { StepFiles } from "./step-file.ts";
import { Workspaces } from "./folders/workspace.ts";

/** Time between two reports of an end that the gateway has not acknowledged. */
const REPORT_AGAIN_MS = 5_000;
/**
 * How long a line about a step waits for the log. The reader of the log would otherwise take a processor while the process of a
 * step begins.
 */
const LINES_AFTER_MS = 5;
/** How many early revocations and how many released jobs are remembered at most. */
const MAX_REMEMBERED = 1_000;

const LEVELS = {
  error: AnnotationLevel.ANNOTATION_LEVEL_ERROR,
  warning: AnnotationLevel.ANNOTATION_LEVEL_WARNING,
  notice: AnnotationLevel.ANNOTATION_LEVEL_NOTICE,
} as const;

export interface WorkloadOptions {
  readonly workDir: string;
  readonly scratchDir: string;
  readonly trash: Trash;
  /** As whom steps run; undefined: as the agent. */
  readonly user: StepUser | undefined;
  readonly launcher: Launcher;
  readonly pipes: FifoPool;
  readonly journal: Journal;
  readonly shipper: LogShipper;
  readonly leases: Leases;
  readonly disk: DiskGuard;
  readonly gateway: GatewayAccess;
  readonly plugins: PluginSources;
  readonly afterJobs: AfterJobs;
  /** Undefined without a container engine. */
  readonly containers: JobContainers | undefined;
  readonly confinement: Confinement;
  readonly log: Logger;
  /** Sends a report if the agent is connected. A report that is lost is sent again. */
  readonly report: (report: StepReport) => void;
  /** A job takes a slot of this agent. */
  readonly onJobBegins: () => void;
  /** A job has given its slot back. */
  readonly onJobEnds: () => void;
}

interface RunningStep {
  readonly held: HeldStepRun;
  readonly execution: StepExecution;
  /** Unix milliseconds; 0 until the step has started. */
  startedAtMs: number;
  /** True once the control plane needs no report of this step run any more. */
  refused: boolean;
}

export class Workload {
  readonly #options: WorkloadOptions;
  readonly #workspaces: Workspaces;
  readonly #stepFiles: StepFiles;
  readonly #running = new Map<string, RunningStep>();
  readonly #jobs = new Set<string>();
  /** Reasons of revocations that arrived before the dispatch of the same grant, by grant. */
  readonly #revokedEarly = new Map<string, string>();
  /** Jobs that were released. A delayed dispatch must not start them again. */
  readonly #released = new Map<string, true>();
  readonly #changeListeners: (() => void)[] = [];
  #reportTimer: NodeJS.Timeout | undefined;
  /** Lines that wait for the log, oldest first. */
  readonly #lines: (() => void)[] = [];
  #linesTimer: NodeJS.Timeout | undefined;
  #draining = false;
  #handingBack = false;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    const { scratchDir, trash, user } = options;
    this.#workspaces = new Workspaces({ ...options, spareDir: scratchDir });
    this.#stepFiles = new StepFiles(scratchDir, trash, user);
  }

  /** Step runs that are running, and those that have ended without an acknowledgement of the control plane. */
  heldStepRuns(): HeldStepRun[] {
    return this.#options.journal
      .unsettled()
      .map(({ runId, jobId, stepRunId, token }) => ({ runId, jobId, stepRunId, token }));
  }

  /** Jobs that hold a slot of this agent. */
  heldJobIds(): string[] {
    return [...this.#jobs];
  }

  /** Reports all starts and ends again that the control plane may have missed. */
  reportAll(): void {
    for (const step of this.#running.values()) this.#reportStarted(step);
    this.#reportEnds();
  }

  /**
   * Carries out one instruction of the gateway. A repeated instruction has no effect, or makes the agent report again.
   */
  handleInstruction(instruction: Instruction): void {
    const { journal } = this.#options;
    switch (instruction.$case) {
      case "dispatch":
        return this.#dispatch(instruction.value);
      case "revoke":
        return this.#revoke(instruction.value);
      case "release":
        return void this.#release(instruction.value.jobId, instruction.value.succeeded);
      case "acknowledge":
        journal.settle(instruction.value.stepRunId, instruction.value.token);
        return this.#notifyChange();
      case "refuse":
        return this.#refuse(instruction.value.stepRunId, instruction.value.token);
    }
  }

  /**
   * Starts no more jobs. The agent reports the first step of a new job as lost, so that the job starts on another
   * agent.
   */
  drain(): void {
    this.#draining = true;
  }

  /**
   * Starts no more steps, and asks all running steps to end. Each step is killed after `graceMs` or its own grace,
   * whichever is shorter. However its process ends, the step is reported as lost, so that its job starts again on
   * another agent.
   */
  handBack(reason: string, graceMs: number): void {
    this.#draining = true;
    this.#handingBack = true;
    for (const { execution } of this.#running.values()) execution.handBack(reason, graceMs);
  }

  /** Kills all steps at once, and starts no more. The killed steps are reported as lost. */
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

  /** Resolves when the control plane has acknowledged the end of every step run. */
  async whenSettled(): Promise<void> {
    while (this.#options.journal.unsettled().length > 0) await this.#nextChange();
  }

  close(): void {
    clearTimeout(this.#reportTimer);
    this.#writeLines();
  }

  #dispatch(dispatch: Dispatch): void {
    const { journal, leases, log } = this.#options;
    const { stepRunId, token, jobId, leaseMs } = dispatch;
    const key = keyOf(stepRunId, token);
    const known = journal.find(stepRunId, token);
    if (known !== undefined) {
      log.debug({ stepRunId, token: String(token) }, "a dispatch was repeated");
      const running = this.#running.get(key);
      if (running !== undefined) this.#reportStarted(running);
      else if (known.report !== undefined) this.#options.report(known.report);
      return;
    }
    let lease: HeldLease | undefined;
    try {
      lease = leases.take(Number(leaseMs));
      // The control plane may have given the step to another agent. If it has not, it learns from the next heartbeat
      // that this agent does not hold the step, and dispatches the step again.
      if (lease === undefined)
        return log.warn({ stepRunId }, "a step arrived after its lease had run out; it is not started");
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
      const isNew = !this.#jobs.has(jobId);
      this.#jobs.add(jobId);
      this.#start(key, dispatch, lease);
      if (isNew) this.#options.onJobBegins();
      return;
    }
    lease.release();
    this.#ended({ ...lostReport(dispatch, obstacle.reason), phase: obstacle.phase });
  }

  /**
   * Why the agent does not start a new step run, and the phase to report; undefined when nothing prevents the start.
   */
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
    const { scratchDir, trash, user, launcher, pipes, shipper, disk, gateway, plugins, afterJobs, log } = this.#options;
    const { containers, confinement } = this.#options;
    const { runId, jobId, stepRunId, token } = dispatch;
    const held = { runId, jobId, stepRunId, token };
    let startTimer: NodeJS.Timeout | undefined;
    const execution = new StepExecution(dispatch, {
      workspaces: this.#workspaces,
      stepFiles: this.#stepFiles,
      scratchDir,
      trash,
      user,
      launcher,
      pipes,
      lease,
      output: outputTarget(shipper, held, dispatch),
      gateway,
      plugins,
      afterJobs,
      containers,
      confinement,
      onStarted: (startedAtMs) => {
        step.startedAtMs = startedAtMs;
        startTimer = setTimeout(() => this.#reportStarted(step), startReportDelayMs(this.#running.size));
      },
    });
    const step: RunningStep = { held, execution, startedAtMs: 0, refused: false };
    this.#running.set(key, step);
    this.#logSoon(() => log.info({ runId, jobId, stepRunId, step: dispatch.stepName }, "a step run begins"));
    void execution.ended.then((end) => {
      clearTimeout(startTimer);
      lease.release();
      this.#running.delete(key);
      this.#ended(reportOf(held, end, disk), step.refused);
      const { phase, reason } = end;
      this.#logSoon(() => log.info({ runId, jobId, stepRunId, phase, reason }, "a step run has ended"));
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
      return this.#notifyChange();
    }
    running.refused = true;
    running.execution.kill("the control plane has given the step up");
  }

  /**
   * Kills the job's steps, waits for their end, and frees the slot. The workspace is removed after the work that the
   * job left for its end, such as keeping a cache.
   */
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
    await this.#options.containers?.end(jobId);
    void afterJobs.end(jobId, hasSucceeded).then(() => this.#removeWorkspace(jobId));
    for (const entry of journal.unsettled()) {
      if (entry.jobId === jobId) journal.settle(entry.stepRunId, entry.token);
    }
    if (this.#jobs.delete(jobId)) this.#options.onJobEnds();
    this.#notifyChange();
  }

  #removeWorkspace(jobId: string): void {
    try {
      this.#workspaces.remove(jobId);
    } catch (error) {
      this.#options.log.warn({ jobId, error: (error as Error).message }, "cannot remove the workspace of a job");
    }
  }

  /** Records the end of a step run, and reports it. A refused step run is settled at once, without a report. */
  #ended(report: StepReport, refused = false): void {
    const { journal } = this.#options;
    journal.end(report);
    if (refused) journal.settle(report.stepRunId, report.token);
    else this.#options.report(report);
    this.#notifyChange();
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

  #logSoon(write: () => void): void {
    this.#lines.push(write);
    this.#linesTimer ??= setTimeout(() => this.#writeLines(), LINES_AFTER_MS);
  }

  #writeLines(): void {
    clearTimeout(this.#linesTimer);
    this.#linesTimer = undefined;
    for (const write of this.#lines.splice(0)) write();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#changeListeners.push(resolve));
  }

  #notifyChange(): void {
    for (const resolve of this.#changeListeners.splice(0)) resolve();
  }
}

/** Undefined when the control plane is of a version that knows no limit. */
function logLimitOf({ logLimit }: Dispatch): StepLogLimit | undefined {
  if (logLimit === undefined) return undefined;
  const { lines, bytes, tailLines, tailBytes } = logLimit;
  return { lines: Number(lines), bytes: Number(bytes), tailLines: Number(tailLines), tailBytes: Number(tailBytes) };
}

/** The report of an end. The reason of a failure mentions a full disk, as the possible cause. */
function reportOf(held: HeldStepRun, end: StepEnd, disk: DiskGuard): StepReport {
  const { STEP_PHASE_FAILED, STEP_PHASE_NOT_STARTED } = StepPhase;
  const hasFailed = end.phase === STEP_PHASE_FAILED || end.phase === STEP_PHASE_NOT_STARTED;
  const hint = hasFailed ? disk.fullDiskHint() : "";
  return {
    ...held,
    phase: end.phase,
    exitCode: end.exitCode,
    reason: hint === "" ? end.reason : `${end.reason} (${hint})`,
    lastLine: end.lastLine,
    startedAtMs: BigInt(end.startedAtMs),
    endedAtMs: BigInt(end.endedAtMs),
    outputs: { ...end.outputs },
    usage: end.usage && { cpuMs: BigInt(end.usage.cpuMs), maxRssBytes: BigInt(end.usage.maxRssBytes) },
    notes: notesOf(end),
  };
}

function notesOf({ annotations, summary, tests }: StepEnd): StepReport["notes"] {
  const { list, leftOut } = annotations;
  if (list.length === 0 && summary === null && tests === null) return undefined;
  return {
    annotations: list.map((one) => ({ ...one, level: LEVELS[one.level], logLine: BigInt(one.logLine) })),
    annotationsLeftOut: leftOut,
    summary: summary === null ? undefined : { markdown: summary.markdown, cut: summary.isCut },
    tests:
      tests === null ? undefined : { ...tests, durationMs: BigInt(tests.durationMs), problems: [...tests.problems] },
  };
}

function outputTarget(shipper: LogShipper, held: HeldStepRun, dispatch: Dispatch): OutputTarget {
  const secrets = new SecretFinder(dispatch.secrets);
  const log = shipper.open(held, logLimitOf(dispatch));
  return { shipper, log, secrets, annotations: new AnnotationCapture(secrets) };
}

/** Adds to a map of at most {@link MAX_REMEMBERED} entries. The oldest entry makes room. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  if (map.size >= MAX_REMEMBERED) map.delete(map.keys().next().value!);
  map.set(key, value);
}

function keyOf(stepRunId: string, token: bigint): string {
  return `${stepRunId}/${token}`;
}

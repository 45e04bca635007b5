/** One running step run: its process or builtin, its timeout and lease, its output, and how it ended. */
import { type Dispatch, StepPhase } from "../../proto/generated/agent/v1/agent.ts";
import { LogStream } from "../../proto/generated/gateway/v1/gateway.ts";
import { LONGEST_TIMER_MS } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import { NO_ANNOTATIONS } from "../domain/notes/notes.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import { withTimeout } from "./builtins/after-job.ts";
import { keepArtifacts } from "./builtins/artifact/artifact-upload.ts";
import type { Builtin, BuiltinCall } from "./builtins/builtin-call.ts";
import { builtinOf } from "./builtin-steps.ts";
import { closeFolder, type ConfinedCommand } from "./confinement.ts";
import type { StepPlace } from "./containers/job-containers.ts";
import { isCheckout } from "./builtins/checkout/checkout-step.ts";
import type { LaunchObstacle } from "./process/launch-protocol.ts";
import type { LaunchedProcess } from "./process/launcher.ts";
import { checkLaunch } from "./process/launch-script.ts";
import type { HeldLease } from "./process/leases.ts";
import { OutputCapture } from "./logs/output-capture.ts";
import { parseArguments } from "./builtins/shell-step.ts";
import { prepareStep } from "./prepare-step.ts";
import type { StepEnd } from "./step-end.ts";
import {
  describeExit,
  hasEndedByItself,
  logWithheldOutputs,
  outOfMemory,
  sayTo,
  withAnnotations,
  withOutputs,
  withoutSecrets,
} from "./step-outcome.ts";
import { stepEnvironment } from "./step-environment.ts";
import type { StepFile } from "./step-file.ts";
import { readOutputs } from "./step-outputs.ts";
import type { StepSurroundings } from "./step-surroundings.ts";
import { readSummary } from "./step-summary.ts";
import { resolveWorkingDirectory } from "./folders/workspace.ts";

/** How long a step that was ended has for its last events. */
const LAST_EVENTS_MS = 5_000;

/** Why a process that was started did not become the step's program. */
const MISSING: Readonly<Record<LaunchObstacle, string>> = {
  permit: "the step did not start: the agent's permit for it was removed from the scratch folder by another process",
  folder: "the step did not start: its working directory was removed, or cannot be entered",
  isolation: "the step did not start: the process that becomes its program has ended, or cannot be isolated",
};

/** Why the agent ends a step early. The first cause counts. */
type Cause = { readonly phase: StepPhase; readonly reason: string };

export class StepExecution {
  /** Resolves when no process of the step is left. Never rejects. */
  readonly ended: Promise<StepEnd>;
  readonly #dispatch: Dispatch;
  #process: LaunchedProcess | undefined;
  #cause: Cause | undefined;
  /** Aborted with a {@link Cause} when the step must end. Stops work that the agent does itself, without a process. */
  readonly #ending = new AbortController();
  #graceTimer: NodeJS.Timeout | undefined;
  #timeoutTimer: NodeJS.Timeout | undefined;
  #isKeepingArtifacts = false;
  /** Unix milliseconds; 0 until the step has started. */
  #startedAtMs = 0;

  /** Starts the step. The step is killed when its lease runs out. */
  constructor(dispatch: Dispatch, surroundings: StepSurroundings) {
    this.#dispatch = dispatch;
    const { output } = surroundings;
    const { shipper, log } = output;
    surroundings.lease.onRunOut((reason) => this.kill(reason));
    this.ended = this.#run(surroundings)
      .catch((error: Error) => this.#endOf(this.#phaseOf(error), -1, error.message, log.lastLine, this.#startedAtMs))
      .then((end) => withoutSecrets(withAnnotations(end, output), output))
      .finally(() => {
        clearTimeout(this.#timeoutTimer);
        shipper.finish(log);
      });
  }

  /** Asks the step to end, and kills it after `graceMs`. It is reported as cancelled. */
  cancel(reason: string, graceMs: number): void {
    this.#end({ phase: StepPhase.STEP_PHASE_CANCELLED, reason }, graceMs);
  }

  /**
   * Asks the step to end, and kills it after `graceMs` or its own grace, whichever is shorter. It is reported as lost,
   * so that its job starts again on another agent.
   */
  handBack(reason: string, graceMs: number): void {
    this.#end({ phase: StepPhase.STEP_PHASE_LOST, reason }, Math.min(graceMs, Number(this.#dispatch.cancelGraceMs)));
  }

  /** Kills the step at once. It is reported as lost, unless an earlier cause was already ending it. */
  kill(reason: string): void {
    this.#end({ phase: StepPhase.STEP_PHASE_LOST, reason }, 0);
  }

  async #run(surroundings: StepSurroundings): Promise<StepEnd> {
    const dispatch = this.#dispatch;
    const { workspaces, stepFiles, user, launcher, lease } = surroundings;
    await launcher.whenReady();
    // Much time may have passed since the lease was taken. If it has run out, this call sets the cause.
    lease.hasRunOut();
    if (this.#cause !== undefined) return this.#endOf(this.#cause.phase, -1, this.#cause.reason, 0n, 0);
    const workspace = workspaces.open(dispatch.jobId);
    const cwd = resolveWorkingDirectory(workspace, dispatch.workingDirectory);
    const place = await this.#openPlace(workspace, surroundings);
    if (place === "ended") return this.#endOf(this.#cause!.phase, -1, this.#cause!.reason, 0n, this.#startedAtMs);
    const outputs = stepFiles.make("outputs", place?.folder);
    const summary = stepFiles.make("summary", place?.folder);
    const events = stepFiles.make("events", place?.folder);
    const paths = { outputs: outputs.path, summary: summary.path, events: events.path };
    try {
      const builtin = builtinOf(dispatch.uses);
      const end =
        builtin === undefined
          ? await this.#runCommand(
              { workspace, cwd },
              stepEnvironment(dispatch, workspace, paths, user, place?.env),
              surroundings,
              place,
            )
          : await this.#runBuiltin(builtin, workspace, surroundings);
      place?.leave();
      if (end.phase === StepPhase.STEP_PHASE_LOST) return end;
      const { output } = surroundings;
      const written = readOutputs(outputs, output.secrets);
      logWithheldOutputs(written.withheld, output);
      const { summary: read, remark } = readSummary(summary, output.secrets);
      if (remark !== undefined) sayTo(output)(remark);
      const noted = { ...withOutputs(end, written), summary: read, lastLine: output.log.lastLine };
      const complete = await this.#keepEvents(noted, events, surroundings);
      return await this.#keepArtifacts(
        await this.#keepTestReports(complete, workspace, surroundings),
        workspace,
        surroundings,
      );
    } finally {
      clearTimeout(this.#timeoutTimer);
      outputs.dispose();
      summary.dispose();
      events.dispose();
      place?.leave();
      await place?.close();
    }
  }

  /** True for a step that runs a program of the definition or of a plugin on the agent itself. */
  get #isPlain(): boolean {
    const { uses, container } = this.#dispatch;
    return container === undefined && builtinOf(uses) === undefined && !isCheckout(uses);
  }

  /**
   * Where a step of a job with containers or services runs, or a step that sees little of the machine; undefined for another
   * step, "ended" for one that must end.
   */
  async #openPlace(
    workspace: string,
    { containers, confinement, scratchDir, trash, user, output, onStarted }: StepSurroundings,
  ): Promise<StepPlace | "ended" | undefined> {
    const dispatch = this.#dispatch;
    if (this.#isPlain) confinement.admit();
    if (dispatch.container === undefined && dispatch.services.length === 0) {
      const folder = this.#isPlain ? confinement.openFolder(scratchDir, user) : undefined;
      if (folder === undefined) return undefined;
      return { folder, env: {}, start: undefined, leave: () => {}, close: () => closeFolder(folder, trash) };
    }
    if (containers === undefined) throw new MillraceError("unavailable", "this agent has no container engine");
    // Pulling an image is work of the step, so it counts for the timeout and can be cancelled.
    this.#begin(onStarted);
    const { signal } = this.#ending;
    const isSecret = (text: string) => output.secrets.isIn(text);
    try {
      return await containers.open({ dispatch, workspace, say: sayTo(output), isSecret, signal });
    } catch (error) {
      if (this.#cause !== undefined) return "ended";
      throw error;
    }
  }

  async #runCommand(
    { workspace, cwd }: { readonly workspace: string; readonly cwd: string },
    env: Record<string, string>,
    surroundings: StepSurroundings,
    place: StepPlace | undefined,
  ): Promise<StepEnd> {
    if (place?.start !== undefined) return this.#runInContainer(cwd, env, surroundings, place);
    const { launcher, pipes, lease, output, confinement, onStarted } = surroundings;
    const folder = this.#isPlain && confinement.isolation === "namespaces" ? place?.folder : undefined;
    const prepared = await this.#prepare(env, surroundings, folder);
    if (prepared === undefined) return this.#endOf(this.#cause!.phase, -1, this.#cause!.reason, 0n, 0);
    const [stdout, stderr] = [pipes.open(), pipes.open()];
    const closeWriteEnds = () => {
      stdout.closeWriteEnd();
      stderr.closeWriteEnd();
    };
    let confined: ConfinedCommand | undefined;
    try {
      const capture = new OutputCapture(stdout.reader, stderr.reader, output);
      const paths = { stdout: stdout.path, stderr: stderr.path };
      const { mark: leaseMark, permitFile } = lease;
      const { stdin } = prepared;
      if (this.#isPlain) {
        const folders = [workspace, ...(folder === undefined ? [] : [folder])];
        const hasServices = this.#dispatch.services.length > 0;
        confined = confinement.confine(prepared.command, { leaseMark, folders, hasServices });
      }
      const { command } = confined ?? prepared;
      const program = { command, cwd: prepared.cwd ?? cwd, env: prepared.env ?? env };
      const input = stdin === undefined ? {} : { stdin };
      const launch = { ...program, ...input, ...paths, leaseMark, permitFile };
      const launched = await launcher.start(launch, this.#ending.signal).catch((error: unknown) => {
        if (this.#cause === undefined) throw error;
      });
      if (launched === undefined) return this.#endOf(this.#cause!.phase, -1, this.#cause!.reason, 0n, 0);
      void launched.exited.then(closeWriteEnds);
      const end = await this.#waitForEnd(launched, lease, capture, onStarted);
      if (end.phase !== StepPhase.STEP_PHASE_FAILED) return end;
      if (confined?.ranOutOfMemory() === true) return outOfMemory(end, "that a step may use");
      const explanation = prepared.explain?.(end.exitCode);
      return explanation === undefined ? end : { ...end, reason: `${end.reason}: ${explanation}` };
    } finally {
      closeWriteEnds();
      prepared.dispose();
      await confined?.end();
    }
  }

  async #runInContainer(
    cwd: string,
    env: Record<string, string>,
    surroundings: StepSurroundings,
    place: StepPlace,
  ): Promise<StepEnd> {
    const { lease, output, onStarted } = surroundings;
    const { folder } = place;
    const prepared = await this.#prepare(env, surroundings, folder);
    const mustEnd = () =>
      this.#endOf(this.#cause!.phase, -1, this.#cause!.reason, output.log.lastLine, this.#startedAtMs);
    if (prepared === undefined) return mustEnd();
    try {
      if (lease.hasRunOut() || this.#cause !== undefined) return mustEnd();
      const { command, stdin } = prepared;
      const input = stdin === undefined ? {} : { stdin };
      const launch = { command, cwd: prepared.cwd ?? cwd, env: prepared.env ?? env, ...input };
      checkLaunch(launch);
      const launched = await place.start!(launch);
      const capture = new OutputCapture(launched.stdout, launched.stderr, output);
      const end = await this.#waitForEnd(launched, lease, capture, onStarted, place);
      const isOutOfMemory = end.phase === StepPhase.STEP_PHASE_FAILED && launched.ranOutOfMemory;
      return isOutOfMemory ? outOfMemory(end, "of the container") : end;
    } finally {
      prepared.dispose();
    }
  }

  #prepare(env: Readonly<Record<string, string>>, surroundings: StepSurroundings, ownFolder: string | undefined) {
    return prepareStep(this.#dispatch, env, surroundings, ownFolder, this.#ending.signal);
  }

  async #waitForEnd(
    launched: LaunchedProcess,
    lease: HeldLease,
    capture: OutputCapture,
    onStarted: (startedAtMs: number) => void,
    place?: StepPlace,
  ): Promise<StepEnd> {
    this.#process = launched;
    // The step may have been asked to end while its process was being started.
    if (this.#cause !== undefined) launched.kill();
    const startedAtMs = this.#begin(onStarted);

    const exit = await launched.exited;
    clearTimeout(this.#graceTimer);
    // The guard may have killed the process, or the process may have missed its permit file. Such a step has not
    // failed: it is lost, because its lease has run out. This call sets that cause. A step that misses its permit while
    // its lease lasts is lost as well, and so is one without its folder: its script has not begun.
    if (exit?.code !== 0) lease.hasRunOut();
    if (exit?.obstacle !== undefined) this.kill(MISSING[exit.obstacle]);
    if (exit === undefined) this.kill("the process that starts the agent's steps has ended, and its steps with it");
    // Causes count up to the end of the process. The assignment keeps a later cause from changing the result.
    const cause = this.#cause;
    this.#cause ??= { phase: StepPhase.STEP_PHASE_UNSPECIFIED, reason: "" };
    await launched.gone;
    place?.leave();
    const lastLine = await capture.drain();
    const exitCode = exit?.code ?? -1;
    const usage = exit?.usage;
    if (cause !== undefined) return this.#endOf(cause.phase, exitCode, cause.reason, lastLine, startedAtMs, usage);
    const phase = exitCode === 0 ? StepPhase.STEP_PHASE_SUCCEEDED : StepPhase.STEP_PHASE_FAILED;
    return this.#endOf(phase, exitCode, describeExit(exit!), lastLine, startedAtMs, usage);
  }

  /** Runs a builtin in this process. */
  async #runBuiltin(builtin: Builtin, workspace: string, surroundings: StepSurroundings): Promise<StepEnd> {
    const { gateway, output, onStarted } = surroundings;
    const { action, argsJson } = this.#dispatch;
    const args = parseArguments(argsJson);
    if (action !== "") throw new MillraceError("malformed_request", `a builtin has no action "${action}"`);
    const startedAtMs = this.#begin(onStarted);
    const outputs = new Map<string, string>();
    const call: BuiltinCall = {
      step: this.#dispatch,
      args,
      workspace,
      gateway,
      say: sayTo(output),
      mask: (text) => output.secrets.mask(text),
      output: (name, value) => void outputs.set(name, value),
      ...this.#callAfterEnd(surroundings),
      signal: this.#ending.signal,
    };
    const [phase, reason] = await builtin(call).then(
      () => [StepPhase.STEP_PHASE_SUCCEEDED, ""] as const,
      (error: Error) => [StepPhase.STEP_PHASE_FAILED, error.message] as const,
    );
    const { phase: finalPhase, reason: finalReason } = this.#cause ?? { phase, reason };
    const end = this.#endOf(finalPhase, -1, finalReason, output.log.lastLine, startedAtMs);
    return { ...end, outputs: Object.fromEntries(outputs) };
  }

  /** The parts of a builtin's call that the builtin may still use after the step has ended. */
  #callAfterEnd({
    scratchDir,
    output,
    afterJobs,
  }: StepSurroundings): Pick<BuiltinCall, "scratchDir" | "sayAfterEnd" | "whenJobSucceeded"> {
    const { jobId, stepRunId } = this.#dispatch;
    return {
      scratchDir,
      sayAfterEnd: (line) => output.shipper.addToFinished(output.log, () => sayTo(output)(line)),
      whenJobSucceeded: (work) => afterJobs.add(jobId, stepRunId, withTimeout(work, Number(this.#dispatch.timeoutMs))),
    };
  }

  /** Sends the events of a step. They do not change how it ends; what is wrong with them is told as annotations. */
  async #keepEvents(end: StepEnd, file: StepFile, { gateway, output }: StepSurroundings): Promise<StepEnd> {
    const { size, problem } = file.read(0);
    if (size === 0 && problem === undefined) return end;
    const { shipper, log, secrets, annotations } = output;
    const isOwnEnd = hasEndedByItself(end);
    const signal = isOwnEnd ? this.#ending.signal : AbortSignal.timeout(LAST_EVENTS_MS);
    // Loaded on demand: few steps have events.
    const { keepEvents } = await import("./step-events.ts");
    for (const line of await keepEvents(this.#dispatch, file, { gateway, secrets, signal })) {
      annotations.take(line, (level) => {
        shipper.add(log, LogStream.LOG_STREAM_STDERR, line, Date.now(), level);
        return log.lastLine;
      });
    }
    const kept = { ...end, lastLine: log.lastLine };
    return isOwnEnd && signal.aborted ? { ...kept, ...(signal.reason as Cause) } : kept;
  }

  /** Sends the test reports of a step that succeeded or failed. They do not change how it ends. */
  async #keepTestReports(end: StepEnd, workspace: string, { gateway, output }: StepSurroundings): Promise<StepEnd> {
    const { testReports } = this.#dispatch;
    if (testReports === undefined || !hasEndedByItself(end)) return end;
    const { signal } = this.#ending;
    const { secrets } = output;
    // Loaded on demand: few steps have test reports.
    const { keepTestReports } = await import("./reports/test-reports.ts");
    const options = { workspace, gateway, secrets, signal };
    const tests = await keepTestReports(this.#dispatch, testReports, options).catch(() => null);
    if (signal.aborted) return { ...end, ...(signal.reason as Cause) };
    for (const problem of tests?.problems ?? []) sayTo(output)(`warning: test reports: ${problem}`);
    return { ...end, tests, lastLine: output.log.lastLine };
  }

  /**
   * Uploads the artifacts of a step that succeeded or failed. A step that succeeded fails when one of its artifacts
   * cannot be kept.
   */
  async #keepArtifacts(end: StepEnd, workspace: string, { gateway, output }: StepSurroundings): Promise<StepEnd> {
    const hasSucceeded = end.phase === StepPhase.STEP_PHASE_SUCCEEDED;
    if (this.#dispatch.artifacts.length === 0) return end;
    if (!hasEndedByItself(end)) return end;
    const { signal } = this.#ending;
    this.#isKeepingArtifacts = true;
    const isSecret = (text: string) => output.secrets.isIn(text);
    const options = { workspace, gateway, say: sayTo(output), isSecret, signal };
    const problem = await keepArtifacts(this.#dispatch, options).catch(() => undefined);
    const kept = { ...end, lastLine: output.log.lastLine, endedAtMs: end.endedAtMs === 0 ? 0 : Date.now() };
    if (signal.aborted) return { ...kept, ...(signal.reason as Cause) };
    return problem !== undefined && hasSucceeded
      ? { ...kept, phase: StepPhase.STEP_PHASE_FAILED, reason: problem }
      : kept;
  }

  /**
   * The phase of a step that this error kept from running. An error of the step's definition is `failed`, because it
   * would occur on every agent. An error of this agent is `not started`, so that another agent may try.
   */
  #phaseOf(error: Error): StepPhase {
    const isOfStep = error instanceof MillraceError && error.reason !== "unavailable";
    return isOfStep || this.#process !== undefined ? StepPhase.STEP_PHASE_FAILED : StepPhase.STEP_PHASE_NOT_STARTED;
  }

  /** Begins the time of the step, once. The control plane is told, unless the step must end already. */
  #begin(onStarted: (startedAtMs: number) => void): number {
    if (this.#startedAtMs !== 0) return this.#startedAtMs;
    this.#startedAtMs = Date.now();
    if (this.#cause === undefined) onStarted(this.#startedAtMs);
    this.#startTimeout();
    return this.#startedAtMs;
  }

  /** The timeout lasts until the artifacts are kept. */
  #startTimeout(): void {
    const timeoutMs = Number(this.#dispatch.timeoutMs);
    if (timeoutMs <= 0) return;
    this.#timeoutTimer = setTimeout(() => this.#timeOut(), Math.min(timeoutMs, LONGEST_TIMER_MS));
  }

  #timeOut(): void {
    const { timeoutMs, cancelGraceMs } = this.#dispatch;
    const last = this.#isKeepingArtifacts ? "; it was keeping its artifacts" : "";
    const reason = `the step took longer than its timeout of ${timeoutMs} ms${last}`;
    this.#end({ phase: StepPhase.STEP_PHASE_TIMED_OUT, reason }, Number(cancelGraceMs));
  }

  #end(cause: Cause, graceMs: number): void {
    const isFirst = this.#cause === undefined;
    this.#cause ??= cause;
    this.#ending.abort(cause);
    const running = this.#process;
    if (running === undefined) return; // The method that starts the process checks the cause.
    if (graceMs <= 0) {
      running.kill();
    } else if (isFirst) {
      running.signal("SIGTERM");
      this.#graceTimer = setTimeout(() => running.kill(), Math.min(graceMs, LONGEST_TIMER_MS));
    }
  }

  #endOf(
    phase: StepPhase,
    exitCode: number,
    reason: string,
    lastLine: bigint,
    startedAtMs: number,
    usage?: ResourceUsage,
  ): StepEnd {
    const endedAtMs = startedAtMs === 0 ? 0 : Date.now();
    const nothing = { outputs: {}, annotations: NO_ANNOTATIONS, summary: null, tests: null };
    return { phase, exitCode, reason, lastLine, ...nothing, startedAtMs, endedAtMs, usage };
  }
}

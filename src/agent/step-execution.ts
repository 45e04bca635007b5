/** One step run that runs: its process, its bounds in time, its output, and what is to be said of its end. */
import { type Dispatch, StepPhase } from "../../proto/generated/agent/v1/agent.ts";
import { LogStream } from "../../proto/generated/gateway/v1/gateway.ts";
import { MillraceError } from "../domain/errors.ts";
import { isPluginReference } from "../domain/plugins.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import type { AfterJobs } from "./after-job.ts";
import { keepArtifacts } from "./builtins/artifact/artifact-upload.ts";
import type { Builtin, BuiltinCall } from "./builtins/builtin-call.ts";
import { builtinOf } from "./builtins/builtins.ts";
import { isCheckout, prepareCheckout } from "./builtins/checkout/checkout-step.ts";
import type { FifoPool } from "./process/fifo-pool.ts";
import type { GatewayAccess } from "./connection/gateway-call.ts";
import type { ProcessExit } from "./process/launch-protocol.ts";
import type { LaunchedProcess, Launcher } from "./process/launcher.ts";
import type { HeldLease } from "./leases.ts";
import { OutputCapture, type OutputTarget } from "./logs/output-capture.ts";
import type { PluginSources } from "./builtins/plugin/plugin-step.ts";
import { tellable, tellWithheld } from "./secret-report.ts";
import { parseArguments, type PreparedCommand, prepareCommand } from "./builtins/shell-step.ts";
import type { StepEnd } from "./step-end.ts";
import { stepEnvironment } from "./step-environment.ts";
import { makeOutputsFile, type StepOutputs } from "./step-outputs.ts";
import type { Trash } from "./trash.ts";
import { openWorkspace, resolveWorkingDirectory } from "./workspace.ts";

/** Beyond it `setTimeout` fires at once; 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Why a step is ended before its time; the first one counts. */
type Cause = { readonly phase: StepPhase; readonly reason: string };

export interface StepSurroundings {
  readonly workDir: string;
  readonly scratchDir: string;
  readonly trash: Trash;
  readonly launcher: Launcher;
  readonly pipes: FifoPool;
  readonly lease: HeldLease;
  readonly output: OutputTarget;
  readonly gateway: GatewayAccess;
  readonly plugins: PluginSources;
  readonly afterJobs: AfterJobs;
  /** Called when the process runs. */
  readonly onStarted: (startedAtMs: number) => void;
}

export class StepExecution {
  /** Resolves when nothing of the step is left; never rejects. */
  readonly ended: Promise<StepEnd>;
  readonly #dispatch: Dispatch;
  #process: LaunchedProcess | undefined;
  #cause: Cause | undefined;
  /** Aborted with a {@link Cause} when the step is to end: for what the agent does itself. */
  readonly #ending = new AbortController();
  #graceTimer: NodeJS.Timeout | undefined;

  /** Starts the step; it is killed when its lease runs out. */
  constructor(dispatch: Dispatch, surroundings: StepSurroundings) {
    this.#dispatch = dispatch;
    const { output } = surroundings;
    const { shipper, log } = output;
    surroundings.lease.onRunOut((reason) => this.kill(reason));
    this.ended = this.#run(surroundings)
      .catch((error: Error) => this.#endOf(this.#phaseOf(error), -1, error.message, log.lastLine, 0))
      .then((end) => tellable(end, output))
      .finally(() => shipper.finish(log));
  }

  /** Asks the step to end as cancelled, and makes it after `graceMs`. */
  cancel(reason: string, graceMs: number): void {
    this.#end({ phase: StepPhase.STEP_PHASE_CANCELLED, reason }, graceMs);
  }

  /** Asks the step to end as lost, so that its job begins anew elsewhere, and makes it after `graceMs` or its own grace. */
  handBack(reason: string, graceMs: number): void {
    this.#end({ phase: StepPhase.STEP_PHASE_LOST, reason }, Math.min(graceMs, Number(this.#dispatch.cancelGraceMs)));
  }

  /** Ends the step at once; it counts as lost unless it was already being ended. */
  kill(reason: string): void {
    this.#end({ phase: StepPhase.STEP_PHASE_LOST, reason }, 0);
  }

  async #run(surroundings: StepSurroundings): Promise<StepEnd> {
    const dispatch = this.#dispatch;
    const { workDir, scratchDir, trash, launcher, lease } = surroundings;
    await launcher.whenReady();
    // Much time may have passed since the lease was taken: this sets the cause when it has run out.
    lease.hasRunOut();
    if (this.#cause !== undefined) return this.#endOf(this.#cause.phase, -1, this.#cause.reason, 0n, 0);
    const workspace = openWorkspace(workDir, dispatch.jobId);
    const cwd = resolveWorkingDirectory(workspace, dispatch.workingDirectory);
    const outputsFile = makeOutputsFile(scratchDir, trash);
    try {
      const builtin = builtinOf(dispatch.uses);
      const end =
        builtin === undefined
          ? await this.#execute(cwd, stepEnvironment(dispatch, workspace, outputsFile.path), surroundings)
          : await this.#perform(builtin, workspace, surroundings);
      if (end.phase === StepPhase.STEP_PHASE_LOST) return end;
      const written = outputsFile.read(surroundings.output.secrets);
      tellWithheld(written.withheld, surroundings.output);
      return await this.#keep(withOutputs(end, written), workspace, surroundings);
    } finally {
      outputsFile.dispose();
    }
  }

  async #execute(cwd: string, env: Record<string, string>, surroundings: StepSurroundings): Promise<StepEnd> {
    const { launcher, pipes, lease, output, onStarted } = surroundings;
    const prepared = await this.#prepare(env, surroundings);
    if (prepared === undefined) return this.#endOf(this.#cause!.phase, -1, this.#cause!.reason, 0n, 0);
    const [stdout, stderr] = [pipes.open(), pipes.open()];
    const letGo = () => {
      stdout.letGo();
      stderr.letGo();
    };
    try {
      const capture = new OutputCapture(stdout.reader, stderr.reader, output);
      const paths = { stdout: stdout.path, stderr: stderr.path };
      const { mark: leaseMark, permitFile } = lease;
      const { command, stdin } = prepared;
      const own = { command, cwd: prepared.cwd ?? cwd, env: prepared.env ?? env };
      const input = stdin === undefined ? {} : { stdin };
      const launched = await launcher.start({ ...own, ...input, ...paths, leaseMark, permitFile });
      void launched.exited.then(letGo);
      const end = await this.#attend(launched, lease, capture, onStarted);
      const words = end.phase === StepPhase.STEP_PHASE_FAILED ? prepared.explain?.(end.exitCode) : undefined;
      return words === undefined ? end : { ...end, reason: `${end.reason}: ${words}` };
    } finally {
      letGo();
      prepared.dispose();
    }
  }

  /** Undefined when the step is to end before its command is there. */
  async #prepare(
    env: Readonly<Record<string, string>>,
    { scratchDir, gateway, plugins }: StepSurroundings,
  ): Promise<PreparedCommand | undefined> {
    if (isCheckout(this.#dispatch.uses)) return prepareCheckout(this.#dispatch, env, scratchDir);
    if (!isPluginReference(this.#dispatch.uses)) return prepareCommand(this.#dispatch, scratchDir);
    const { signal } = this.#ending;
    // Most agents never see a plugin.
    const { preparePlugin } = await import("./builtins/plugin/plugin-step.ts");
    try {
      return await preparePlugin(this.#dispatch, { ...plugins, env, scratchDir, gateway, signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #attend(
    launched: LaunchedProcess,
    lease: HeldLease,
    capture: OutputCapture,
    onStarted: (startedAtMs: number) => void,
  ): Promise<StepEnd> {
    const startedAtMs = Date.now();
    this.#process = launched;
    // It may have been ended while its process was made.
    if (this.#cause === undefined) onStarted(startedAtMs);
    else launched.kill();
    const stopTimer = this.#startTimeout();

    const exit = await launched.exited;
    stopTimer();
    clearTimeout(this.#graceTimer);
    // What the guard has killed, and what has not found its permit, is lost and has not failed by itself.
    if (exit?.code !== 0) lease.hasRunOut();
    if (exit === undefined) this.kill("the process that starts the agent's steps has ended, and its steps with it");
    // What the process itself made of it counts; what comes after its end does not.
    const cause = this.#cause;
    this.#cause ??= { phase: StepPhase.STEP_PHASE_UNSPECIFIED, reason: "" };
    await launched.gone;
    const lastLine = await capture.drain();
    const exitCode = exit?.code ?? -1;
    const usage = exit?.usage;
    if (cause !== undefined) return this.#endOf(cause.phase, exitCode, cause.reason, lastLine, startedAtMs, usage);
    const phase = exitCode === 0 ? StepPhase.STEP_PHASE_SUCCEEDED : StepPhase.STEP_PHASE_FAILED;
    return this.#endOf(phase, exitCode, describe(exit!), lastLine, startedAtMs, usage);
  }

  /** Carries out a builtin, which has no process. */
  async #perform(builtin: Builtin, workspace: string, surroundings: StepSurroundings): Promise<StepEnd> {
    const { gateway, output, onStarted } = surroundings;
    const { action, argsJson } = this.#dispatch;
    const args = parseArguments(argsJson);
    if (action !== "") throw new MillraceError("malformed_request", `a builtin has no action "${action}"`);
    const startedAtMs = Date.now();
    onStarted(startedAtMs);
    const stopTimer = this.#startTimeout();
    const outputs = new Map<string, string>();
    const call: BuiltinCall = {
      step: this.#dispatch,
      args,
      workspace,
      gateway,
      say: sayTo(output),
      mask: (text) => output.secrets.mask(text),
      output: (name, value) => void outputs.set(name, value),
      ...this.#lastingCall(surroundings),
      signal: this.#ending.signal,
    };
    const [phase, reason] = await builtin(call).then(
      () => [StepPhase.STEP_PHASE_SUCCEEDED, ""] as const,
      (error: Error) => [StepPhase.STEP_PHASE_FAILED, error.message] as const,
    );
    stopTimer();
    const end = this.#cause ?? { phase, reason };
    const told = this.#endOf(end.phase, -1, end.reason, output.log.lastLine, startedAtMs);
    return { ...told, outputs: Object.fromEntries(outputs) };
  }

  /** What a builtin may use also after the step. */
  #lastingCall({
    scratchDir,
    output,
    afterJobs,
  }: StepSurroundings): Pick<BuiltinCall, "scratchDir" | "sayLate" | "whenJobSucceeded"> {
    const { jobId, stepRunId } = this.#dispatch;
    return {
      scratchDir,
      sayLate: (line) => output.shipper.goOn(output.log, () => sayTo(output)(line)),
      whenJobSucceeded: (work) => afterJobs.add(jobId, stepRunId, work),
    };
  }

  /** What a step that ended by itself leaves for others; one that had succeeded has failed when that cannot be kept. */
  async #keep(end: StepEnd, workspace: string, { gateway, output }: StepSurroundings): Promise<StepEnd> {
    const hasSucceeded = end.phase === StepPhase.STEP_PHASE_SUCCEEDED;
    if (this.#dispatch.artifacts.length === 0) return end;
    if (!hasSucceeded && end.phase !== StepPhase.STEP_PHASE_FAILED) return end;
    const { signal } = this.#ending;
    const options = { workspace, gateway, say: sayTo(output), signal };
    const problem = await keepArtifacts(this.#dispatch, options).catch(() => undefined);
    const kept = { ...end, lastLine: output.log.lastLine, endedAtMs: end.endedAtMs === 0 ? 0 : Date.now() };
    if (signal.aborted) return { ...kept, ...(signal.reason as Cause) };
    return problem !== undefined && hasSucceeded
      ? { ...kept, phase: StepPhase.STEP_PHASE_FAILED, reason: problem }
      : kept;
  }

  /** Of a step that could not be carried out. What is wrong with the step itself is wrong on every agent. */
  #phaseOf(error: Error): StepPhase {
    const isItsOwn = error instanceof MillraceError && error.reason !== "unavailable";
    return isItsOwn || this.#process !== undefined ? StepPhase.STEP_PHASE_FAILED : StepPhase.STEP_PHASE_NOT_STARTED;
  }

  /** The answer stops it. */
  #startTimeout(): () => void {
    const timeoutMs = Number(this.#dispatch.timeoutMs);
    if (timeoutMs <= 0) return () => {};
    const timer = setTimeout(() => this.#timeOut(), Math.min(timeoutMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  }

  #timeOut(): void {
    const { timeoutMs, cancelGraceMs } = this.#dispatch;
    const reason = `the step took longer than its timeout of ${timeoutMs} ms`;
    this.#end({ phase: StepPhase.STEP_PHASE_TIMED_OUT, reason }, Number(cancelGraceMs));
  }

  #end(cause: Cause, graceMs: number): void {
    const isFirst = this.#cause === undefined;
    this.#cause ??= cause;
    this.#ending.abort(cause);
    const running = this.#process;
    if (running === undefined) return; // Whoever makes it looks at the cause.
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
    return { phase, exitCode, reason, lastLine, outputs: {}, startedAtMs, endedAtMs, usage };
  }
}

/** A step that wrote what cannot be read has failed, whatever its process made of it; one that had failed, as it had. */
function withOutputs(end: StepEnd, { outputs: written, problem }: StepOutputs): StepEnd {
  const outputs = { ...end.outputs, ...written };
  if (problem === undefined || end.phase !== StepPhase.STEP_PHASE_SUCCEEDED) return { ...end, outputs };
  const reason = `the outputs in MILLRACE_OUTPUT cannot be read: ${problem}`;
  return { ...end, outputs, phase: StepPhase.STEP_PHASE_FAILED, reason };
}

function sayTo({ shipper, log, secrets }: OutputTarget): (line: string) => void {
  return (line) => shipper.add(log, LogStream.LOG_STREAM_STDOUT, `millrace: ${secrets.mask(line)}`, Date.now());
}

function describe({ code, signal }: ProcessExit): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === 0 ? "" : `exit code ${code}`;
}

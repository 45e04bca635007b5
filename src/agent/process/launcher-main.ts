/**
 * The launcher: a small process of the agent that starts the processes of steps under supervisors. It is small so that a
 * fork is cheap, and has a session of its own so that signals to the agent's process group do not reach it. It ends when
 * the agent ends, and its supervisors end with it. Where the agent has starters, these fork the steps, and the launcher
 * does what takes long.
 */
import { openAgentClock } from "./agent-clock.ts";
import { closeInheritedDescriptors } from "./inherited-descriptors.ts";
import type { KeeperRequest, Launch, LauncherRequest, LauncherReport } from "./launch-protocol.ts";
import { signalMarked } from "./leftover-processes.ts";
import type { StepIsolation } from "./step-isolation.ts";
import { LocalKeeper } from "./step-keeper.ts";
import type { Owner } from "./step-user.ts";
import { SupervisedProcess } from "./supervisor.ts";
import { JumpWatch, momentReader } from "./time-jump.ts";
import { UsageMeter } from "./usage-meter.ts";

/**
 * Most supervisors that wait for a step. A spare can be used only under its own lease; spares of other leases are
 * killed.
 */
const MAX_SPARES = 2;
/**
 * When a step has used a spare supervisor, the next spare is made this long after the step's start, or at the step's
 * end if the step is shorter. So making it does not take processor time from the start of the step.
 */
const REPLACE_MS = 20;

/**
 * While steps run, the launcher looks for jumps of the clocks this often. After a suspension, steps run for this long at
 * most before they are stopped.
 */
const LOOK_MS = 25;

const isolation = JSON.parse(process.argv[2]!) as StepIsolation;
/** As whom steps run; null: as this process. */
const user = JSON.parse(process.argv[3]!) as Owner | null;
/** Distinguishes the marks of this launcher, and of the starters beside it, from those of an earlier launcher. */
const name = process.argv[4]!;
const keeper = new LocalKeeper(new UsageMeter());
/** The process groups of starters. */
let starters: readonly number[] = [];
/** True while steps of starters run. */
let isBusy = false;
/** Reports that wait for the end of this turn of the event loop. */
let waitingReports: LauncherReport[] = [];
const running = new Map<number, SupervisedProcess>();
/** Starts that wait for their turn, by id. */
const waitingStarts = new Map<number, Launch>();
const watch = new JumpWatch({ now: momentReader(openAgentClock()), everyMs: LOOK_MS, onJump: hold });
/** Grows by one with each hold. */
let holds = 0;
let isHolding = false;
let hasStarted = false;
let spares: SupervisedProcess[] = [];
let made = 0;

closeInheritedDescriptors();

process.on("message", (request: LauncherRequest) => {
  switch (request.type) {
    case "start":
      waitingStarts.set(request.id, request.launch);
      return startNext();
    case "signal":
      return running.get(request.id)?.signal(request.signal);
    case "kill":
      if (waitingStarts.delete(request.id))
        return report({ type: "refused", id: request.id, reason: "it was asked to end before it began" });
      return void running.get(request.id)?.kill();
    case "resume":
      return resume(request.hold);
    default:
      return keep(request);
  }
});

process.on("disconnect", () => {
  for (const spare of spares) spare.signal("SIGKILL");
  process.exit();
});

function keep(request: KeeperRequest): void {
  switch (request.type) {
    case "starters":
      starters = request.groups;
      return;
    case "busy":
      isBusy = request.since !== null;
      if (request.since !== null) watch.start(request.since);
      else stopWatch();
      return;
    case "watch":
      keeper.watch(request.steps);
      // These may have begun after the others were stopped.
      if (isHolding) keeper.signal("SIGSTOP");
      return;
    case "killAll":
      return keeper.kill(request.step);
    case "end": {
      const { id, step, end } = request;
      const { usage, gone } = keeper.end(step, end);
      void usage.then((found) => report({ type: "kept", report: { type: "usage", id, usage: found } }));
      void gone.then(() => report({ type: "kept", report: { type: "gone", id } }));
    }
  }
}

/**
 * Starts one process in each turn of the event loop, so that the ends of other steps are handled in between. The later
 * the launcher handles an end, the more it costs.
 */
function startNext(): void {
  if (hasStarted || isHolding || waitingStarts.size === 0) return;
  hasStarted = true;
  setImmediate(() => {
    hasStarted = false;
    startNext();
  });
  const [id, launch] = waitingStarts.entries().next().value!;
  waitingStarts.delete(id);
  start(id, launch);
}

/**
 * Stops all steps, because their leases may be over: the control plane may have given them to another agent. The groups
 * are stopped first, as that is fast; then the processes that have left them.
 */
function hold(jumpMs: number): void {
  isHolding = true;
  for (const supervised of running.values()) supervised.signal("SIGSTOP");
  signalSteps("SIGSTOP");
  // A process may have forked before it was stopped.
  signalSteps("SIGSTOP");
  report({ type: "held", hold: ++holds, jumpMs });
}

function resume(number: number): void {
  if (!isHolding || number !== holds) return;
  isHolding = false;
  for (const supervised of running.values()) supervised.signal("SIGCONT");
  signalSteps("SIGCONT");
  startNext();
}

function signalSteps(signal: "SIGSTOP" | "SIGCONT"): void {
  keeper.signal(signal);
  for (const supervised of running.values()) supervised.signalOthers(signal);
  signalMarked(`${name}-`, signal, new Set([...spares.map(({ group }) => group), ...starters]));
}

function start(id: number, launch: Launch): void {
  let step: SupervisedProcess;
  try {
    step = becomeStep(launch);
  } catch (error) {
    return report({ type: "refused", id, reason: (error as Error).message });
  }
  running.set(id, step);
  watch.start();
  void follow(id, step);
}

async function follow(id: number, step: SupervisedProcess): Promise<void> {
  report({ type: "started", id });
  const timer = setTimeout(() => makeSpare(step.leaseMark), REPLACE_MS);
  const exit = await step.exited;
  clearTimeout(timer);
  report({ type: "exited", id, exit });
  await step.kill();
  running.delete(id);
  stopWatch();
  report({ type: "gone", id });
  makeSpare(step.leaseMark);
}

function stopWatch(): void {
  if (running.size === 0 && !isBusy) watch.stop();
}

function becomeStep(launch: Launch): SupervisedProcess {
  const supervised = takeSpare(launch.leaseMark) ?? supervise(launch.leaseMark);
  supervised.become(launch);
  return supervised;
}

function takeSpare(leaseMark: string): SupervisedProcess | undefined {
  const index = spares.findIndex((spare) => spare.leaseMark === leaseMark && spare.isRunning);
  return index === -1 ? undefined : spares.splice(index, 1)[0];
}

function makeSpare(leaseMark: string): void {
  const useless = spares.filter((spare) => spare.leaseMark !== leaseMark || !spare.isRunning);
  for (const spare of useless) void spare.kill();
  spares = spares.filter((spare) => !useless.includes(spare));
  if (spares.length >= MAX_SPARES) return;
  try {
    spares.push(supervise(leaseMark));
  } catch {
    // The next start tries again, and reports the error.
  }
}

function supervise(leaseMark: string): SupervisedProcess {
  return new SupervisedProcess(leaseMark, `${leaseMark}${name}-${++made};`, isolation, user);
}

/** What one turn of the event loop reports is one message. */
function report(report: LauncherReport): void {
  waitingReports.push(report);
  if (waitingReports.length === 1) setImmediate(sendReports);
}

function sendReports(): void {
  const reports = waitingReports;
  waitingReports = [];
  // The callback ignores errors: when the agent has ended, the event "disconnect" ends this process.
  process.send!(reports, undefined, undefined, () => {});
}

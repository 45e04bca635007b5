/**
 * The launcher: a small process of the agent that starts the processes of steps. It is small so that a fork is cheap,
 * and has a session of its own so that signals to the agent's process group do not reach it. It ends when the agent
 * ends, and its supervisors end with it.
 */
import { randomUUID } from "node:crypto";
import type { Launch, LauncherRequest, LauncherReport } from "./launch-protocol.ts";
import { SupervisedProcess } from "./supervisor.ts";

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

/** Distinguishes the marks of this launcher from those of an earlier launcher. */
const name = randomUUID();
const running = new Map<number, SupervisedProcess>();
const waitingStarts: (() => void)[] = [];
let hasStarted = false;
let spares: SupervisedProcess[] = [];
let made = 0;

process.on("message", (request: LauncherRequest) => {
  switch (request.type) {
    case "start":
      waitingStarts.push(() => start(request.id, request.launch));
      return startNext();
    case "signal":
      return running.get(request.id)?.signal(request.signal);
    case "kill":
      return void running.get(request.id)?.kill();
  }
});

process.on("disconnect", () => {
  for (const spare of spares) spare.signal("SIGKILL");
  process.exit();
});

/**
 * Starts one process in each turn of the event loop, so that the ends of other steps are handled in between. The later
 * the launcher handles an end, the more it costs.
 */
function startNext(): void {
  if (hasStarted || waitingStarts.length === 0) return;
  hasStarted = true;
  setImmediate(() => {
    hasStarted = false;
    startNext();
  });
  waitingStarts.shift()!();
}

function start(id: number, launch: Launch): void {
  let supervised: SupervisedProcess;
  try {
    supervised = takeSpare(launch.leaseMark) ?? supervise(launch.leaseMark);
    supervised.become(launch);
  } catch (error) {
    return report({ type: "refused", id, reason: (error as Error).message });
  }
  running.set(id, supervised);
  report({ type: "started", id });
  const timer = setTimeout(() => makeSpare(launch.leaseMark), REPLACE_MS);
  void supervised.exited.then(async (exit) => {
    clearTimeout(timer);
    report({ type: "exited", id, exit });
    await supervised.kill();
    running.delete(id);
    report({ type: "gone", id });
    makeSpare(launch.leaseMark);
  });
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
  return new SupervisedProcess(leaseMark, `${leaseMark}${name}-${++made};`);
}

function report(report: LauncherReport): void {
  // The callback ignores errors: when the agent has ended, the event "disconnect" ends this process.
  process.send!(report, undefined, undefined, () => {});
}

/**
 * The launcher: a process of the agent that is small, so that a fork of it is cheap, and in a session of its own, so
 * that what stops or ends the agent with its group does not reach it. It ends with the agent; its supervisors end with it.
 */
import { randomUUID } from "node:crypto";
import type { Launch, LauncherRequest, LauncherReport } from "./launch-protocol.ts";
import { SupervisedProcess } from "./supervisor.ts";

/** Supervisors that wait for a step, at most. Those of another lease are of no use, and go first. */
const SPARES = 2;
/** After the start of a step that goes on for longer its spare is replaced; else when it ends, and nothing waits for the CPU. */
const REPLACE_MS = 20;

/** Distinguishes the marks of this launcher from those of one before it. */
const name = randomUUID();
const running = new Map<number, SupervisedProcess>();
const waiting: (() => void)[] = [];
let hasStarted = false;
let spares: SupervisedProcess[] = [];
let made = 0;

process.on("message", (order: LauncherRequest) => {
  switch (order.type) {
    case "start":
      waiting.push(() => start(order.id, order.launch));
      return startNext();
    case "signal":
      return running.get(order.id)?.signal(order.signal);
    case "kill":
      return void running.get(order.id)?.sweep();
  }
});

process.on("disconnect", () => {
  for (const spare of spares) spare.signal("SIGKILL");
  process.exit();
});

/** One start a turn of the event loop: in between come the ends of other steps, which cost the more the later they are seen. */
function startNext(): void {
  if (hasStarted || waiting.length === 0) return;
  hasStarted = true;
  setImmediate(() => {
    hasStarted = false;
    startNext();
  });
  waiting.shift()!();
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
    await supervised.sweep();
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
  for (const spare of useless) void spare.sweep();
  spares = spares.filter((spare) => !useless.includes(spare));
  if (spares.length >= SPARES) return;
  try {
    spares.push(supervise(leaseMark));
  } catch {
    // The next start tries again, and says why it cannot.
  }
}

function supervise(leaseMark: string): SupervisedProcess {
  return new SupervisedProcess(leaseMark, `${leaseMark}${name}-${++made};`);
}

function report(report: LauncherReport): void {
  // An agent that is gone hears nothing, which "disconnect" tells.
  process.send!(report, undefined, undefined, () => {});
}

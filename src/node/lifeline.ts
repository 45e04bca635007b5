/**
 * Ends a process when another one ends. A pipe connects the two: the system closes it even when a process is killed.
 */
import { spawn } from "node:child_process";

/**
 * Ends `pid` (SIGTERM) when this process ends. Answers the function that cancels this. A shell that reads from a pipe
 * of this process sends the signal. The shell has a session of its own, so that Ctrl-C does not end it before this
 * process.
 */
export function endWithThisProcess(pid: number): () => void {
  const watcher = spawn("/bin/sh", ["-c", 'read -r _; kill -TERM "$1"', "millrace-lifeline", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  // Without a shell `pid` may keep running; the next start of millrace finds it.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  return () => void watcher.kill("SIGKILL");
}

/** Calls `onLost` when stdin, a pipe from the process that started this one, closes. */
export function watchStdin(onLost: () => void): void {
  process.stdin.once("error", onLost);
  process.stdin.once("end", onLost);
  process.stdin.resume();
  // The pipe must not keep the process alive when it has no other work.
  if ("unref" in process.stdin) process.stdin.unref();
}

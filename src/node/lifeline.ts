/** Ties the life of processes together over a pipe, which the system closes also when a process is killed. */
import { spawn } from "node:child_process";

/**
 * Has `pid` end (SIGTERM) when this process ends without having called the answer first. A shell that reads from us
 * does it; it is in a session of its own, so that Ctrl-C does not reach it before us.
 */
export function endWithUs(pid: number): () => void {
  const watcher = spawn("/bin/sh", ["-c", 'read -r _; kill -TERM "$1"', "millrace-lifeline", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  // Without a shell there is no such watch; the next start then finds what was left behind.
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
  // The pipe alone must not keep a process alive that has nothing left to do.
  if ("unref" in process.stdin) process.stdin.unref();
}

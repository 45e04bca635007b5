/** The agent of a local installation: a child process in a session of its own, so that Ctrl-C does not reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../domain/logger.ts";
import { killAtExit, killGroup } from "../node/kill-at-exit.ts";
import { MAIN_FILE } from "../node/package-root.ts";

const RESTART_MS = 500;
/** Within this time the agent must end. Then it is killed, and its steps with it. */
const STOP_MS = 12_000;

export interface AgentProcessOptions {
  /** The whole environment of the agent; nothing is inherited from this process. */
  readonly environment: NodeJS.ProcessEnv;
  /** The agent appends its log to this file; null for stderr of this process. */
  readonly logFile: string | null;
  readonly log: Logger;
}

export interface AgentProcess {
  /** Asks the agent to end and resolves when it has ended. Kills it after 12 s. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts the agent, and starts it again whenever it ends. The agent's stdin is a pipe from this process. The agent ends when
 * the pipe closes, which happens also when this process is killed by SIGKILL.
 */
export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;

  const supervise = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      child = spawnAgent(options);
      const ending = await endOf(child);
      if (stopping.signal.aborted) return;
      options.log.warn({ ending }, "the agent has ended; starting it again");
      await sleep(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  const supervision = supervise();
  const stop = async (): Promise<void> => {
    stopping.abort();
    const running = child;
    if (running?.pid === undefined) return supervision;
    running.kill("SIGTERM");
    const killer = setTimeout(() => killGroup(running.pid!, "SIGKILL"), STOP_MS);
    await supervision;
    clearTimeout(killer);
  };
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

function spawnAgent({ environment, logFile }: AgentProcessOptions): ChildProcess {
  const output = logFile === null ? 2 : openSync(logFile, "a", 0o600);
  try {
    return spawn(process.execPath, [...process.execArgv, MAIN_FILE, "agent", "--lifeline"], {
      env: environment,
      stdio: ["pipe", output, output],
      detached: true,
    });
  } finally {
    if (logFile !== null) closeSync(output);
  }
}

function endOf(child: ChildProcess): Promise<string> {
  const release = child.pid === undefined ? () => {} : killAtExit(child.pid);
  return new Promise((resolve) => {
    const end = (how: string) => {
      release();
      resolve(how);
    };
    child.once("error", (error) => end(error.message));
    child.once("exit", (code, signal) => end(signal ?? `exit ${code}`));
  });
}

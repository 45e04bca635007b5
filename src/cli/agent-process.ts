/** The agent of a local installation: a child process in a session of its own, so that Ctrl-C does not reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../domain/logger.ts";
import { killAtExit, killGroup } from "../node/kill-at-exit.ts";
import { MAIN_FILE } from "../node/package-root.ts";
import { takeUp, takeUpStarted } from "./agent-keeper.ts";

const RESTART_MS = 500;
/** Within this time the agent must end. Then it is killed, and its steps with it. */
const STOP_MS = 12_000;

export interface AgentProcessOptions {
  /** The whole environment of the agent; nothing is inherited from this process. */
  readonly environment: NodeJS.ProcessEnv;
  /** The agent appends its log to this file; null for stderr of this process. */
  readonly logFile: string | null;
  /**
   * Where an agent waits to be taken up when this process was killed, and the digest of the settings that it must have.
   * With null the agent ends at once when this process is killed.
   */
  readonly keeping: { readonly socket: string; readonly settings: string } | null;
  readonly log: Logger;
}

export interface AgentProcess {
  /** Asks the agent to end and resolves when it has ended. Kills it after 12 s. Idempotent. */
  stop(): Promise<void>;
}

/** An agent that runs, started by this process or taken up. */
interface RunningAgent {
  readonly pid: number;
  /** Resolves when the agent has ended, with how it ended. */
  readonly ended: Promise<string>;
}

/**
 * Takes up the agent that an earlier process has left, or starts one, and starts it again whenever it ends. Without `keeping`,
 * the agent's stdin is a pipe from this process. The agent ends when the pipe closes, which happens also when this process is
 * killed by SIGKILL.
 */
export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const { keeping, log } = options;
  const stopping = new AbortController();
  let running: RunningAgent | undefined;

  const supervise = async (): Promise<void> => {
    if (keeping !== null) running = await takeUpEarlier(keeping, log);
    while (!stopping.signal.aborted) {
      running ??= startedAgent(options);
      const ending = await endOf(running);
      running = undefined;
      if (stopping.signal.aborted) return;
      log.warn({ ending }, "the agent has ended; starting it again");
      await sleep(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
    if (running !== undefined) await end(running);
  };

  const supervision = supervise();
  const stop = async (): Promise<void> => {
    stopping.abort();
    if (running !== undefined) await end(running);
    await supervision;
  };
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

/** The agent of an earlier process. One with other settings is ended, because its jobs would run with those. */
async function takeUpEarlier(
  { socket, settings }: NonNullable<AgentProcessOptions["keeping"]>,
  log: Logger,
): Promise<RunningAgent | undefined> {
  const hold = await takeUp(socket);
  if (hold === undefined) return undefined;
  const agent = { pid: hold.pid, ended: hold.ended.then(() => "its connection was closed") };
  if (hold.settings === settings) return agent;
  log.warn({ pid: hold.pid }, "the settings have changed: the agent of the killed control plane is started again");
  await end(agent);
  return undefined;
}

function startedAgent(options: AgentProcessOptions): RunningAgent {
  const { keeping } = options;
  const child = spawnAgent(options);
  const { pid = 0 } = child;
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit ${code}`));
  });
  if (keeping !== null) {
    const over = new AbortController();
    void ended.then(() => over.abort());
    void takeUpStarted(keeping.socket, pid, over.signal);
  }
  return { pid, ended };
}

function spawnAgent({ environment, logFile, keeping }: AgentProcessOptions): ChildProcess {
  const output = logFile === null ? 2 : openSync(logFile, "a", 0o600);
  const binding =
    keeping === null ? ["--lifeline"] : ["--keeper-socket", keeping.socket, "--keeper-settings", keeping.settings];
  try {
    return spawn(process.execPath, [...process.execArgv, MAIN_FILE, "agent", ...binding], {
      env: environment,
      stdio: [keeping === null ? "pipe" : "ignore", output, output],
      detached: true,
    });
  } finally {
    if (logFile !== null) closeSync(output);
  }
}

/** Resolves when the agent has ended. Until then the agent is killed when this process exits. */
async function endOf({ pid, ended }: RunningAgent): Promise<string> {
  const release = pid === 0 ? () => {} : killAtExit(pid);
  return ended.finally(release);
}

async function end({ pid, ended }: RunningAgent): Promise<void> {
  if (pid === 0) return void (await ended);
  signalAgent(pid, "SIGTERM");
  const killer = setTimeout(() => killGroup(pid, "SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(killer);
}

/** An agent that has ended in the meantime is not an error. */
function signalAgent(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

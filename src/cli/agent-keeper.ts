/**
 * How the agent of a local installation outlives a control plane that was killed. The process that keeps the agent holds
 * a connection to a socket in the agent's data directory. The system closes the connection when that process ends, even
 * when it is killed. The agent then works on for as long as its leases allow, and the next control plane on the same
 * data directory takes it up by a connection of its own.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How often an agent without a keeper looks whether it still has work. */
const CHECK_MS = 250;
/** How long a new agent waits for its first keeper. */
const FIRST_KEEPER_MS = 10_000;
/**
 * Within this time an agent answers a new keeper. A connection that is accepted proves that the agent lives, and on a busy machine
 * it answers late. Taken for dead, it would keep its job, and its data directory from the next agent, until its leases run out.
 */
const GREETING_MS = 10_000;
const RETRY_MS = 25;

/** What an agent tells its keeper. */
export interface KeptAgent {
  readonly pid: number;
  /** {@link settingsOf} the environment in which the agent was started. */
  readonly settings: string;
}

/** A connection to a kept agent. While it is open, the agent lives. */
export interface Hold extends KeptAgent {
  /** Resolves when the agent has ended. */
  readonly ended: Promise<void>;
}

export interface KeeperOptions extends KeptAgent {
  /** Where to listen. A file that an earlier agent left there is replaced. */
  readonly socket: string;
  /** How long the agent's work stays valid without a control plane, milliseconds; 0 when it has none. */
  readonly workLeftMs: () => number;
  /** Called once, when no process keeps the agent and its work is over. */
  readonly onAbandoned: () => void;
}

/** Waits for keepers, as the agent. Answers the function that ends this. Rejects when the socket cannot be used. */
export async function awaitKeeper(options: KeeperOptions): Promise<() => void> {
  const { socket, pid, settings, workLeftMs, onAbandoned } = options;
  const keepers = new Set<Socket>();
  let wasKept = false;
  /** When the agent ends unless a keeper comes, monotonic milliseconds. */
  let endsAt = performance.now() + FIRST_KEEPER_MS;
  const server = createServer((keeper) => {
    wasKept = true;
    keepers.add(keeper);
    keeper.on("error", () => {});
    keeper.once("close", () => {
      keepers.delete(keeper);
      endsAt = performance.now() + workLeftMs();
    });
    keeper.resume();
    keeper.write(`${JSON.stringify({ pid, settings } satisfies KeptAgent)}\n`);
  });
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socket, resolve));
  server.unref();
  const check = setInterval(() => {
    const isWaiting = performance.now() < endsAt && (!wasKept || workLeftMs() > 0);
    if (keepers.size > 0 || isWaiting) return;
    clearInterval(check);
    onAbandoned();
  }, CHECK_MS);
  check.unref();
  return () => {
    clearInterval(check);
    server.close();
    for (const keeper of keepers) keeper.destroy();
  };
}

/** Takes up the agent that listens on `socket`; undefined when there is none. */
export async function takeUp(socket: string): Promise<Hold | undefined> {
  const connection = connect(socket);
  const ended = new Promise<void>((resolve) => connection.once("close", () => resolve()));
  let text = "";
  const greeting = new Promise<KeptAgent | undefined>((resolve) => {
    connection.on("error", () => resolve(undefined));
    connection.once("close", () => resolve(undefined));
    connection.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.endsWith("\n")) resolve(JSON.parse(text) as KeptAgent);
    });
  });
  const over = new AbortController();
  const silence = sleep(GREETING_MS, undefined, { signal: over.signal }).catch(() => undefined);
  const agent = await Promise.race([greeting, silence]);
  over.abort();
  if (agent === undefined) {
    connection.destroy();
    return undefined;
  }
  return { ...agent, ended };
}

/** Takes up an agent that was just started, and waits until it listens; undefined once `signal` is aborted. */
export async function takeUpStarted(socket: string, pid: number, signal: AbortSignal): Promise<Hold | undefined> {
  while (!signal.aborted) {
    const hold = await takeUp(socket);
    if (hold?.pid === pid) return hold;
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/**
 * A digest of the settings in an environment that an agent was started with. An agent with other settings is not taken
 * up. Tokens are left out: the agent has its own by then.
 */
export function settingsOf(environment: NodeJS.ProcessEnv, version: string): string {
  const settings = Object.entries(environment)
    .filter(
      ([name]) => (name.startsWith("MILLRACE_") && name !== "MILLRACE_REGISTRATION_TOKEN") || name === "LOG_LEVEL",
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([version, settings]))
    .digest("hex");
}

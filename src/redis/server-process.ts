/** A private Redis server as a child process: its address, its configuration, and what it answers about itself. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { MillraceError } from "../domain/errors.ts";
import { parseRedisUrl } from "./connect.ts";
import { isSocketPath } from "./socket-path.ts";

/** Where the server listens: a socket in its own folder, or a loopback port with a password. */
export type ServerAddress =
  | { readonly socket: string }
  | { readonly host: "127.0.0.1"; readonly port: number; readonly password: string };

/** The name of the connection that a millrace process keeps open to the server that it started or adopted. */
export const OWNER_NAME = "millrace-owner";

/** The folder of the files to which the server appends its data, within its folder. */
export const APPEND_ONLY_FOLDER = "appendonlydir";

const POLL_MS = 20;
const ANSWER_MS = 2_000;

/** The addresses to try, in order: a socket, if its path is short enough, then a loopback port. */
export async function possibleAddresses(folder: string): Promise<ServerAddress[]> {
  const socket = join(folder, "redis.sock");
  const port: ServerAddress = { host: "127.0.0.1", port: await freePort(), password: randomBytes(24).toString("hex") };
  return isSocketPath(socket) ? [{ socket }, port] : [port];
}

/** The URL of the address, in the form that `parseRedisUrl` takes. */
export function serverUrl(address: ServerAddress): string {
  return "socket" in address
    ? `redis+unix://${address.socket.split("/").map(encodeURIComponent).join("/")}`
    : `redis://:${address.password}@${address.host}:${address.port}`;
}

/**
 * Starts a server on the data in `folder`, and answers its process id once it has loaded the data. The server has a
 * session of its own, so that Ctrl-C in the terminal does not end it before this process does. Rejects with
 * `unavailable`, and quotes the end of the server's log.
 */
export async function launchServer(
  binary: string,
  folder: string,
  address: ServerAddress,
  isDurable: boolean,
): Promise<number> {
  const child = spawn(binary, ["-"], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code, signal) => (failure ??= `it ended with ${signal ?? `code ${code}`}`));
  child.stdin.on("error", () => {}); // The exit of the server reports a server that ends before it has read all.
  // The configuration goes through standard input: a command line would show the password to every user of the machine.
  child.stdin.end(configuration(folder, address, isDurable));
  child.unref();
  while (failure === undefined) {
    const answer = await askServer(address);
    if (answer !== "absent" && answer !== "silent" && !answer.loading && answer.pid === child.pid) return answer.pid;
    await pause(POLL_MS);
  }
  const tail = (await readFile(logFile(folder), "utf8").catch(() => "")).trim().split("\n").slice(-3).join("; ");
  throw new MillraceError(
    "unavailable",
    `the embedded Redis (${binary}) did not start: ${failure}. Its log ends: ${tail}`,
  );
}

export interface ServerAnswer {
  readonly pid: number;
  /** The data folder of the server. */
  readonly folder: string;
  /** True while the server loads its data. */
  readonly loading: boolean;
  /** True while a millrace process that started or adopted the server is connected to it. */
  readonly owned: boolean;
}

/**
 * Asks the server at an address. `absent`: no program listens. `silent`: a program listens and does not answer, or
 * refuses to.
 */
export async function askServer(address: ServerAddress): Promise<"absent" | "silent" | ServerAnswer> {
  const client = new Redis({
    ...parseRedisUrl(serverUrl(address)),
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
  });
  client.on("error", () => {}); // Each command rejects with the reason.
  try {
    await client.connect();
  } catch {
    client.disconnect();
    return "absent";
  }
  try {
    const info = await client.info();
    const [, folder = ""] = (await client.config("GET", "dir")) as string[];
    const clients = String(await client.client("LIST"));
    return {
      pid: Number(/^process_id:(\d+)/m.exec(info)?.[1]),
      loading: /^loading:1/m.test(info),
      folder,
      owned: clients.includes(` name=${OWNER_NAME} `),
    };
  } catch {
    return "silent";
  } finally {
    client.disconnect();
  }
}

/**
 * True while the process lives and its working directory is `folder`, where the server changes to. The working
 * directory is checked only on Linux; there a zombie does not count as living.
 */
export async function runsIn(pid: number, folder: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return (await readlink(`/proc/${pid}/cwd`)) === folder;
  } catch {
    return false;
  }
}

/** The log file of the server. */
export function logFile(folder: string): string {
  return join(folder, "redis.log");
}

function configuration(folder: string, address: ServerAddress, isDurable: boolean): string {
  const listen =
    "socket" in address
      ? ["port 0", `unixsocket ${quoted(address.socket)}`, "unixsocketperm 700"]
      : [`port ${address.port}`, `bind ${address.host}`, `requirepass ${address.password}`];
  return [
    ...listen,
    "protected-mode yes",
    "daemonize no",
    `dir ${quoted(folder)}`,
    `logfile ${quoted(logFile(folder))}`,
    `appenddirname ${APPEND_ONLY_FOLDER}`,
    `appendonly ${isDurable ? "yes" : "no"}`,
    "appendfsync everysec",
    'save ""',
    "maxmemory-policy noeviction",
    // The upkeep of an idle server would wake it ten times a second. What expires is found when it is asked for.
    "hz 1",
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A private Restate server: a child process on free loopback ports, with its data in a folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { endWithThisProcess } from "../../../src/node/lifeline.ts";

/**
 * Restate's defaults, with which answered calls are durable and ended invocations are kept for a day, except for
 * settings that make it faster here: 4 partitions instead of 24, which on two cores cost half the CPU for the same
 * runs; room for all invocations of W5 at once, so that none waits; and a log without unneeded lines, because logging
 * is work too.
 */
const CONFIGURATION = `
node-name = "bench"
default-num-partitions = 4
listen-mode = "tcp"
bind-ip = "127.0.0.1"
use-random-ports = true
disable-telemetry = true
log-format = "json"
log-filter = "warn,restate_core::network::net_util=info,restate_ingress_http=info"

[worker.invoker]
concurrent-invocations-limit = 4000
`;

const START_MS = 30_000;
const INGRESS = "http-ingress-server";
const ADMIN = "admin-api-server";

export interface RestateServer {
  readonly pid: number;
  readonly ingressPort: number;
  readonly adminPort: number;
  /** Rejects when the server ends before `stop`; never resolves. */
  readonly broken: Promise<never>;
  /** Kills the server with SIGKILL. Idempotent. */
  stop(): Promise<void>;
}

/** Resolves when the server listens on both ports. `folder` must exist. */
export async function startRestateServer(folder: string): Promise<RestateServer> {
  const configuration = join(folder, "restate.toml");
  const log = join(folder, "restate.log");
  writeFileSync(configuration, CONFIGURATION);
  const errors = openSync(log, "a");
  const server = spawn(
    binary(),
    ["--config-file", configuration, "--base-dir", join(folder, "restate"), "--no-logo"],
    // An environment without the caller's variables, because settings in them would override the file's.
    { env: { DO_NOT_TRACK: "1" }, stdio: ["ignore", "pipe", errors] },
  );
  closeSync(errors);
  let stopping = false;
  const broken = once(server, "exit").then(([code, signal]): Promise<never> => {
    if (stopping) return new Promise(() => {});
    throw new Error(`the Restate server ended with ${signal ?? `status ${code}`}; its errors are in ${log}`);
  });
  broken.catch(() => {}); // Callers that wait for the server race against `broken`.
  const cancelKill = endWithThisProcess(server.pid!);

  async function stop(): Promise<void> {
    stopping = true;
    cancelKill();
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  }

  try {
    const ports = await Promise.race([listeningPorts(server), broken]);
    return { pid: server.pid!, ingressPort: ports.get(INGRESS)!, adminPort: ports.get(ADMIN)!, broken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function binary(): string {
  const name = `restate-server-${process.platform}-${process.arch}`;
  return fileURLToPath(new URL(`./node_modules/@restatedev/${name}/bin/restate-server`, import.meta.url));
}

interface LogLine {
  readonly span?: { readonly server_name?: string; readonly "server.port"?: number };
}

/** Reads the ports from the server's log. Answers them by the names of their listeners. */
function listeningPorts(server: ChildProcess): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  const listening = new Promise<typeof ports>((resolve) => {
    createInterface(server.stdout!).on("line", (line) => {
      if (!line.startsWith("{")) return; // The server's libraries print other lines.
      const { span } = JSON.parse(line) as LogLine;
      if (span?.server_name === undefined || span["server.port"] === undefined) return;
      ports.set(span.server_name, span["server.port"]);
      if (ports.has(INGRESS) && ports.has(ADMIN)) resolve(ports);
    });
  });
  const deadline = pause(START_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the Restate server did not listen after ${START_MS} ms`);
  });
  return Promise.race([listening, deadline]);
}

/** `millrace autoscale`: starts and stops agents on this machine, or wherever its command starts them, as jobs wait. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { MillraceClient } from "../../../../clients/typescript/src/index.ts";
import { AgentSlots } from "../../../autoscale/agent-slots.ts";
import { Autoscaler, type Observation } from "../../../autoscale/autoscaler.ts";
import { systemClock } from "../../../domain/clock.ts";
import { parseDuration } from "../../../domain/durations.ts";
import { OF_THE_USER } from "../../agent-environment.ts";
import { UsageError } from "../../command-line.ts";
import { createLogger } from "../../logging.ts";
import { findProject, findTenantId } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

const MAX_AGENTS = 1_000;

export interface AutoscaleOptions extends RemoteOptions {
  readonly min: string;
  readonly max: string;
  readonly labels: string;
  readonly trusted?: string;
  readonly project?: string;
  readonly tenant?: string;
  readonly name: string;
  readonly slots: string;
  readonly idleTime: string;
  readonly interval: string;
  readonly dataDir: string;
  readonly command?: string;
}

/** Variables that reach an agent beside those of this process, unless this process has them. */
const STANDARDS = { MILLRACE_AGENT_DRAIN_TIMEOUT: "24h" };

/**
 * Runs until `signal`; the agents go on, and the next autoscaler on the same directory takes them up. `args` follow the
 * program of `--command`; without it, each agent is a process of this program which ends after one job.
 */
export function autoscale(args: readonly string[], options: AutoscaleOptions, signal: AbortSignal): Promise<number> {
  const bounds = readBounds(options);
  const intervalMs = durationOf("--interval", options.interval);
  const command = commandOf(options, args);
  return withServer(options, signal, async ({ client }) => {
    const log = createLogger("info");
    const query = await queryOf(client, options);
    const nameOf = (slot: number) => `${options.name}-${slot}`;
    let scaler: Autoscaler | undefined;
    const slots = AgentSlots.open({
      dataDir: options.dataDir,
      command,
      environmentOf: (slot, folder) => environmentOf(options, nameOf(slot), folder),
      log,
      onEnded: (end) => scaler?.ended(end),
    });
    try {
      scaler = new Autoscaler({ slots, bounds, nameOf, clock: systemClock, log });
      while (!signal.aborted) {
        await observe(client, query, signal).then(
          (found) => scaler!.adjust(found),
          (error: unknown) => {
            signal.throwIfAborted();
            log.warn({ error: String(error) }, "the demand could not be read: the number of agents stays as it is");
          },
        );
        await sleep(intervalMs, undefined, { signal }).catch(() => {});
      }
    } finally {
      slots.close();
    }
    signal.throwIfAborted();
  });
}

type Query = NonNullable<Parameters<typeof demandOf>[1]>;

function demandOf(
  client: MillraceClient,
  query: { labels: string; trusted?: string; projectId?: string; tenantId?: string },
  signal: AbortSignal,
) {
  return client.get("/agents/demand", { query, signal });
}

async function observe(client: MillraceClient, query: Query, signal: AbortSignal): Promise<Observation> {
  const [{ waiting }, { list }] = await Promise.all([
    demandOf(client, query, signal),
    client.get("/agents", { signal }),
  ]);
  const online = list.filter((agent) => agent.online === true);
  return { waiting, online: new Map(online.map(({ name, busy, draining }) => [name, { busy, draining }])) };
}

async function queryOf(client: MillraceClient, { labels, trusted, project, tenant }: AutoscaleOptions): Promise<Query> {
  return {
    labels,
    ...(trusted === undefined ? {} : { trusted }),
    ...(project === undefined ? {} : { projectId: (await findProject(client, project)).projectId }),
    ...(tenant === undefined ? {} : { tenantId: await findTenantId(client, tenant) }),
  };
}

function commandOf({ command }: AutoscaleOptions, args: readonly string[]): readonly [string, ...string[]] {
  if (command !== undefined) return [command, ...args];
  // This program as it runs now, also from its sources.
  return [process.execPath, ...process.execArgv, process.argv[1]!, "agent", "--once", ...args];
}

function environmentOf({ labels, slots }: AutoscaleOptions, name: string, folder: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([variable]) => !OF_THE_USER.includes(variable));
  mkdirSync(join(folder, "data"), { recursive: true, mode: 0o700 });
  return {
    ...STANDARDS,
    ...Object.fromEntries(inherited),
    MILLRACE_AGENT_NAME: name,
    MILLRACE_AGENT_SLOTS: slots,
    ...(labels === "" ? {} : { MILLRACE_AGENT_LABELS: labels }),
    MILLRACE_DATA_DIR: resolve(folder, "data"),
  };
}

function readBounds({ min, max, slots, idleTime }: AutoscaleOptions) {
  const bounds = {
    min: numberOf("--min", min, 0),
    max: numberOf("--max", max, 1),
    jobsPerAgent: numberOf("--slots", slots, 1),
    idleMs: durationOf("--idle-time", idleTime),
  };
  if (bounds.min > bounds.max) throw new UsageError("--min must not be larger than --max");
  return bounds;
}

function numberOf(option: string, text: string, least: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (value < least || value > MAX_AGENTS) {
    throw new UsageError(`${option} must be a whole number from ${least} to ${MAX_AGENTS}`);
  }
  return value;
}

function durationOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 500) throw new UsageError(`${option} must be a duration of 500ms or more, such as 90s`);
  return ms;
}

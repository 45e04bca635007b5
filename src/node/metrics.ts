/**
 * Metrics for Prometheus, read at each scrape: those of this node's kernel, and those of the whole cluster. Every node
 * reports the same cluster metrics, so that they are available while any node lives. A scrape leaves out a metric that
 * cannot be read.
 */
import type { Registry } from "prom-client";
import type { KernelCounters } from "../../actors/kernel/kernel-context.ts";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import type { WaitingLane } from "../board/board-queue.ts";
import { within } from "../domain/work/within.ts";
import type { FamilyName, LabelsOf } from "../telemetry/families.ts";
import { register, registerOne, type Series } from "../telemetry/register.ts";
import { readAgents, readWaits } from "./agent-metrics.ts";

export interface WorkerFigures {
  readonly counters: KernelCounters;
  /** The shards that this node owns and has opened. */
  readonly owned: () => readonly number[];
}

/** Registers the metrics of this node's kernel and of the shards that it owns. */
export function registerWorkerMetrics(registry: Registry, { counters, owned }: WorkerFigures): void {
  registerOne(registry, "millrace_kernel_turns_total", () => counters.turns);
  register(registry, "millrace_kernel_messages_total", () => [
    [{ outcome: "decided" }, counters.decided],
    [{ outcome: "late" }, counters.late],
    [{ outcome: "dead_letter" }, counters.deadLetters],
  ]);
  registerOne(registry, "millrace_kernel_conflicts_total", () => counters.conflicts);
  registerOne(registry, "millrace_kernel_faults_total", () => counters.faults);
  register(registry, "millrace_kernel_aggregates", () => [
    [{ state: "active" }, counters.activations],
    [{ state: "parked" }, counters.parked],
    [{ state: "unreadable" }, counters.unreadable],
  ]);
  register(registry, "millrace_kernel", () => Object.entries(counters).map(([kind, value]) => [{ kind }, value]));
  registerOne(registry, "millrace_shards_owned", () => owned().length);
}

export interface ClusterFigures {
  readonly context: ClusterContext;
  /** The lanes of the board on which offers wait. */
  readonly lanes: () => Promise<readonly WaitingLane[]>;
}

/** Shorter than the usual timeout of a scrape (10 s). */
const READ_WITHIN_MS = 2_000;

/** Registers the metrics of the cluster. A metric that cannot be read within two seconds is left out of the scrape. */
export function registerClusterMetrics(registry: Registry, { context, lanes }: ClusterFigures): void {
  const { nodes, inspection, stores, clock, log } = context;
  const mailboxes = shareReads(() => inspection.states());
  const agents = shareReads(() => readAgents(context));

  const registerRead = <Name extends FamilyName>(name: Name, read: () => Promise<readonly Series<Name>[]>): void =>
    register(registry, name, () =>
      within(READ_WITHIN_MS, name, read()).catch((error: unknown): readonly Series<Name>[] => {
        log.debug({ metric: name, error: String(error) }, "a metric could not be read");
        return [];
      }),
    );
  const ofShards = (name: "millrace_mailbox_oldest_seconds" | "millrace_shard_epoch", read: () => Promise<Shards>) =>
    registerRead(name, async () => (await read()).map(([shard, value]) => [{ shard: String(shard) }, value]));

  registerRead("millrace_nodes", async () => [[{}, (await nodes.list()).length]]);
  registerRead("millrace_mailbox_depth", async () =>
    (await mailboxes()).flatMap(({ shard, depth }) =>
      Object.entries(depth).map(([state, value]) => [{ shard: String(shard), state }, value] as const),
    ),
  );
  ofShards("millrace_mailbox_oldest_seconds", async () => {
    const now = clock.now();
    const states = await mailboxes();
    return states.map(({ shard, waitingSince }) => [shard, Math.max(0, now - (waitingSince ?? now)) / 1_000]);
  });
  ofShards("millrace_shard_epoch", async () => [...(await stores.shards.epochs())]);
  registerRead("millrace_dead_letters", async () => [[{}, await stores.deadLetters.count()]]);
  registerRead("millrace_agents", async () => byState((await agents()).agents));
  registerRead("millrace_agent_slots", async () => byState((await agents()).slots));
  registerRead("millrace_jobs_running", async () => [[{}, (await agents()).slots.busy]]);
  registerRead("millrace_jobs_waiting", async () =>
    Object.entries(await readWaits(context, await lanes())).map(([reason, count]) => [{ reason }, count]),
  );
}

type Shards = readonly (readonly [shard: number, value: number])[];

function byState(counts: object): readonly (readonly [LabelsOf<"millrace_agents">, number])[] {
  return Object.entries(counts).map(([state, count]: [string, number]) => [{ state }, count]);
}

/** Lets concurrent calls share one read, because several gauges of a scrape need the same answer. */
function shareReads<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read().finally(() => (reading = undefined)));
}

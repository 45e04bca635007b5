/**
 * Metrics for Prometheus, read at each scrape: those of this node's kernel, and those of the whole cluster. Every node
 * reports the same cluster metrics, so that they are available while any node lives. A scrape leaves out a metric that
 * cannot be read.
 */
import { Gauge, type Registry } from "prom-client";
import type { KernelCounters } from "../../actors/kernel/kernel-context.ts";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import { within } from "../domain/within.ts";

export interface WorkerFigures {
  readonly counters: KernelCounters;
  /** The shards that this node owns and has opened. */
  readonly owned: () => readonly number[];
}

/** Registers the metrics of this node's kernel and of the shards that it owns. */
export function registerWorkerMetrics(registry: Registry, { counters, owned }: WorkerFigures): void {
  registry.registerMetric(
    new Gauge({
      name: "millrace_kernel",
      help: "Totals of the kernel since the start of the process, by kind; `activations`, `parked` and `unreadable` are current numbers",
      labelNames: ["kind"],
      registers: [],
      collect() {
        for (const [kind, value] of Object.entries(counters)) this.set({ kind }, value);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "millrace_shards_owned",
      help: "Shards that this node owns",
      registers: [],
      collect() {
        this.set(owned().length);
      },
    }),
  );
}

/** One value of a metric with its labels. */
type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

interface ClusterMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: () => Promise<readonly Series[]>;
}

/** Shorter than the usual timeout of a scrape (10 s). */
const READ_WITHIN_MS = 2_000;

/** Registers the metrics of the cluster. A metric that cannot be read within two seconds is left out of the scrape. */
export function registerClusterMetrics(registry: Registry, context: ClusterContext): void {
  const { nodes, inspection, stores, clock } = context;
  const mailboxes = shareReads(() => inspection.states());
  const metrics: readonly ClusterMetric[] = [
    {
      name: "millrace_nodes",
      help: "Living nodes of any role; the same on every node",
      labels: [],
      read: async () => [[{}, (await nodes.list()).length]],
    },
    {
      name: "millrace_mailbox_depth",
      help: "Envelopes in the mailbox of a shard, by state; the same on every node",
      labels: ["shard", "state"],
      read: async () =>
        (await mailboxes()).flatMap(({ shard, depth }) =>
          Object.entries(depth).map(([state, value]): Series => [{ shard: String(shard), state }, value]),
        ),
    },
    {
      name: "millrace_mailbox_oldest_seconds",
      help: "How long the oldest waiting envelope of a shard has waited, 0 when none waits; the same on every node",
      labels: ["shard"],
      read: async () =>
        (await mailboxes()).map(({ shard, waitingSince }): Series => {
          const now = clock.now();
          return [{ shard: String(shard) }, Math.max(0, now - (waitingSince ?? now)) / 1_000];
        }),
    },
    {
      name: "millrace_shard_epoch",
      help: "Grows each time that a shard gets another owner; the same on every node",
      labels: ["shard"],
      read: async () =>
        [...(await stores.shards.epochs())].map(([shard, epoch]): Series => [{ shard: String(shard) }, epoch]),
    },
    {
      name: "millrace_dead_letters",
      help: "Messages in the store that their actor could not decide; the same on every node",
      labels: [],
      read: async () => [[{}, await stores.deadLetters.count()]],
    },
  ];
  for (const metric of metrics) registry.registerMetric(gaugeOf(context, metric));
}

function gaugeOf({ log }: ClusterContext, { name, help, labels, read }: ClusterMetric): Gauge {
  return new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [],
    async collect() {
      const series = await within(READ_WITHIN_MS, name, read()).catch((error: unknown): readonly Series[] => {
        log.debug({ metric: name, error: String(error) }, "a metric could not be read");
        return [];
      });
      // `reset` would set a metric without labels to 0.
      if (labels.length === 0) this.remove();
      else this.reset();
      for (const [values, value] of series) this.set(values, value);
    },
  });
}

/** Lets concurrent calls share one read, because several gauges of a scrape need the same answer. */
function shareReads<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read().finally(() => (reading = undefined)));
}

/** Figures of the kernel and its mailboxes for Prometheus, read when they are asked for. */
import { Gauge, type Registry } from "prom-client";
import type { KernelCounters } from "../../actors/kernel/kernel-context.ts";

export interface WorkerFigures {
  readonly counters: KernelCounters;
  /** Envelopes that wait, by owned shard. */
  readonly depths: () => Promise<readonly { readonly shard: number; readonly depth: number }[]>;
}

export function registerWorkerMetrics(registry: Registry, { counters, depths }: WorkerFigures): void {
  registry.registerMetric(
    new Gauge({
      name: "millrace_kernel",
      help: "Totals of the kernel since the start of the process, by kind; `parked` is the current number",
      labelNames: ["kind"],
      registers: [],
      collect() {
        for (const [kind, value] of Object.entries(counters)) this.set({ kind }, value);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "millrace_mailbox_depth",
      help: "Envelopes that wait in the mailboxes of the shards that this node owns",
      labelNames: ["shard"],
      registers: [],
      async collect() {
        this.reset();
        for (const { shard, depth } of await depths()) this.set({ shard: String(shard) }, depth);
      },
    }),
  );
}

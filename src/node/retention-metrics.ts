/** What a worker's sweeper of retention has done. */
import { Gauge, type Registry } from "prom-client";
import type { PruneFigures } from "../app/upkeep/retention-pruner.ts";
import type { Clock } from "../domain/clock.ts";

export function registerRetentionMetrics(registry: Registry, clock: Clock, figures: PruneFigures): void {
  registry.registerMetric(
    new Gauge({
      name: "millrace_retention_removed",
      help: "Runs of which this node has removed all, the logs or the events since it was started",
      labelNames: ["part"],
      registers: [],
      collect() {
        for (const [part, count] of Object.entries(figures.swept)) this.set({ part }, count);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "millrace_retention_oldest_run_seconds",
      help: "Age of the oldest run of the pipelines that this node looks after, 0 when there is none",
      registers: [],
      collect() {
        const { oldestRunAt } = figures;
        this.set(oldestRunAt === null ? 0 : (clock.now() - oldestRunAt) / 1_000);
      },
    }),
  );
}

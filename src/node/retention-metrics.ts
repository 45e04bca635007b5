/** The metrics of a worker's retention pruner. */
import { Gauge, type Registry } from "prom-client";
import type { PruneFigures } from "../app/upkeep/retention-pruner.ts";
import type { Clock } from "../domain/clock.ts";

/** Registers the metrics; `figures` are read at each scrape. */
export function registerRetentionMetrics(registry: Registry, clock: Clock, figures: PruneFigures): void {
  registry.registerMetric(
    new Gauge({
      name: "millrace_retention_removed",
      help: "Runs that this node has removed since its start, or whose logs, artifacts or events it has removed, by part",
      labelNames: ["part"],
      registers: [],
      collect() {
        for (const [part, count] of Object.entries(figures.deleted)) this.set({ part }, count);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "millrace_retention_oldest_run_seconds",
      help: "Age of the oldest run among the pipelines that this node prunes, 0 when there is none",
      registers: [],
      collect() {
        const { oldestRunAt } = figures;
        this.set(oldestRunAt === null ? 0 : (clock.now() - oldestRunAt) / 1_000);
      },
    }),
  );
}

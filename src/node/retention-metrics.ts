/** The metrics of a worker's retention pruner. */
import type { Registry } from "prom-client";
import type { PruneFigures } from "../app/upkeep/retention-pruner.ts";
import type { Clock } from "../domain/clock.ts";
import { register, registerOne, type Series } from "../telemetry/register.ts";

/** Registers the metrics; `figures` are read at each scrape. */
export function registerRetentionMetrics(registry: Registry, clock: Clock, figures: PruneFigures): void {
  const removed = () =>
    Object.entries(figures.deleted).map(([part, count]): Series<"millrace_retention_removed_total"> => [
      { part },
      count,
    ]);
  register(registry, "millrace_retention_removed_total", removed);
  register(registry, "millrace_retention_removed", removed);
  registerOne(registry, "millrace_retention_oldest_run_seconds", () => {
    const { oldestRunAt } = figures;
    return oldestRunAt === null ? 0 : (clock.now() - oldestRunAt) / 1_000;
  });
}

/** How long starts wait, as histograms: observed with the save that ends a wait. */
import { Histogram, type Registry } from "prom-client";
import type { TurnSaved } from "../../actors/kernel/kernel-context.ts";
import { measuredWaits } from "../app/runs/measured-waits.ts";

const MINUTE = 60;
/** Seconds. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 30, 2 * MINUTE, 10 * MINUTE];

/**
 * Registers the histograms and answers what feeds them. Each wait is observed at most once, whatever is performed again
 * after a takeover: by the node whose save ended it, and not at all when that node dies or loses the answer of the save.
 */
export function registerStartMetrics(registry: Registry): TurnSaved {
  const phases = new Histogram({
    name: "millrace_start_wait_seconds",
    help: "What the starts of runs and steps waited for, by phase: plan, agent, start",
    labelNames: ["phase"] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  const total = new Histogram({
    name: "millrace_trigger_to_start_seconds",
    help: "From a trigger to the start of the first step of each job that waited for no other job",
    buckets: BUCKETS,
    registers: [registry],
  });
  return (changed, before) => {
    for (const { wait, ms } of measuredWaits(changed, before)) {
      if (wait === "total") total.observe(ms / 1_000);
      else phases.observe({ phase: wait }, ms / 1_000);
    }
  };
}

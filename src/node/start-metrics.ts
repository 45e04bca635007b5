/** Histograms of how long runs and steps wait for their start. The save that ends a wait observes it. */
import { Histogram, type Registry } from "prom-client";
import type { TurnSaved } from "../../actors/kernel/kernel-context.ts";
import { startWaitsOf } from "../app/runs/start-waits.ts";

const MINUTE = 60;
/** Upper bounds of the buckets, seconds. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 30, 2 * MINUTE, 10 * MINUTE];

/**
 * Registers the histograms, and answers the function that the kernel calls after each save. The node whose save ended a
 * wait observes it. Each wait is observed at most once, also after a takeover; it is not observed when that node dies
 * or loses the answer of the save.
 */
export function registerStartMetrics(registry: Registry): TurnSaved {
  const phases = new Histogram({
    name: "millrace_start_wait_seconds",
    help: "How long runs and steps waited for their start, by phase: plan, agent, start",
    labelNames: ["phase"] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  const total = new Histogram({
    name: "millrace_trigger_to_start_seconds",
    help: "Time from the trigger of a run to the start of the first step of each job that waited for no other job",
    buckets: BUCKETS,
    registers: [registry],
  });
  return (changed, before) => {
    for (const { wait, ms } of startWaitsOf(changed, before)) {
      if (wait === "total") total.observe(ms / 1_000);
      else phases.observe({ phase: wait }, ms / 1_000);
    }
  };
}

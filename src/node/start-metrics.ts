/** What the saves of runs tell the metrics: how long runs and steps waited for their start, and what has ended. They are logged, too. */
import type { Registry } from "prom-client";
import type { TurnSaved } from "../../actors/kernel/kernel-context.ts";
import { countEnds } from "../app/runs/run-meters.ts";
import { logChanges } from "../app/runs/log-changes.ts";
import { startWaitsOf } from "../app/runs/start-waits.ts";
import type { Logger } from "../domain/logger.ts";
import { bucketsOf } from "../telemetry/families.ts";
import { Histogram } from "../telemetry/histogram.ts";
import { registerRunMeters, split } from "../telemetry/meter-metrics.ts";
import { Histograms, type Meters } from "../telemetry/meters.ts";
import { register, registerOne } from "../telemetry/register.ts";

/**
 * Registers the families, and answers the function that the kernel calls after each save. The node whose save ended a
 * wait observes it. Each wait is observed at most once, also after a takeover; it is not observed when that node dies
 * or loses the answer of the save.
 */
export function registerStartMetrics(registry: Registry, meters: Meters, log: Logger): TurnSaved {
  const phases = new Histograms("millrace_start_wait_seconds");
  const total = new Histogram(bucketsOf("millrace_trigger_to_start_seconds"));
  register(registry, "millrace_start_wait_seconds", () => split(phases.all, ["phase"]));
  registerOne(registry, "millrace_trigger_to_start_seconds", () => total);
  registerRunMeters(registry, meters);
  return (changed, before, head) => {
    for (const { wait, ms } of startWaitsOf(changed, before)) {
      if (wait === "total") total.observe(ms / 1_000);
      else phases.of(wait).observe(ms / 1_000);
    }
    countEnds(meters, changed, before, head);
    logChanges(log, changed, before);
  };
}

/** Metrics of the process: processor time, memory, and how late its event loop is. */
import type { Registry } from "prom-client";
import { bucketsOf } from "./families.ts";
import { Histogram } from "./histogram.ts";
import { register, registerOne } from "./register.ts";

const TICK_MS = 100;
/** Ticks that one delay counts at most: more would be the suspension of a machine. */
const MISSED_TICKS = 600;

/** Registers the metrics. The answer ends the measurement of the event loop. */
export function registerProcessMetrics(registry: Registry, version: string): () => void {
  const delay = new Histogram(bucketsOf("millrace_event_loop_delay_seconds"));
  const stop = measureLoop(delay);
  registerOne(registry, "millrace_event_loop_delay_seconds", () => delay);
  register(registry, "millrace_build_info", () => [[{ version, node: process.version }, 1]]);
  registerOne(registry, "process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registerOne(registry, "process_resident_memory_bytes", () => process.memoryUsage.rss());
  registerOne(registry, "process_start_time_seconds", () => Math.round(performance.timeOrigin) / 1_000);
  registerOne(registry, "nodejs_heap_size_used_bytes", () => process.memoryUsage().heapUsed);
  registerOne(registry, "nodejs_external_memory_bytes", () => process.memoryUsage().external);
  return stop;
}

/**
 * Observes at each tick how late it is. While the loop hangs, no tick comes: each one that was missed counts as well, with
 * the delay that it would have had. Otherwise a loop that hangs for seconds would be one observation among many.
 */
function measureLoop(delay: Histogram): () => void {
  let dueAt = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const lateMs = Math.max(0, performance.now() - dueAt);
    for (let missed = 0; missed < MISSED_TICKS && lateMs >= missed * TICK_MS; missed++) {
      delay.observe((lateMs - missed * TICK_MS) / 1_000);
    }
    dueAt = performance.now() + TICK_MS;
  }, TICK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

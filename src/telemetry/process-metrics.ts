/** Metrics of the process: processor time, memory, and how late its event loop is. */
import type { Registry } from "prom-client";
import { bucketsOf } from "./families.ts";
import { Histogram } from "./histogram.ts";
import { LoopDelay } from "./loop-delay.ts";
import { register, registerOne } from "./register.ts";

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

/** The answer ends the measurement. */
function measureLoop(delays: Histogram): () => void {
  const delay = new LoopDelay(delays, performance.now());
  let measured = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  const tick = (): void => {
    const now = performance.eventLoopUtilization();
    const { active } = performance.eventLoopUtilization(now, measured);
    measured = now;
    timer = setTimeout(tick, delay.tick(performance.now(), active)).unref();
  };
  timer = setTimeout(tick, 0).unref();
  return () => clearTimeout(timer);
}

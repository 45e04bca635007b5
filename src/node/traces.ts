/** The exporter of the traces of ended runs, and its metrics. */
import { hostname } from "node:os";
import type { Registry } from "prom-client";
import { type Clock, systemTimers } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import { OtlpExporter } from "../telemetry/otlp-exporter.ts";
import { register } from "../telemetry/register.ts";
import type { TraceTarget } from "../settings/traces.ts";
import { packageVersion } from "./package-root.ts";
import type { Teardown } from "./teardown.ts";

interface ExporterParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

export function startExporter(
  { url, headers, serviceName }: TraceTarget,
  { clock, log, registry }: ExporterParts,
  teardown: Teardown,
): OtlpExporter {
  const version = packageVersion();
  const resource = { "service.name": serviceName, "service.version": version, "host.name": hostname() };
  const exporter = new OtlpExporter({ url, headers, resource, version, clock, timers: systemTimers, log });
  teardown.add("the exporter of traces", () => exporter.stop());
  register(registry, "millrace_spans_total", () =>
    Object.entries(exporter.figures).map(([outcome, count]: [string, number]) => [{ outcome }, count]),
  );
  return exporter;
}

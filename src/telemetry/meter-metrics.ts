/** Registers what the meters of a node count. Each role registers what only its nodes count. */
import type { Registry } from "prom-client";
import type { FamilyName, LabelsOf, NamesOf } from "./families.ts";
import type { CallMeter, Meters } from "./meters.ts";
import { register, registerOne, type Series } from "./register.ts";

/** Series of figures by the values of their labels, which are joined by spaces in the order of `labels`. */
export function* split<Name extends FamilyName>(
  figures: ReadonlyMap<string, Series<Name>[1]>,
  labels: readonly (keyof LabelsOf<Name> & string)[],
): Iterable<Series<Name>> {
  for (const [key, value] of figures) {
    const values = key.split(" ");
    yield [Object.fromEntries(labels.map((label, at) => [label, values[at]!])) as LabelsOf<Name>, value];
  }
}

/** Registers the calls of the store, of Redis and of the object storage, which nodes of every role make. */
export function registerCallMetrics(registry: Registry, { storeCalls, redisCalls, objectCalls }: Meters): void {
  const calls = <Seconds extends NamesOf<"histogram">, Errors extends NamesOf<"counter">>(
    meter: CallMeter,
    [seconds, errors]: readonly [Seconds, Errors],
    labels: readonly (keyof LabelsOf<Seconds> & keyof LabelsOf<Errors> & string)[],
  ) => {
    register(registry, seconds, () => split<Seconds>(meter.seconds.all as never, labels));
    register(registry, errors, () => split<Errors>(meter.errors.all as never, labels));
  };
  calls(storeCalls, ["millrace_store_call_seconds", "millrace_store_errors_total"], ["store", "operation"]);
  calls(redisCalls, ["millrace_redis_call_seconds", "millrace_redis_errors_total"], ["command"]);
  calls(objectCalls, ["millrace_object_storage_call_seconds", "millrace_object_storage_errors_total"], ["operation"]);
}

/**
 * Registers the runs that a node creates, and the runs, jobs and steps whose beginnings and ends it saves. Edges and gateways create
 * the runs that are asked for, and workers those of schedules and hooks. Workers save most beginnings and ends, and the creator of
 * a run those of its first turn.
 */
export function registerRunMeters(registry: Registry, meters: Meters): void {
  register(registry, "millrace_runs_created_total", () => split(meters.runsCreated.all, ["trigger"]));
  register(registry, "millrace_runs_ended_total", () => split(meters.runsEnded.all, ["status", "trigger"]));
  register(registry, "millrace_run_seconds", () => split(meters.runSeconds.all, ["status"]));
  registerOne(registry, "millrace_jobs_started_total", () => meters.totals.jobsStarted);
  register(registry, "millrace_jobs_ended_total", () => split(meters.jobsEnded.all, ["status"]));
  register(registry, "millrace_steps_ended_total", () => split(meters.stepsEnded.all, ["status"]));
  register(registry, "millrace_step_seconds", () => split(meters.stepSeconds.all, ["status"]));
}

/** Registers the turns of a worker, and its deliveries to receivers of webhooks and notifications. */
export function registerTurnMeters(registry: Registry, { turns, deliveries }: Meters): void {
  registerOne(registry, "millrace_turn_seconds", () => turns);
  register(registry, "millrace_deliveries_total", () => split(deliveries.all, ["outcome", "channel"]));
}

/** Registers the calls that a gateway answers, and the log lines that it stores. */
export function registerGatewayMeters(registry: Registry, meters: Meters): void {
  register(registry, "millrace_grpc_call_seconds", () => split(meters.grpcCalls.all, ["method", "code"]));
  register(registry, "millrace_grpc_streams_total", () => split(meters.grpcStreams.all, ["method", "code"]));
  register(registry, "millrace_grpc_streams_open", () => split(meters.openStreams.all, ["method"]));
  register(registry, "millrace_grpc_stream_messages_total", () =>
    split(meters.streamMessages.all, ["method", "direction"]),
  );
  registerOne(registry, "millrace_log_lines_total", () => meters.totals.lines);
  registerOne(registry, "millrace_log_bytes_total", () => meters.totals.bytes);
}

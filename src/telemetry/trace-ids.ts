/**
 * Ids of traces and spans, made from the ids of runs, jobs and steps. So every node makes the same ids, nothing has to be
 * stored, and what is sent twice has one id. Source: W3C Trace Context.
 */
import { hash } from "node:crypto";
import type { JobRunId, RunId, StepRunId } from "../domain/ids.ts";

/** A span of another program. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The trace flags, 0 to 255; 1 says that the caller has recorded the span. */
  readonly flags: number;
}

/** 32 hexadecimal digits: a run is a trace. */
export function traceIdOf(runId: RunId): string {
  return digitsOf("trace", runId, 32);
}

/** 16 hexadecimal digits. */
export function spanIdOf(id: RunId | JobRunId | StepRunId): string {
  return digitsOf("span", id, 16);
}

/** The `traceparent` that a step hands on to the programs that it starts. */
export function traceparentOf(runId: RunId, stepRunId: StepRunId): string {
  return `00-${traceIdOf(runId)}-${spanIdOf(stepRunId)}-01`;
}

/** Undefined for a text that is no `traceparent`. Later versions of the format may have more at the end. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [found, version, traceId, spanId, flags, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/.exec(text) ?? [];
  if (found === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, flags: Number.parseInt(flags!, 16) };
}

/** Ids of objects have random parts, so the first digits of a hash are not all zero. */
function digitsOf(what: string, id: string, digits: number): string {
  return hash("sha256", `${what} ${id}`).slice(0, digits);
}

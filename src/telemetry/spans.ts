/** Spans, and their form in the OpenTelemetry protocol: OTLP over HTTP with JSON, opentelemetry-proto 1.x. */
import type { SpanContext } from "./trace-ids.ts";

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span extends Omit<SpanContext, "flags"> {
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: "server" | "internal";
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly SpanContext[];
  /** Why the work failed; null when it did not. */
  readonly error: string | null;
}

/** Takes spans for a receiver. */
export interface SpanSink {
  /** Resolves when the spans are sent, or kept to be sent later. Never rejects, and never waits for long. */
  export(spans: readonly Span[]): Promise<void>;
}

const KINDS = { internal: 1, server: 2 } as const;
const STATUS_ERROR = 2;
const SAMPLED = 1;

/** The body of an `ExportTraceServiceRequest`. */
export function exportRequest(spans: readonly Span[], resource: Attributes, version: string): object {
  const scope = { name: "millrace", version };
  return {
    resourceSpans: [{ resource: { attributes: listOf(resource) }, scopeSpans: [{ scope, spans: spans.map(written) }] }],
  };
}

function written({ parentSpanId, kind, startMs, endMs, attributes, error, ...span }: Span): object {
  return {
    ...span,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: listOf(attributes),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
    flags: SAMPLED,
  };
}

/** 64-bit numbers are texts in JSON. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function listOf(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

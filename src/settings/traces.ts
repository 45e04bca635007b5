/** The settings of traces: their rows in the table of settings, and their checks. */
import { z } from "zod";
import type { Setting } from "./setting.ts";

export const TRACE_SETTING_ROWS = {
  MILLRACE_OTLP_ENDPOINT: {
    group: "Traces",
    standard: null,
    without: "that of `OTEL_EXPORTER_OTLP_ENDPOINT`",
    meaning:
      "Where workers send [the traces of ended runs](operations.md#traces), such as `http://collector:4318`: OTLP over HTTP with JSON. `/v1/traces` is added unless the address ends with it.",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: "Traces",
    standard: null,
    without: "nothing is sent",
    meaning: "The same, under the name that other programs use too.",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    group: "Traces",
    standard: null,
    without: "none",
    meaning: "Headers of these requests, `name=value` separated by commas, values percent-encoded. They may be secret.",
  },
  OTEL_SERVICE_NAME: { group: "Traces", standard: "millrace", meaning: "`service.name` of the traces." },
} as const satisfies Record<string, Setting>;

export interface TraceTarget {
  /** The whole URL, with `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
}

const PATH = "/v1/traces";

const endpoint = z.string().transform((text, check): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") {
    const path = url.pathname.replace(/\/+$/, "");
    return `${url.origin}${path.endsWith(PATH) ? path : `${path}${PATH}`}`;
  }
  check.addIssue("must be an address such as http://collector:4318, without credentials");
  return z.NEVER;
});

const headers = z.string().transform((text, check): Readonly<Record<string, string>> => {
  try {
    const pairs = text.split(",").map((part) => {
      const [, name, value] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(part) ?? [];
      return [name!.toLowerCase(), decodeURIComponent(value!)];
    });
    return Object.fromEntries(pairs) as Record<string, string>;
  } catch {
    check.addIssue("must be name=value, separated by commas, with percent-encoded values");
    return z.NEVER;
  }
});

export const TRACE_SETTINGS = {
  MILLRACE_OTLP_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.default({}),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).default("millrace"),
} as const satisfies Record<keyof typeof TRACE_SETTING_ROWS, z.ZodType>;

/** Null when no receiver is named. */
export function traceTarget(read: Readonly<z.output<z.ZodObject<typeof TRACE_SETTINGS>>>): TraceTarget | null {
  const url = read.MILLRACE_OTLP_ENDPOINT ?? read.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (url === undefined) return null;
  return { url, headers: read.OTEL_EXPORTER_OTLP_HEADERS, serviceName: read.OTEL_SERVICE_NAME };
}

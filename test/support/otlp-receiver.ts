/**
 * A receiver of the OpenTelemetry protocol over HTTP with JSON. It reads each message by the published proto files, and
 * refuses what they do not allow: unknown fields, wrong types, and what their comments demand of ids and times.
 */
import { execFile } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ROOT } from "./pages.ts";

/** A span as the test looks at it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly flags: number }[];
  readonly status?: { readonly code: number; readonly message: string };
  readonly flags: number;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

export interface OtlpReceiver {
  /** The address, without a path. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly resources: readonly (readonly Attribute[])[];
  /** What the protocol does not allow, in words. */
  readonly faults: readonly string[];
  /** The headers of the newest request. */
  readonly headers: IncomingMessage["headers"];
  /** Answers each request with this status, and takes nothing, until it is 200 again. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

const PROTO = join(ROOT, "test/fixtures/otlp");
const REQUEST = "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest";

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const schema = await readSchema();
  const spans: ReceivedSpan[] = [];
  const resources: (readonly Attribute[])[] = [];
  const faults: string[] = [];
  let status = 200;
  let headers: IncomingMessage["headers"] = {};
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      headers = request.headers;
      if (status === 200) take(request, Buffer.concat(parts).toString());
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  function take({ method, url, headers: sent }: IncomingMessage, text: string): void {
    if (method !== "POST" || url !== "/v1/traces") faults.push(`${method} ${url}`);
    if (sent["content-type"] !== "application/json") faults.push(`content-type ${sent["content-type"]}`);
    const body = JSON.parse(text) as ExportRequest;
    try {
      fromJson(schema, withBase64Ids(body as unknown as JsonValue));
    } catch (error) {
      faults.push(String(error));
    }
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(resource.attributes);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        faults.push(...faultsOf(span));
        spans.push(span);
      }
    }
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    faults,
    get headers() {
      return headers;
    },
    answerWith: (next) => void (status = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readSchema() {
  const buf = join(ROOT, "node_modules/.bin/buf");
  const options = { encoding: "buffer", maxBuffer: 1 << 24 } as const;
  const { stdout } = await promisify(execFile)(buf, ["build", PROTO, "-o", "-#format=binpb"], options);
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, stdout)).getMessage(REQUEST)!;
}

/** The protocol writes ids in JSON as hexadecimal digits, and the rest as the mapping of protobuf says, which has base64. */
function withBase64Ids(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withBase64Ids);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, field]): [string, JsonValue] =>
    /^(traceId|spanId|parentSpanId)$/.test(key) && typeof field === "string"
      ? [key, Buffer.from(field, "hex").toString("base64")]
      : [key, withBase64Ids(field)],
  );
  return Object.fromEntries(entries);
}

/** What the comments of the proto files demand. */
function faultsOf(span: ReceivedSpan): readonly string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [isId(span.traceId, 32), "traceId"],
    [isId(span.spanId, 16), "spanId"],
    [span.parentSpanId === undefined || isId(span.parentSpanId, 16), "parentSpanId"],
    [span.name !== "", "name"],
    [Number.isInteger(span.kind), "enums are numbers"],
    [BigInt(span.startTimeUnixNano) > 0n && BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), "times"],
    [new Set(span.attributes.map(({ key }) => key)).size === span.attributes.length, "keys are unique"],
    [span.attributes.every(({ value }) => Object.keys(value).length === 1), "a value has one type"],
    [span.links.every(({ traceId, spanId }) => isId(traceId, 32) && isId(spanId, 16)), "links"],
  ];
  return rules.flatMap(([holds, rule]) => (holds ? [] : [`${rule}: ${JSON.stringify(span)}`]));
}

function isId(text: string, digits: number): boolean {
  return new RegExp(`^[0-9a-f]{${digits}}$`).test(text) && !/^0+$/.test(text);
}

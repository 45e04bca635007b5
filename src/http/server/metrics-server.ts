/**
 * The listener of `/metrics`, and of `/readyz` for nodes of every role. It is separate from the API because it needs no
 * token; it is meant for loopback.
 */
import type { Server, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import type { Readiness } from "../../app/readiness.ts";
import type { TlsSource } from "../../domain/tls.ts";
import { createListener } from "./listener.ts";

export interface MetricsServerOptions {
  readonly tls?: TlsSource | null;
  /** Absent: `/readyz` is 404. */
  readonly readiness?: () => Promise<Readiness>;
}

/**
 * Answers GET `/metrics` in the text format of Prometheus, and GET `/readyz` with 200 or 503 and the checks as JSON;
 * everything else is 404. The caller listens and closes.
 */
export function createMetricsServer(registry: Registry, { tls = null, readiness }: MetricsServerOptions = {}): Server {
  return createListener(tls, {}, (request, response) => {
    if (request.method === "GET" && request.url === "/readyz" && readiness !== undefined) {
      void answerReadiness(response, readiness);
      return;
    }
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("only GET /metrics and GET /readyz\n");
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text),
      () => response.writeHead(500, { "Content-Type": "text/plain" }).end("a metric could not be read\n"),
    );
  });
}

async function answerReadiness(response: ServerResponse, read: () => Promise<Readiness>): Promise<void> {
  const { checked, failed, reasons, warnings } = await read();
  const status = failed.length === 0 ? "ready" : "not ready";
  const body = JSON.stringify({ status, checks: checked, failed, reasons, warnings });
  response.writeHead(failed.length === 0 ? 200 : 503, { "Content-Type": "application/json" }).end(`${body}\n`);
}

/** The listener of `/metrics`. It is separate from the API because it needs no token; it is meant for loopback. */
import type { Server } from "node:http";
import type { Registry } from "prom-client";
import type { TlsSource } from "../domain/tls.ts";
import { createListener } from "./listener.ts";

/** Answers GET `/metrics` in the text format of Prometheus; everything else is 404. The caller listens and closes. */
export function createMetricsServer(registry: Registry, tls: TlsSource | null = null): Server {
  return createListener(tls, {}, (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("only GET /metrics\n");
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text),
      () => response.writeHead(500, { "Content-Type": "text/plain" }).end("a metric could not be read\n"),
    );
  });
}

/** The role `edge`: HTTP, WebSockets and the web page. Only a node with the role loads it. */
import type { Registry } from "prom-client";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import type { NodeConfig } from "../settings/config.ts";
import type { TlsSource } from "../domain/tls.ts";
import type { RateLimits } from "../domain/quotas.ts";
import type { ReadinessChecks } from "../app/readiness.ts";
import { createHttpServer } from "../http/server/server.ts";
import { attachWebSocketEndpoint } from "../ws/endpoint.ts";
import { closeServer, listen } from "./listen.ts";
import { readOidcFile } from "./oidc-file.ts";
import type { Teardown } from "./teardown.ts";

const HTTP_GRACE_MS = 5_000;

/** Starts the HTTP and WebSocket listener, and resolves with `host:port` to connect to. */
export async function startEdge(
  config: NodeConfig,
  context: ClusterContext,
  options: {
    readonly registry: Registry;
    readonly readiness: ReadinessChecks;
    readonly rateLimits: () => RateLimits;
    readonly tls: TlsSource | null;
  },
  teardown: Teardown,
): Promise<string> {
  const oidc = await readOidcFile(config.oidcFile);
  const { trustedProxies, origins, publicUrl: configured } = config;
  const { server, app, publicUrl, followers, streams } = createHttpServer(context, {
    ...options,
    oidc,
    trustedProxies,
    origins,
    publicUrl: configured ?? undefined,
  });
  const address = await listen(server, config.http, "MILLRACE_HTTP_ADDRESS");
  // Attached after `listen`, because the endpoint would treat a port in use as an error of its own. The server accepts
  // no connection before this turn of the event loop ends.
  const viewers = attachWebSocketEndpoint(context, {
    server,
    app,
    publicUrl,
    followers,
    registry: options.registry,
  });
  teardown.add("the edge", async () => {
    streams.endAll();
    // Both at the same time: the server waits for the connections of viewers too.
    await Promise.all([closeServer(server, HTTP_GRACE_MS), viewers.close()]);
  });
  return address;
}

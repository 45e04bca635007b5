/** The WebSocket endpoint at `/api/v1/ws`. It shares the listener of the HTTP edge. */
import type { IncomingMessage, Server } from "node:http";
import type Koa from "koa";
import koaWebsocket from "koa-websocket";
import { Gauge, type Registry } from "prom-client";
import type { WebSocket } from "ws";
import type { Caller } from "../app/identity/access.ts";
import type { AppContext } from "../app/context.ts";
import { RunEventFeed } from "../app/following/run-event-feed.ts";
import { admit, chooseProtocol, refusal } from "./handshake.ts";
import { Viewer } from "./viewer.ts";

const MAX_MESSAGE_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
const CLOSE_TIMEOUT_MS = 1_000;

export interface WebSocketEndpointOptions {
  /** The Koa application of the HTTP edge. */
  readonly app: Koa;
  /** The HTTP server whose upgrade requests the endpoint serves. */
  readonly server: Server;
  readonly registry: Registry;
  /** Milliseconds between pings; default 30,000. A connection that has not answered the last ping is closed at the next. */
  readonly pingMs?: number;
  /** Milliseconds for which a viewer may read nothing while messages wait for it, until it is closed; default 30,000. */
  readonly stallMs?: number;
}

export interface WebSocketEndpoint {
  /** Closes every connection with the code 1001 and resolves when all are closed. The HTTP server stays open. */
  close(): Promise<void>;
}

/** Serves WebSocket connections on the HTTP server until `close`. Registers two gauges with `options.registry`. */
export function attachWebSocketEndpoint(context: AppContext, options: WebSocketEndpointOptions): WebSocketEndpoint {
  const { registry, pingMs = 30_000, stallMs = 30_000 } = options;
  const { ws } = koaWebsocket(options.app);
  const runEvents = new RunEventFeed(context);
  const callers = new WeakMap<IncomingMessage, Caller>();
  const viewers = new Map<WebSocket, Viewer>();
  const silent = new WeakSet<WebSocket>();
  let closing = false;

  ws.use(({ websocket, req }) => {
    const caller = callers.get(req);
    if (caller === undefined || closing) {
      websocket.close(GOING_AWAY);
      return;
    }
    viewers.set(
      websocket,
      new Viewer(context, runEvents, caller, { socket: websocket, connection: req.socket }, stallMs),
    );
    websocket.on("close", () => viewers.delete(websocket));
    websocket.on("pong", () => silent.delete(websocket));
  });
  ws.listen({
    server: options.server,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: chooseProtocol,
    // The library accepts an upgrade on any path unless this function refuses it.
    verifyClient: ({ req }, verdict) => {
      admit(context, req).then(
        (caller) => {
          callers.set(req, caller);
          verdict(true);
        },
        (error: unknown) => {
          const { status, body, headers } = refusal(context, req, error);
          verdict(false, status, body, headers);
        },
      );
    },
  });

  const pinging = setInterval(() => {
    for (const websocket of viewers.keys()) {
      if (silent.has(websocket)) {
        websocket.terminate();
        continue;
      }
      silent.add(websocket);
      websocket.ping();
    }
  }, pingMs);
  pinging.unref();

  new Gauge({
    name: "millrace_viewers",
    help: "Open WebSocket connections.",
    registers: [registry],
    collect() {
      this.set(viewers.size);
    },
  });
  new Gauge({
    name: "millrace_viewer_subscriptions",
    help: "Live subscriptions of all WebSocket connections.",
    registers: [registry],
    collect() {
      this.set([...viewers.values()].reduce((sum, viewer) => sum + viewer.size, 0));
    },
  });

  return {
    async close() {
      closing = true;
      clearInterval(pinging);
      await Promise.all([...viewers.keys()].map(closeGracefully));
      ws.server?.close();
    },
  };
}

function closeGracefully(websocket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => websocket.terminate(), CLOSE_TIMEOUT_MS);
    websocket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    websocket.close(GOING_AWAY, "the server is going away");
  });
}

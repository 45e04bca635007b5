/** The WebSocket edge: shares the listener of the HTTP edge at `/api/v1/ws`. */
import type { IncomingMessage, Server } from "node:http";
import type Koa from "koa";
import koaWebsocket from "koa-websocket";
import { Gauge, type Registry } from "prom-client";
import type { WebSocket } from "ws";
import type { Caller } from "../app/identity/access.ts";
import type { AppContext } from "../app/context.ts";
import { RunTails } from "../app/following/run-tails.ts";
import { admit, chooseProtocol, refusal } from "./handshake.ts";
import { Viewer } from "./viewer.ts";

const MAX_MESSAGE_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
const LAST_WORDS_MS = 1_000;

export interface WebSocketGatewayOptions {
  /** The Koa application and the server that carry it. */
  readonly app: Koa;
  readonly server: Server;
  readonly registry: Registry;
  /** A peer that answers no ping within this time is closed; default 30 s. */
  readonly pingMs?: number;
  /** A peer that reads nothing for so long while something waits for it is closed; default 30 s. */
  readonly stallMs?: number;
}

export interface WebSocketGateway {
  /** Says goodbye to every viewer and resolves when all are gone; the server stays open. */
  close(): Promise<void>;
}

export function attachWebSocketGateway(context: AppContext, options: WebSocketGatewayOptions): WebSocketGateway {
  const { registry, pingMs = 30_000, stallMs = 30_000 } = options;
  const { ws } = koaWebsocket(options.app);
  const tails = new RunTails(context);
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
    viewers.set(websocket, new Viewer(context, tails, caller, { socket: websocket, connection: req.socket }, stallMs));
    websocket.on("close", () => viewers.delete(websocket));
    websocket.on("pong", () => silent.delete(websocket));
  });
  ws.listen({
    server: options.server,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: chooseProtocol,
    // The library takes every upgrade on every path unless this one refuses it.
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
      await Promise.all([...viewers.keys()].map(sayGoodbye));
      ws.server?.close();
    },
  };
}

function sayGoodbye(websocket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => websocket.terminate(), LAST_WORDS_MS);
    websocket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    websocket.close(GOING_AWAY, "the server is going away");
  });
}

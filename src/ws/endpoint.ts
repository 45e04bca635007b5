/** The WebSocket endpoint at `/api/v1/ws`. It shares the listener of the HTTP edge. */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type Koa from "koa";
import koaWebsocket from "koa-websocket";
import type { Registry } from "prom-client";
import type { WebSocket } from "ws";
import type { PublicUrl } from "../app/identity/request-proof.ts";
import { OpenSessions, type Proof } from "../app/identity/sessions.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AppContext } from "../app/context.ts";
import type { Followers } from "../app/following/followers.ts";
import { type OutgoingBounds, OutgoingBudget } from "../app/outgoing-budget.ts";
import { StepRunFinder } from "../app/step-runs.ts";
import { registerOne } from "../telemetry/register.ts";
import { admit, chooseProtocol, pathOf, refusal } from "./handshake.ts";
import { refuseOn, serveWithoutUpgrade } from "../http/server/no-requests.ts";
import { LogFrames } from "./log-frames.ts";
import { Viewer } from "./viewer.ts";

const MAX_MESSAGE_BYTES = 64 * 1024;
const GOING_AWAY = 1001;
/** Codes of this service, as HTTP would answer: 4401 for `unauthenticated`, 4403 for `forbidden`. */
const UNAUTHENTICATED = 4401;
const FORBIDDEN = 4403;
const CLOSE_TIMEOUT_MS = 1_000;

export interface WebSocketEndpointOptions {
  /** The Koa application of the HTTP edge. */
  readonly app: Koa;
  /** The HTTP server whose upgrade requests the endpoint serves. */
  readonly server: Server;
  readonly registry: Registry;
  readonly publicUrl: PublicUrl;
  /** Milliseconds between pings; default 30,000. A connection that has not answered the last ping is closed at the next. */
  readonly pingMs?: number;
  /** Milliseconds for which a viewer may read nothing while messages wait for it, until it is closed; default 30,000. */
  readonly stallMs?: number;
  /** What may wait for viewers that do not read. */
  readonly outgoing?: Partial<OutgoingBounds>;
  /** What the viewers share with the event streams of the same edge. */
  readonly followers: Followers;
  /** Milliseconds between two checks of the tokens of open connections. */
  readonly sessionCheckMs?: number;
}

export interface WebSocketEndpoint {
  /** Closes every connection with the code 1001 and resolves when all are closed. The HTTP server stays open. */
  close(): Promise<void>;
}

/** Serves WebSocket connections on the HTTP server until `close`. Registers two gauges with `options.registry`. */
export function attachWebSocketEndpoint(context: AppContext, options: WebSocketEndpointOptions): WebSocketEndpoint {
  const { registry, followers, pingMs = 30_000, stallMs = 30_000 } = options;
  const { ws } = koaWebsocket(options.app);
  const { limits } = followers;
  const shared = {
    followers,
    frames: new LogFrames(),
    steps: new StepRunFinder(context),
    budget: new OutgoingBudget(context.clock, options.outgoing),
  };
  const proofs = new WeakMap<IncomingMessage, Proof>();
  const sessions = new OpenSessions(context, options.sessionCheckMs);
  const viewers = new Map<WebSocket, Viewer>();
  const silent = new WeakSet<WebSocket>();
  let closing = false;

  ws.use(({ websocket, req }) => {
    const proof = proofs.get(req);
    if (proof === undefined || closing) {
      websocket.close(GOING_AWAY);
      return;
    }
    viewers.set(
      websocket,
      new Viewer(context, shared, proof.caller, { socket: websocket, connection: req.socket }, stallMs),
    );
    const leave = sessions.enter(proof, (reason) => refuse(websocket, reason));
    const disconnect = limits.connect(proof.caller);
    websocket.on("close", () => {
      viewers.delete(websocket);
      leave();
      disconnect();
    });
    websocket.on("pong", () => silent.delete(websocket));
  });
  ws.listen({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: chooseProtocol,
    // The library accepts an upgrade on any path unless this function refuses it.
    verifyClient: ({ req }, verdict) => {
      admit(context, options.publicUrl, req)
        .then((proof) => {
          limits.requireConnection(proof.caller);
          proofs.set(req, proof);
          verdict(true);
        })
        .catch((error: unknown) => {
          const { status, body, headers } = refusal(context, req, error);
          verdict(false, status, body, headers);
        });
    },
  });

  const { server } = options;
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (!isWebSocket(request)) serveWithoutUpgrade(server, request, socket, head);
    else
      ws.server?.handleUpgrade(request, socket as Socket, head, (opened) =>
        ws.server?.emit("connection", opened, request),
      );
  };
  server.on("upgrade", upgrade);
  ws.server?.on("wsClientError", (fault, socket, request) => {
    const error = new MillraceError("malformed_request", `the handshake is refused: ${fault.message}`);
    const refused = { path: pathOf(request), isHead: request.method === "HEAD" };
    refuseOn(socket, error, refused, context.clock.now(), { "Sec-WebSocket-Version": "13, 8" });
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

  registerOne(registry, "millrace_viewers", () => viewers.size);
  registerOne(registry, "millrace_viewer_subscriptions", () =>
    [...viewers.values()].reduce((sum, viewer) => sum + viewer.size, 0),
  );

  return {
    async close() {
      closing = true;
      clearInterval(pinging);
      await Promise.all(
        [...viewers.keys()].map((websocket) => closeGracefully(websocket, GOING_AWAY, "the server is going away")),
      );
      server.off("upgrade", upgrade);
      ws.server?.close();
    },
  };
}

/** Whether the request offers this protocol alone, as the library demands. */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Ends the connection of a caller whose rights are gone. A closing frame has room for 123 bytes of text. */
function refuse(websocket: WebSocket, { reason }: MillraceError): void {
  const [code, text] =
    reason === "forbidden"
      ? [FORBIDDEN, "forbidden: the caller's role or scopes were reduced: connect again"]
      : [UNAUTHENTICATED, "unauthenticated: the token is revoked or expired, or its user is disabled"];
  void closeGracefully(websocket, code, text);
}

function closeGracefully(websocket: WebSocket, code: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => websocket.terminate(), CLOSE_TIMEOUT_MS);
    websocket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    websocket.close(code, text);
  });
}

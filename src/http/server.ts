/** The HTTP edge: one Koa application over the use cases of `src/app`. */
import type { Server } from "node:http";
import Router from "@koa/router";
import Koa, { type Middleware } from "koa";
import type { Registry } from "prom-client";
import { authenticate } from "../app/identity/access.ts";
import { OpenSessions } from "../app/identity/sessions.ts";
import type { ClusterContext } from "../app/upkeep/cluster.ts";
import type { AppContext } from "../app/context.ts";
import type { ReadinessChecks } from "../app/readiness.ts";
import { MillraceError } from "../domain/errors.ts";
import type { TlsSource } from "../domain/tls.ts";
import { addApprovalRoutes } from "./approval-routes.ts";
import { addArtifactRoutes } from "./artifact-routes.ts";
import { addCacheRoutes } from "./cache-routes.ts";
import { addClusterRoutes } from "./cluster-routes.ts";
import { refuseUnmatched, translateErrors } from "./errors.ts";
import { addHealthRoutes } from "./health.ts";
import { addIdentityRoutes } from "./identity-routes.ts";
import { createListener } from "./listener.ts";
import { addLogLimitRoutes } from "./log-limit-routes.ts";
import { addTrustDemandRoutes } from "./trust-demand-routes.ts";
import { boundRequests, observeRequests, secureAnswers } from "./observe.ts";
import { addPipelineRoutes } from "./pipeline-routes.ts";
import { addPluginRoutes } from "./plugin-routes.ts";
import { addRetentionRoutes } from "./retention-routes.ts";
import { addRunRoutes } from "./run-routes.ts";
import { addSecretRoutes } from "./secret-routes.ts";
import type { RequestState } from "./state.ts";

export interface HttpServerOptions {
  readonly registry: Registry;
  /** What `/readyz` checks in addition to the store. */
  readonly readiness: ReadinessChecks;
  /** Null, the default, means plaintext. */
  readonly tls?: TlsSource | null;
  /** Milliseconds between two checks of the tokens of answers that are still being sent. */
  readonly sessionCheckMs?: number;
}

export interface HttpEdge {
  /** Does not listen yet. The caller starts and closes it. */
  readonly server: Server;
  /** For the WebSocket endpoint, which shares the listener. */
  readonly app: Koa<RequestState>;
}

const API = "/api/v1";
const PUBLIC_PATHS: readonly string[] = [`${API}/auth/login`];
/** Within this time a whole request must have arrived. */
const RECEIVE_WITHIN_MS = 60_000;
/** Within this time the headers of a request must have arrived. */
const HEADERS_WITHIN_MS = 15_000;

export function createHttpServer(context: ClusterContext, options: HttpServerOptions): HttpEdge {
  const app = new Koa<RequestState>();
  app.on("error", (error: unknown) => context.log.debug({ error: String(error) }, "a connection failed"));

  const health = new Router<RequestState>();
  addHealthRoutes(health, context, options.readiness);
  const api = new Router<RequestState>({ prefix: API });
  addIdentityRoutes(api, context);
  addRunRoutes(api, context);
  addApprovalRoutes(api, context);
  addArtifactRoutes(api, context);
  addCacheRoutes(api, context);
  addPipelineRoutes(api, context);
  addSecretRoutes(api, context);
  addPluginRoutes(api, context);
  addClusterRoutes(api, context);
  addRetentionRoutes(api, context);
  addLogLimitRoutes(api, context);
  addTrustDemandRoutes(api, context);
  api.get("/ws", () => {
    throw new MillraceError("malformed_request", "this address speaks WebSocket: send an upgrade request");
  });

  app.use(observeRequests(context, options.registry));
  app.use(secureAnswers());
  app.use(translateErrors(context));
  app.use(boundRequests());
  app.use(health.routes());
  app.use(requireBearer(context, new OpenSessions(context, options.sessionCheckMs)));
  app.use(api.routes());
  app.use(refuseUnmatched());

  const handle = app.callback();
  const timeouts = { requestTimeout: RECEIVE_WITHIN_MS, headersTimeout: HEADERS_WITHIN_MS };
  const server = createListener(options.tls ?? null, timeouts, (request, response) => {
    void handle(request, response);
  });
  return { server, app };
}

/**
 * Runs before any route below `/api/v1`, so that a caller without a token cannot learn which paths exist. A download whose
 * token is revoked is cut off: its status is sent already, and its length shows the caller that the rest is missing.
 */
function requireBearer(context: AppContext, sessions: OpenSessions): Middleware<RequestState> {
  return async (ctx, next) => {
    const needsToken = (ctx.path === API || ctx.path.startsWith(`${API}/`)) && !PUBLIC_PATHS.includes(ctx.path);
    if (needsToken) {
      const bearer = /^Bearer +(\S+) *$/i.exec(ctx.get("authorization"))?.[1] ?? "";
      const caller = await authenticate(context, bearer);
      ctx.state.caller = caller;
      const leave = sessions.enter({ bearer, caller }, () => ctx.res.destroy());
      if (ctx.res.closed) leave();
      else ctx.res.once("close", leave);
    }
    await next();
  };
}

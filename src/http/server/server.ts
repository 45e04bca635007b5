/** The HTTP edge: one Koa application over the use cases of `src/app`. */
import type { IncomingHttpHeaders, RequestListener, Server } from "node:http";
import Router from "@koa/router";
import Koa from "koa";
import type { Registry } from "prom-client";
import { DevicePaces } from "../../app/identity/device-logins.ts";
import { Followers } from "../../app/following/followers.ts";
import { LoginThrottle } from "../../app/identity/login-throttle.ts";
import { type PublicUrl, readCookie, sessionCookieName } from "../../app/identity/request-proof.ts";
import { OpenSessions } from "../../app/identity/sessions.ts";
import type { ClusterContext } from "../../app/upkeep/cluster.ts";
import type { OidcProviderSettings } from "../../app/oidc/provider-settings.ts";
import { OidcProvider } from "../../app/oidc/providers.ts";
import type { ReadinessChecks } from "../../app/readiness.ts";
import type { TlsSource } from "../../domain/tls.ts";
import { NO_RATE_LIMITS, type RateLimits } from "../../domain/quotas.ts";
import { trailGround } from "../../app/audit-ground.ts";
import { recorderOf } from "../audit.ts";
import { requireCaller } from "./authentication.ts";
import { addressReader, type Network } from "../request/caller-address.ts";
import { type DeafBounds, endDeafReaders } from "./deaf-readers.ts";
import { refuseRequest, refuseUnmatched, translateErrors } from "../errors.ts";
import { addHealthRoutes } from "../health.ts";
import { createListener, listenerUrl } from "./listener.ts";
import { refuseNoRequests } from "./no-requests.ts";
import { indexRoutes } from "./route-index.ts";
import { addForms } from "../login/forms.ts";
import { HeldRefusals } from "../login/held-refusals.ts";
import { EventStreams } from "../live/event-streams.ts";
import { LIVE_ROUTES } from "../live/live-routes.ts";
import { OPEN_LOGIN_ROUTES, SESSION_ROUTES } from "../login/login-routes.ts";
import { addOidcRoutes } from "../login/oidc-routes.ts";
import { compressJson } from "../manners/compression.ts";
import { allowOrigins, type AllowedOrigins } from "../manners/cors.ts";
import { limitRates } from "../manners/rate-limits.ts";
import { boundRequests, observeRequests, secureAnswers } from "./observe.ts";
import { boundArrival } from "../request/long-body.ts";
import { boundQuery } from "../request/query-bounds.ts";
import { slugReader } from "../request/slugs.ts";
import { originForm } from "../request/request-target.ts";
import { OPENAPI_ROUTES } from "../openapi/openapi-routes.ts";
import { addRoutes } from "../route.ts";
import { API_ROUTES } from "../routes/all.ts";
import { HookEdge, OPEN_HOOK_ROUTES } from "../routes/open-hook-routes.ts";
import { WELL_KNOWN_ROUTES } from "../routes/id-token-routes.ts";
import { webFolder } from "../../program-files.ts";
import type { RequestState } from "../request/state.ts";
import { serveWebPage } from "../web/web-page.ts";

export interface HttpServerOptions {
  readonly registry: Registry;
  /** What `/readyz` checks in addition to the store. */
  readonly readiness: ReadinessChecks;
  /** Null, the default, means plaintext. */
  readonly tls?: TlsSource | null;
  /** Networks of proxies that are believed when they name a caller; none is believed by default. */
  readonly trustedProxies?: readonly Network[] | undefined;
  /** Bounds on the calls of one caller; none by default. */
  /** A function answers the limits that count now. */
  readonly rateLimits?: RateLimits | (() => RateLimits) | undefined;
  /** Origins whose pages may call the API; none by default. */
  readonly origins?: AllowedOrigins | undefined;
  /** The address that users call, without a path; by default the address of the listener. */
  readonly publicUrl?: string | undefined;
  /** The OpenID Connect providers at which users may log in. */
  readonly oidc?: readonly OidcProviderSettings[] | undefined;
  /** Milliseconds within which headers, and then a small body, must arrive; default 15,000. */
  readonly headWithinMs?: number | undefined;
  /** Milliseconds until too many logins are refused; default 5,000. */
  readonly refuseAfterMs?: number | undefined;
  /** Bounds on the bytes that wait for callers who do not read. */
  readonly deaf?: DeafBounds;
  /** Milliseconds between two checks of the tokens of answers that are still being sent. */
  readonly sessionCheckMs?: number;
  /** What event streams share with the WebSockets of the same edge. */
  readonly followers?: Followers;
  /** The built files of the web page. Default: those of the program. */
  readonly webFolder?: string;
}

export interface HttpEdge {
  /** Does not listen yet. The caller starts and closes it. */
  readonly server: Server;
  /** For the WebSocket endpoint, which shares the listener. */
  readonly app: Koa<RequestState>;
  readonly publicUrl: PublicUrl;
  /** For the WebSocket endpoint. */
  readonly followers: Followers;
  readonly streams: EventStreams;
}

const API = "/api/v1";
/** Paths of another case are other paths: what one spelling needs, another must not go around. */
const EXACT = { sensitive: true } as const;
const NO_ADDRESS = "the request line names no address of this server";
/** Within this time a whole request must have arrived, unless its route takes a long body. */
const RECEIVE_WITHIN_MS = 60_000;
/** Within this time the headers of a request must have arrived, and then a small body. */
const HEAD_WITHIN_MS = 15_000;
/** After this time the refusal of too many logins is sent. */
const REFUSE_AFTER_MS = 5_000;
/** Between two looks for connections that are too slow; the library's own choice is 30 s. */
const CHECK_MS = 1_000;

export function createHttpServer(context: ClusterContext, options: HttpServerOptions): HttpEdge {
  const app = new Koa<RequestState>();
  app.on("error", (error: unknown) => context.log.debug({ error: String(error) }, "a connection failed"));

  const publicUrl: PublicUrl = () => options.publicUrl ?? listenerUrl(server, options.tls != null);
  const { headWithinMs = HEAD_WITHIN_MS, refuseAfterMs = REFUSE_AFTER_MS } = options;
  const addressOf = addressReader(options.trustedProxies);
  const proofOf = (headers: IncomingHttpHeaders): string =>
    headers.authorization ?? readCookie(headers, sessionCookieName(publicUrl)) ?? "";
  const health = new Router<RequestState>(EXACT);
  health.use(boundQuery());
  addHealthRoutes(health, context, options.readiness);
  const wellKnown = new Router<RequestState>(EXACT);
  wellKnown.use(boundQuery());
  addRoutes(wellKnown, context, WELL_KNOWN_ROUTES);
  const open = new Router<RequestState>({ ...EXACT, prefix: API });
  open.use(boundQuery());
  addRoutes(open, context, OPENAPI_ROUTES);
  const ground = trailGround(context);
  const logins = {
    context,
    clock: context.clock,
    addressOf,
    throttle: new LoginThrottle(),
    refusals: new HeldRefusals(refuseAfterMs),
    publicUrl,
    paces: new DevicePaces(),
    providers: (options.oidc ?? []).map((settings) => new OidcProvider(settings, context)),
  };
  addRoutes(open, logins, OPEN_LOGIN_ROUTES);
  addRoutes(open, new HookEdge(context), OPEN_HOOK_ROUTES);
  const forms = new Router<RequestState>(EXACT);
  forms.use(boundQuery());
  addForms(forms, context, logins);
  addOidcRoutes(forms, context, logins);
  const api = new Router<RequestState>({ ...EXACT, prefix: API });
  const authenticated = requireCaller(context, new OpenSessions(context, options.sessionCheckMs), publicUrl, [
    ...API_ROUTES,
    ...LIVE_ROUTES,
  ]);
  api.use(boundQuery(), authenticated);
  const recorder = recorderOf(ground, addressOf);
  const named = slugReader(context);
  addRoutes(api, context, API_ROUTES, { recorder, named });
  addRoutes(api, logins, SESSION_ROUTES, { recorder });
  const { followers = new Followers(context) } = options;
  const streams = new EventStreams(context, followers.limits);
  addRoutes(api, { clock: context.clock, followers, streams }, LIVE_ROUTES, { named });

  app.use(observeRequests(context, options.registry));
  app.use(secureAnswers({ isEncrypted: (options.tls ?? null) !== null }));
  const { origins = [] } = options;
  if (origins.length > 0) app.use(allowOrigins(origins));
  app.use(compressJson());
  app.use(translateErrors(context));
  app.use(boundRequests(headWithinMs));
  app.use(indexRoutes(health));
  const { rateLimits = NO_RATE_LIMITS } = options;
  const limits = typeof rateLimits === "function" ? rateLimits : () => rateLimits;
  app.use(limitRates(context.clock, limits, addressOf, proofOf, (path) => path.startsWith(`${API}/hooks/`)));
  app.use(indexRoutes(wellKnown));
  app.use(indexRoutes(open));
  app.use(indexRoutes(forms));
  app.use(indexRoutes(api));
  app.use(serveWebPage(options.webFolder ?? webFolder()));
  app.use(refuseUnmatched(api, authenticated));

  const handle = app.callback();
  const deafReaders = endDeafReaders(context.clock, options.deaf);
  const timeouts = {
    // The library knows no request that may take longer than the others.
    requestTimeout: 0,
    headersTimeout: headWithinMs,
    // Refused below, with the error envelope.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(CHECK_MS, headWithinMs / 4),
  };
  const serve: RequestListener = (request, response) => {
    const target = originForm(request.url ?? "");
    if (target === undefined || (request.headers.host === undefined && request.httpVersion === "1.1")) {
      const text = target === undefined ? NO_ADDRESS : "a request of HTTP/1.1 must have the header `Host`";
      refuseRequest(response, text, context.clock.now());
      return;
    }
    request.url = target;
    boundArrival(request, RECEIVE_WITHIN_MS);
    deafReaders.watch(request, response);
    void handle(request, response);
  };
  const server = createListener(options.tls ?? null, timeouts, serve);
  // An expectation that the server does not know may be ignored. Source: RFC 9110, 10.1.1
  server.on("checkExpectation", serve);
  refuseNoRequests(server, context.clock);
  deafReaders.bind(server);
  return { server, app, publicUrl, followers, streams };
}

/** What the middleware adds to a request, and the types of its contexts. */
import type Router from "@koa/router";
import type { ParameterizedContext } from "koa";
import type { Caller } from "../../app/identity/access.ts";

export interface RequestState {
  /** Echoed as `x-request-id`; names the request in the log. */
  requestId: string;
  /** Milliseconds within which a small body must arrive after its headers. */
  smallBodyWithinMs: number;
  /** Lifts the bound on the time until the answer, for a body or an answer that takes as long as it needs. */
  takeYourTime: () => void;
  /** Set for every route below `/api/v1` that needs a bearer. */
  caller: Caller;
}

export type ApiRouter = Router<RequestState>;
export type ApiContext = ParameterizedContext<RequestState>;
/** A request that matches a route. */
export type RouteContext = ApiContext & { readonly params: Readonly<Record<string, string>> };

/** The one translator of errors into HTTP answers, and the answers to requests that match no route. */
import type { ServerResponse } from "node:http";
import type { RouterContext } from "@koa/router";
import type { Middleware } from "koa";
import type { AppContext } from "../app/context.ts";
import { type ErrorEnvelope, errorEnvelope, publicError } from "../app/envelope.ts";
import { MillraceError } from "../domain/errors.ts";
import type { ApiContext, ApiRouter, RequestState } from "./request/state.ts";

/** Turns every thrown error into the error envelope. */
export function translateErrors(context: AppContext): Middleware<RequestState> {
  return answerErrors(context, (ctx, error, envelope) => {
    ctx.status = envelope.code;
    ctx.body = envelope;
    if (error.reason === "unauthenticated") ctx.set("WWW-Authenticate", "Bearer");
  });
}

/**
 * Lets `answer` show every thrown error, and says in the header when to try again. The text of an internal error goes
 * to the log alone, with the request's id.
 */
export function answerErrors(
  context: AppContext,
  answer: (ctx: ApiContext, error: MillraceError, envelope: ErrorEnvelope) => void,
): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const { requestId } = ctx.state;
      const error = publicError(thrown, `tell an administrator the request id ${requestId}`, (internal) =>
        context.log.error(
          { requestId, method: ctx.method, path: ctx.path, error: describe(internal) },
          "a request failed",
        ),
      );
      const envelope = errorEnvelope(error, ctx.path, context.clock.now());
      answer(ctx, error, envelope);
      if (error.reason === "unavailable" || envelope.code === 429) ctx.set("Retry-After", `${error.retryAfterSeconds}`);
    }
  };
}

/**
 * 404 for a path without a route, which needs no token: the routes are documented, so it tells nothing. 405 with `Allow`
 * for a method that the path does not accept; `authenticated` runs first where the path is one of `router`.
 */
export function refuseUnmatched(
  router: ApiRouter,
  authenticated: Middleware<RequestState>,
): Middleware<RequestState, Partial<Pick<RouterContext, "matched">>> {
  return async (ctx) => {
    const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new MillraceError("not_found", `there is nothing at ${ctx.path}`);
    if (router.match(ctx.path, ctx.method).path.some((layer) => layer.methods.length > 0)) {
      await authenticated(ctx, () => Promise.resolve());
    }
    ctx.set("Allow", [...methods].join(", "));
    throw new MillraceError("method_not_allowed", `${ctx.path} accepts ${[...methods].join(", ")}, not ${ctx.method}`);
  };
}

/** The answer to a request that reaches no route because its line or its headers are wrong. */
export function refuseRequest(response: ServerResponse, text: string, nowMs: number): void {
  const error = new MillraceError("malformed_request", text);
  const envelope = errorEnvelope(error, "", nowMs);
  const body = JSON.stringify(envelope);
  response.writeHead(envelope.code, {
    Connection: "close",
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

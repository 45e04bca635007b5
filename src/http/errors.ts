/** The one translator of errors into HTTP answers, and the answers to requests that match no route. */
import type { RouterContext } from "@koa/router";
import type { Middleware } from "koa";
import type { AppContext } from "../app/context.ts";
import { errorEnvelope, publicError } from "../app/envelope.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RequestState } from "./state.ts";

/** Turns every thrown error into the error envelope. The text of an internal error goes to the log alone, with the request's id. */
export function translateErrors(context: AppContext): Middleware<RequestState> {
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
      ctx.status = envelope.code;
      ctx.body = envelope;
      if (error.reason === "unauthenticated") ctx.set("WWW-Authenticate", "Bearer");
      if (error.reason === "unavailable" || envelope.code === 429) ctx.set("Retry-After", "1");
    }
  };
}

/** 404 for a path without a route; 405 with `Allow` for a method that the path does not accept. */
export function refuseUnmatched(): Middleware<RequestState, Partial<Pick<RouterContext, "matched">>> {
  return (ctx) => {
    const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new MillraceError("not_found", `there is nothing at ${ctx.path}`);
    ctx.set("Allow", [...methods].join(", "));
    throw new MillraceError("method_not_allowed", `${ctx.path} accepts ${[...methods].join(", ")}, not ${ctx.method}`);
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

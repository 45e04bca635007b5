/** Turns the result of a use case into the success envelope, and sends answers that are encoded already. */
import type { AppContext } from "../app/context.ts";
import { successEnvelope } from "../app/envelope.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RouteContext } from "./state.ts";

/** Makes a route handler that answers what `call` resolves to as `detail`; undefined leaves `detail` out. */
export function answer(
  context: AppContext,
  call: (ctx: RouteContext) => Promise<unknown>,
): (ctx: RouteContext) => Promise<void> {
  return async (ctx) => {
    const detail = await call(ctx);
    ctx.body = successEnvelope(detail, context.clock.now());
  };
}

/** Makes a route handler that answers the JSON that `call` makes. `over` fires when the caller has taken it or is gone. */
export function answerJson(
  call: (ctx: RouteContext, over: AbortSignal) => Promise<Buffer>,
): (ctx: RouteContext) => Promise<void> {
  return async (ctx) => {
    const over = new AbortController();
    const gone = () => over.abort(new MillraceError("unavailable", "the caller is gone"));
    ctx.res.once("close", gone);
    if (ctx.res.closed) gone();
    const json = await call(ctx, over.signal);
    ctx.type = "json";
    ctx.body = json;
  };
}

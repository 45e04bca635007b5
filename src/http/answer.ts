/** Turns the result of a use case into the success envelope. */
import type { AppContext } from "../app/context.ts";
import { successEnvelope } from "../app/envelope.ts";
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

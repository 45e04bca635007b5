/** `/healthz` and `/readyz`, for load balancers. They need no token. */
import type { AppContext } from "../app/context.ts";
import { successEnvelope } from "../app/envelope.ts";
import { type ReadinessChecks, readinessReader } from "../app/readiness.ts";
import { MillraceError } from "../domain/errors.ts";
import type { ApiRouter } from "./state.ts";

export function addHealthRoutes(router: ApiRouter, context: AppContext, checks: ReadinessChecks): void {
  const readiness = readinessReader(context, checks);

  router.get("/healthz", (ctx) => {
    ctx.body = successEnvelope({ status: "alive" }, context.clock.now());
  });

  router.get("/readyz", async (ctx) => {
    const { checked, failed, reasons = {}, warnings } = await readiness();
    if (failed.length > 0) {
      throw new MillraceError("unavailable", `not ready: ${failed.join(", ")}`, {
        problems: failed.map((name) => ({
          code: "not_ready",
          pointer: `/${name}`,
          message: reasons[name] ?? `${name} does not answer`,
        })),
      });
    }
    ctx.body = successEnvelope(
      { status: "ready", checks: checked, ...(warnings && { warnings }) },
      context.clock.now(),
    );
  });
}

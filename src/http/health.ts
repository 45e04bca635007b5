/** `/healthz` and `/readyz`: for load balancers, without a bearer. */
import type { AppContext } from "../app/context.ts";
import { successEnvelope } from "../app/envelope.ts";
import { MillraceError } from "../domain/errors.ts";
import { within } from "../domain/within.ts";
import type { ApiRouter } from "./state.ts";

/** What must answer for the node to be of use, by name; each resolves when all is well. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

const CHECK_WITHIN_MS = 2_000;

export function addHealthRoutes(router: ApiRouter, context: AppContext, checks: ReadinessChecks): void {
  router.get("/healthz", (ctx) => {
    ctx.body = successEnvelope({ status: "alive" }, context.clock.now());
  });

  router.get("/readyz", async (ctx) => {
    const all = { store: () => context.stores.ping(), ...checks };
    const failed: string[] = [];
    await Promise.all(
      Object.entries(all).map(async ([name, check]) => {
        if (!(await passes(context, name, check))) failed.push(name);
      }),
    );
    if (failed.length > 0) {
      throw new MillraceError("unavailable", `not ready: ${failed.sort().join(", ")}`, {
        problems: failed.map((name) => ({
          code: "not_ready",
          pointer: `/${name}`,
          message: `${name} does not answer`,
        })),
      });
    }
    ctx.body = successEnvelope({ status: "ready", checks: Object.keys(all) }, context.clock.now());
  });
}

async function passes(context: AppContext, name: string, check: () => Promise<void>): Promise<boolean> {
  try {
    await within(CHECK_WITHIN_MS, name, check());
    return true;
  } catch (error) {
    context.log.warn({ check: name, error: String(error) }, "a readiness check failed");
    return false;
  }
}

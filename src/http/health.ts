/** `/healthz` and `/readyz`, for load balancers. They need no token. */
import { z } from "zod";
import type { AppContext } from "../app/context.ts";
import { type Readiness, type ReadinessChecks, readinessReader } from "../app/readiness.ts";
import { fields, listOf, mapOf } from "../app/shapes.ts";
import { MillraceError } from "../domain/errors.ts";
import { addRoutes, routesFor } from "./route.ts";
import type { ApiRouter } from "./request/state.ts";

interface HealthContext extends Pick<AppContext, "clock"> {
  readonly readiness: () => Promise<Readiness>;
}

const route = routesFor<HealthContext>("Health");

export const HEALTH_ROUTES = [
  route({
    method: "GET",
    path: "/healthz",
    name: "isAlive",
    about: "Answers while the process lives.",
    answer: fields(() => ({ status: z.literal("alive") })),
    isOpen: true,
    handle: () => ({ status: "alive" }) as const,
  }),
  route({
    method: "GET",
    path: "/readyz",
    name: "isReady",
    about: "Answers while the node can do its work.",
    answer: fields(() => ({
      status: z.literal("ready"),
      checks: listOf(z.string()),
      /** Of checks that passed, by name. */
      warnings: mapOf(z.string()).exactOptional(),
    })),
    isOpen: true,
    async handle({ readiness }) {
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
      return { status: "ready", checks: checked, ...(warnings && { warnings }) } as const;
    },
  }),
];

export function addHealthRoutes(router: ApiRouter, context: AppContext, checks: ReadinessChecks): void {
  addRoutes(router, { clock: context.clock, readiness: readinessReader(context, checks) }, HEALTH_ROUTES, {
    isOpenToAll: true,
  });
}

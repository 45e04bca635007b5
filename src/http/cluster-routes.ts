/** Routes of operators: the cluster and its dead letters. */
import { z } from "zod";
import { type ClusterContext, readCluster } from "../app/upkeep/cluster.ts";
import { listDeadLetters, listDeadLettersQuery, redriveDeadLetter } from "../app/upkeep/dead-letters.ts";
import { answer } from "./answer.ts";
import { parseBody, parseQuery } from "./parse.ts";
import type { ApiRouter } from "./state.ts";

const noFields = z.strictObject({});

export function addClusterRoutes(router: ApiRouter, context: ClusterContext): void {
  router.get(
    "/cluster",
    answer(context, (ctx) => {
      parseQuery(ctx, noFields);
      return readCluster(context, ctx.state.caller);
    }),
  );
  router.get(
    "/cluster/dead-letters",
    answer(context, (ctx) => listDeadLetters(context, ctx.state.caller, parseQuery(ctx, listDeadLettersQuery))),
  );
  router.post(
    "/cluster/dead-letters/:id/redrive",
    answer(context, async (ctx) => {
      await parseBody(ctx, noFields);
      return redriveDeadLetter(context, ctx.state.caller, { id: ctx.params["id"]! });
    }),
  );
}

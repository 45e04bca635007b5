/** Routes of operators: the cluster and its dead letters. */
import { z } from "zod";
import { cursorPageOf } from "../../app/shapes.ts";
import { type ClusterContext, ClusterShape, readCluster } from "../../app/upkeep/cluster.ts";
import {
  DeadLetterShape,
  listDeadLetters,
  listDeadLettersQuery,
  redriveDeadLetter,
  RedrivenShape,
} from "../../app/upkeep/dead-letters.ts";
import { routesFor } from "../route.ts";

const route = routesFor<ClusterContext>("Cluster");
const noFields = z.strictObject({});

export const CLUSTER_ROUTES = [
  route({
    method: "GET",
    path: "/cluster",
    name: "readCluster",
    about: "Describes the nodes, the shards, the dead letters and the Redis servers of the installation.",
    query: noFields,
    answer: ClusterShape,
    handle: (context, { caller }) => readCluster(context, caller),
  }),
  route({
    method: "GET",
    path: "/cluster/dead-letters",
    name: "listDeadLetters",
    about: "Lists messages that no actor could decide and envelopes that no owner could read.",
    query: listDeadLettersQuery,
    answer: cursorPageOf(DeadLetterShape),
    handle: (context, { caller, query }) => listDeadLetters(context, caller, query),
  }),
  route({
    method: "POST",
    path: "/cluster/dead-letters/:id/redrive",
    name: "redriveDeadLetter",
    about: "Sends a dead letter to its mailbox again.",
    body: noFields,
    answer: RedrivenShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => redriveDeadLetter(context, caller, params),
  }),
];

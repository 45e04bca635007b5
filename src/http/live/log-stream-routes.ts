/** The route of a step's log by line: as a page of JSON, or as an event stream that goes on with the step. */
import { streamLog } from "../../app/logs/log-stream.ts";
import { LogPageShape, readLog, readLogQuery } from "../../app/logs/read-log.ts";
import { routesFor } from "../route.ts";
import { EVENT_STREAM, resumeAt } from "./event-streams.ts";
import type { LiveEdge } from "./live-edge.ts";

const route = routesFor<LiveEdge>("Logs");

export const LOG_STREAM_ROUTES = [
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/runs/:runId/steps/:stepRunId/logs",
    name: "readLog",
    about:
      "Reads lines of a step's log: from a line on, the last ones, or those around a line. With `Accept: text/event-stream`, goes on with each new line until the log ends.",
    query: readLogQuery,
    acceptsTicket: true,
    answer: LogPageShape,
    statuses: [200, 204],
    errors: ["not_found"],
    handle: ({ followers }, { caller, params, query }) => readLog(followers.context, caller, { ...query, ...params }),
    streamed: {
      type: EVENT_STREAM,
      async send({ followers, streams }, { caller, params: name, query, ctx }) {
        const after = resumeAt(ctx);
        await streams.answer(ctx, caller, (abort) => streamLog(followers, caller, { name, query, after, abort }));
      },
    },
  }),
];

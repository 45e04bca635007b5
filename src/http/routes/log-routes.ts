/** Routes of the logs of steps: searches, a log as plain text, and all logs of a run as one archive. */
import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { AppContext } from "../../app/context.ts";
import { requireReadableLogs } from "../../app/content/cold-logs.ts";
import { openLogArchive } from "../../app/logs/log-archive.ts";
import { logText, logTextQuery } from "../../app/logs/log-text.ts";
import { openLog } from "../../app/logs/read-log.ts";
import { searchPipelineLogs, searchRunLogs, searchStepLog } from "../../app/logs/search-logs.ts";
import { LogSearchShape, searchQuery } from "../../app/logs/search-query.ts";
import { takesGzip } from "../manners/compression.ts";
import type { RouteContext } from "../request/state.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Logs");
const RUN = "/pipelines/:pipelineId/runs/:runId";
const LOGS = `${RUN}/steps/:stepRunId/logs`;
const TEXT = "text/plain";
const ZIP = "application/zip";

export const LOG_ROUTES = [
  route({
    method: "GET",
    path: `${LOGS}/search`,
    name: "searchStepLog",
    about: "Searches a step's log for a text or a pattern.",
    query: searchQuery,
    answer: LogSearchShape,
    errors: ["not_found", "deadline_exceeded"],
    handle: (context, { caller, params, query }) => searchStepLog(context, caller, { ...params, query }),
  }),
  route({
    method: "GET",
    path: `${RUN}/logs/search`,
    name: "searchRunLogs",
    about: "Searches all logs of a run, in the order of the plan.",
    query: searchQuery,
    answer: LogSearchShape,
    errors: ["not_found", "deadline_exceeded"],
    handle: (context, { caller, params, query }) => searchRunLogs(context, caller, { ...params, query }),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/logs/search",
    name: "searchPipelineLogs",
    about: "Searches the logs of the runs of a pipeline, newest run first.",
    query: searchQuery,
    answer: LogSearchShape,
    errors: ["not_found", "deadline_exceeded"],
    handle: (context, { caller, params, query }) => searchPipelineLogs(context, caller, { ...params, query }),
  }),
  route({
    method: "GET",
    path: `${LOGS}/text`,
    name: "readLogText",
    about: "Reads a step's log as plain text, in gzip for callers who accept it.",
    query: logTextQuery,
    acceptsTicket: true,
    answer: null,
    answerType: TEXT,
    errors: ["not_found"],
    async send(context, { caller, params, query, ctx }) {
      const { logOf, through, writer } = await openLog(context, caller, params);
      await requireReadableLogs(context, [logOf]);
      const { timestamps, level, stream } = query;
      const options = {
        level,
        stream,
        stepRunId: logOf,
        through,
        lastLine: writer.lastLine,
        timestamps: timestamps === "true",
      };
      sendFile(ctx, logText(context.stores.logs, options), { name: `${params.stepRunId}.log`, type: TEXT });
    },
  }),
  route({
    method: "GET",
    path: `${RUN}/logs/archive`,
    name: "readLogArchive",
    about: "Reads all logs of a run as one ZIP archive.",
    acceptsTicket: true,
    answer: null,
    answerType: ZIP,
    errors: ["not_found"],
    async send(context, { caller, params, ctx }) {
      const { bytes, close } = await openLogArchive(context, caller, params);
      ctx.res.once("close", close);
      if (ctx.res.closed) close();
      sendFile(ctx, bytes, { name: `${params.runId}-logs.zip`, type: ZIP });
    },
  }),
];

/** Always as a download, in a sandbox: a browser must not run what a step wrote as a page of this server. */
function sendFile(
  ctx: RouteContext,
  bytes: AsyncIterable<Uint8Array>,
  { name, type }: { readonly name: string; readonly type: string },
): void {
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox");
  ctx.attachment(name, { type: "attachment" });
  ctx.type = type;
  const source = Readable.from(bytes, { objectMode: false });
  if (type !== TEXT) {
    ctx.body = source;
    return;
  }
  ctx.vary("Accept-Encoding");
  if (!takesGzip(ctx.get("accept-encoding"))) {
    ctx.body = source;
    return;
  }
  ctx.set("Content-Encoding", "gzip");
  // An error of either stream ends both, and with them the answer.
  ctx.body = pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), () => {});
}

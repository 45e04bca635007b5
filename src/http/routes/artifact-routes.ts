/** Routes of artifacts: lists, descriptions, and content with byte ranges. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import {
  type ArtifactContent,
  ArtifactDetailsShape,
  ArtifactShape,
  deleteArtifact,
  getArtifact,
  listArtifacts,
  listArtifactsQuery,
  openArtifactFile,
} from "../../app/content/artifacts.ts";
import type { AppContext } from "../../app/context.ts";
import { pageOf } from "../../app/shapes.ts";
import { readRange } from "../request/byte-range.ts";
import { routesFor } from "../route.ts";
import type { RouteContext } from "../request/state.ts";

const route = routesFor<AppContext>("Artifacts");
const ARTIFACTS = "/pipelines/runs/:runId/artifacts";

export const ARTIFACT_ROUTES = [
  route({
    method: "GET",
    path: ARTIFACTS,
    name: "listArtifacts",
    about: "Lists the artifacts of a run, oldest first.",
    query: listArtifactsQuery,
    answer: pageOf(ArtifactShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listArtifacts(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: `${ARTIFACTS}/:artifactId`,
    name: "getArtifact",
    about: "Describes an artifact with its files.",
    answer: ArtifactDetailsShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getArtifact(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: `${ARTIFACTS}/:artifactId`,
    name: "deleteArtifact",
    about: "Deletes an artifact with its content.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteArtifact(context, caller, params),
  }),
  route({
    method: "GET",
    path: `${ARTIFACTS}/:artifactId/content{/*path}`,
    name: "readArtifact",
    about: "Reads one file of an artifact, or a range of its bytes.",
    answer: null,
    answerType: "application/octet-stream",
    statuses: [200, 206, 304],
    errors: ["not_found", "conflict", "range_not_satisfiable"],
    async send(context, { caller, params, ctx }) {
      sendContent(ctx, await openArtifactFile(context, caller, params));
    },
  }),
];

/** Always as a download: a browser must not run a file that a step wrote as a page of this server. */
function sendContent(ctx: RouteContext, content: ArtifactContent): void {
  const { path, sizeBytes, sha256 } = content.file;
  const tag = `"${sha256}"`;
  ctx.set("Accept-Ranges", "bytes");
  ctx.set("ETag", tag);
  const known = ctx.get("if-none-match").split(",");
  if (known.some((each) => each.trim().replace(/^W\//, "") === tag)) {
    ctx.status = 304;
    return;
  }
  const condition = ctx.get("if-range");
  // The answer 416, which `readRange` causes, carries this header.
  ctx.set("Content-Range", `bytes */${sizeBytes}`);
  const range = condition === "" || condition === tag ? readRange(ctx.get("range"), sizeBytes) : undefined;
  const { from, to } = range ?? { from: 0, to: sizeBytes - 1 };
  ctx.status = range === undefined ? 200 : 206;
  if (range === undefined) ctx.remove("Content-Range");
  else ctx.set("Content-Range", `bytes ${from}-${to}/${sizeBytes}`);
  ctx.attachment(posix.basename(path), { type: "attachment" });
  ctx.body = Readable.from(content.read(from, to - from + 1), { objectMode: false });
  ctx.type = "application/octet-stream";
  ctx.length = to - from + 1;
}

/** Routes of artifacts: lists, descriptions, and content with byte ranges. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import {
  type ArtifactContent,
  deleteArtifact,
  getArtifact,
  listArtifacts,
  listArtifactsQuery,
  openArtifactFile,
} from "../app/content/artifacts.ts";
import type { AppContext } from "../app/context.ts";
import { type ArtifactId, asId, type RunId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { readRange } from "./byte-range.ts";
import { parseQuery } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addArtifactRoutes(router: ApiRouter, context: AppContext): void {
  const runOf = (ctx: RouteContext) => asId<RunId>(ctx.params["runId"]!);
  const namedBy = (ctx: RouteContext) => ({
    runId: runOf(ctx),
    artifactId: asId<ArtifactId>(ctx.params["artifactId"]!),
  });
  const artifacts = "/pipelines/runs/:runId/artifacts";

  router.get(
    artifacts,
    answer(context, (ctx) =>
      listArtifacts(context, ctx.state.caller, { ...parseQuery(ctx, listArtifactsQuery), runId: runOf(ctx) }),
    ),
  );
  router.get(
    `${artifacts}/:artifactId`,
    answer(context, (ctx) => getArtifact(context, ctx.state.caller, namedBy(ctx))),
  );
  router.delete(
    `${artifacts}/:artifactId`,
    answer(context, (ctx) => deleteArtifact(context, ctx.state.caller, namedBy(ctx))),
  );
  router.get(`${artifacts}/:artifactId/content{/*path}`, async (ctx) => {
    const path = ctx.params["path"];
    const file = { ...namedBy(ctx), ...(path === undefined ? {} : { path }) };
    sendContent(ctx, await openArtifactFile(context, ctx.state.caller, file));
  });
}

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

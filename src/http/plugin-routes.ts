/** Routes of the plugin registry. The name of a plugin may hold slashes; in a path it ends before `/versions`. */
import type { AppContext } from "../app/context.ts";
import {
  deletePluginRelease,
  getPlugin,
  getPluginRelease,
  listPlugins,
  listPluginsQuery,
  pushPlugin,
  pushPluginQuery,
} from "../app/catalogue/plugins.ts";
import { MillraceError } from "../domain/errors.ts";
import { answer } from "./answer.ts";
import { bodyBoundsOf } from "./body-bounds.ts";
import { discardRest, readBytes } from "./body-bytes.ts";
import { parseQuery } from "./parse.ts";
import type { ApiContext, ApiRouter, RouteContext } from "./state.ts";

export function addPluginRoutes(router: ApiRouter, context: AppContext): void {
  const releaseOf = ({ params }: RouteContext) => ({ name: params["name"]!, version: params["version"]! });

  router.post(
    "/plugins",
    answer(context, (ctx) =>
      pushPlugin(context, ctx.state.caller, { ...parseQuery(ctx, pushPluginQuery), read: () => readPackageBody(ctx) }),
    ),
  );
  router.get(
    "/plugins",
    answer(context, (ctx) => listPlugins(context, ctx.state.caller, parseQuery(ctx, listPluginsQuery))),
  );
  router.get(
    "/plugins/*name/versions/:version",
    answer(context, (ctx) => getPluginRelease(context, ctx.state.caller, releaseOf(ctx))),
  );
  router.delete(
    "/plugins/*name/versions/:version",
    answer(context, (ctx) => deletePluginRelease(context, ctx.state.caller, releaseOf(ctx))),
  );
  router.get(
    "/plugins/*name",
    answer(context, (ctx) => getPlugin(context, ctx.state.caller, { name: ctx.params["name"]! })),
  );
}

/** Throws `unsupported_media_type`, `payload_too_large`, `malformed_request`. */
function readPackageBody(ctx: ApiContext): Promise<Uint8Array> {
  if (ctx.is("application/gzip") !== "application/gzip") {
    discardRest(ctx.req);
    throw new MillraceError("unsupported_media_type", "the package must be sent with `Content-Type: application/gzip`");
  }
  return readBytes(ctx.req, ctx.get("content-length"), bodyBoundsOf(ctx).bytes);
}

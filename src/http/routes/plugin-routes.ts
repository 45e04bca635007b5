/** Routes of the plugin registry. The name of a plugin may hold slashes; in a path it ends before `/versions`. */
import {
  deletePluginRelease,
  getPlugin,
  getPluginRelease,
  listPlugins,
  listPluginsQuery,
  PluginInListShape,
  PluginReleaseShape,
  PluginShape,
  pushPlugin,
  pushPluginQuery,
} from "../../app/catalogue/plugins.ts";
import type { AppContext } from "../../app/context.ts";
import { pageOf } from "../../app/shapes.ts";
import { MillraceError } from "../../domain/errors.ts";
import { bodyBoundsOf } from "../request/body-bounds.ts";
import { discardRest, readBytes } from "../request/body-bytes.ts";
import { routesFor } from "../route.ts";
import type { ApiContext } from "../request/state.ts";

const route = routesFor<AppContext>("Plugins");
const PACKAGE_TYPE = "application/gzip";

export const PLUGIN_ROUTES = [
  route({
    method: "POST",
    path: "/plugins",
    name: "pushPlugin",
    about: "Stores a version of a plugin, which the manifest in the package names.",
    query: pushPluginQuery,
    bodyType: PACKAGE_TYPE,
    answer: PluginReleaseShape,
    errors: ["already_exists", "conflict", "too_large"],
    handle: (context, { caller, query, ctx }) =>
      pushPlugin(context, caller, { ...query, read: () => readPackageBody(ctx) }),
  }),
  route({
    method: "GET",
    path: "/plugins",
    name: "listPlugins",
    about: "Lists plugins in the order of their names.",
    query: listPluginsQuery,
    answer: pageOf(PluginInListShape),
    handle: (context, { caller, query }) => listPlugins(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/plugins/*name/versions/:version",
    name: "getPluginRelease",
    about: "Describes one version of a plugin.",
    answer: PluginReleaseShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getPluginRelease(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: "/plugins/*name/versions/:version",
    name: "deletePluginRelease",
    about: "Deletes one version of a plugin.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deletePluginRelease(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/plugins/*name",
    name: "getPlugin",
    about: "Describes a plugin with its versions.",
    answer: PluginShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getPlugin(context, caller, params),
  }),
];

/** Throws `unsupported_media_type`, `payload_too_large`, `malformed_request`. */
function readPackageBody(ctx: ApiContext): Promise<Uint8Array> {
  if (ctx.is(PACKAGE_TYPE) !== PACKAGE_TYPE) {
    discardRest(ctx.req);
    throw new MillraceError(
      "unsupported_media_type",
      `the package must be sent with \`Content-Type: ${PACKAGE_TYPE}\``,
    );
  }
  return readBytes(ctx.req, ctx.get("content-length"), bodyBoundsOf(ctx).bytes);
}

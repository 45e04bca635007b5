/**
 * Routes of the plugin registry: plugins of the installation, of a tenant, and of a project. The name of a plugin may hold
 * slashes; in a path it ends before `/versions`.
 */
import {
  deletePluginRelease,
  getPlugin,
  getPluginRelease,
  listPlugins,
  listPluginsQuery,
  listProjectPluginsQuery,
  pushPlugin,
  pushPluginQuery,
} from "../../app/catalogue/plugins.ts";
import { PluginInListShape, PluginReleaseShape, PluginShape } from "../../app/catalogue/plugin-views.ts";
import type { AppContext } from "../../app/context.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { bodyBoundsOf } from "../request/body-bounds.ts";
import { discardRest, readBytes } from "../request/body-bytes.ts";
import { routesFor } from "../route.ts";
import type { ApiContext } from "../request/state.ts";

const route = routesFor<AppContext>("Plugins");
const PACKAGE_TYPE = "application/gzip";

type PathParams = Readonly<Record<string, string | undefined>>;

export const PLUGIN_ROUTES = [
  ...routesOf("", "", "the installation", listPluginsQuery, () => null),
  ...routesOf("/tenants/:tenantId", "Tenant", "a tenant", listPluginsQuery, ({ tenantId }) => ({
    tenantId: asId<TenantId>(tenantId!),
  })),
  ...routesOf("/projects/:projectId", "Project", "a project", listProjectPluginsQuery, ({ projectId }) => ({
    projectId: asId<ProjectId>(projectId!),
  })),
];

function routesOf(
  prefix: string,
  word: "" | "Tenant" | "Project",
  whose: string,
  listQuery: typeof listPluginsQuery | typeof listProjectPluginsQuery,
  areaOf: (params: PathParams) => Area | null,
) {
  const path = `${prefix}/plugins`;
  const plugin = (params: PathParams) => ({ area: areaOf(params), name: params["name"]! });
  const release = (params: PathParams) => ({ ...plugin(params), version: params["version"]! });
  const missing = word === "" ? [] : (["not_found"] as const);
  return [
    route({
      method: "POST",
      path,
      name: `push${word}Plugin`,
      about: `Stores a version of a plugin of ${whose}, which the manifest in the package names.`,
      query: pushPluginQuery,
      bodyType: PACKAGE_TYPE,
      answer: PluginReleaseShape,
      errors: [...missing, "already_exists", "conflict", "too_large"],
      handle: (context, { caller, params, query, ctx }) =>
        pushPlugin(context, caller, { ...query, area: areaOf(params), read: () => readPackageBody(ctx) }),
    }),
    route({
      method: "GET",
      path,
      name: `list${word}Plugins`,
      about: `Lists the plugins of ${whose} in the order of their names.`,
      query: listQuery,
      answer: cursorPageOf(PluginInListShape),
      errors: missing,
      handle: (context, { caller, params, query }) => listPlugins(context, caller, { ...query, area: areaOf(params) }),
    }),
    route({
      method: "GET",
      path: `${path}/*name/versions/:version`,
      name: `get${word}PluginRelease`,
      about: `Describes one version of a plugin of ${whose}.`,
      answer: PluginReleaseShape,
      errors: ["not_found"],
      handle: (context, { caller, params }) => getPluginRelease(context, caller, release(params)),
    }),
    route({
      method: "DELETE",
      path: `${path}/*name/versions/:version`,
      name: `delete${word}PluginRelease`,
      about: `Deletes one version of a plugin of ${whose}.`,
      answer: null,
      errors: ["not_found"],
      handle: (context, { caller, params }) => deletePluginRelease(context, caller, release(params)),
    }),
    route({
      method: "GET",
      path: `${path}/*name`,
      name: `get${word}Plugin`,
      about: `Describes a plugin of ${whose} with its versions.`,
      answer: PluginShape,
      errors: ["not_found"],
      handle: (context, { caller, params }) => getPlugin(context, caller, plugin(params)),
    }),
  ];
}

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

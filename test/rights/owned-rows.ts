/** The rows of what tenants and projects own: variables, settings and cache entries. */
import type { UserOperation } from "../../src/app/identity/access.ts";
import type { HttpRow } from "./http-rows.ts";
import type { World } from "./world.ts";

type At = HttpRow["at"] & {};

const onTenant: At = ({ tenantId }: World) => ({ tenantId });
const onProject: At = ({ projectId }: World) => ({ projectId });
const noValues = () => ({ values: {} });

const variables = (path: string, at: At, read: UserOperation, write: UserOperation): readonly HttpRow[] => {
  const named = (world: World) => ({ ...at(world), name: "V" });
  const prepare = (world: World) => world.keepVariables();
  return [
    { route: `GET ${path}`, operation: read, at },
    { route: `PUT ${path}/:name`, operation: write, at: named, body: () => ({ value: "v" }) },
    { route: `GET ${path}/:name`, operation: read, at: named, prepare },
    { route: `DELETE ${path}/:name`, operation: write, at: named, prepare },
  ];
};

const settings = (path: string, at: At, read: UserOperation, write: UserOperation): readonly HttpRow[] => [
  { route: `GET ${path}`, operation: read, at },
  { route: `PUT ${path}`, operation: write, at, body: noValues },
];

export const OWNED_ROWS: readonly HttpRow[] = [
  ...variables("/tenants/:tenantId/variables", onTenant, "readTenantVariables", "writeTenantVariables"),
  ...variables("/projects/:projectId/variables", onProject, "readVariables", "writeVariables"),
  ...settings("/settings", () => ({}), "readInstallationSettings", "writeInstallationSettings"),
  ...settings("/tenants/:tenantId/settings", onTenant, "readTenantSettings", "writeTenantSettings"),
  ...settings("/projects/:projectId/settings", onProject, "readSettings", "writeSettings"),
  { route: "GET /projects/:projectId/caches", operation: "readCaches", at: onProject },
  { route: "DELETE /projects/:projectId/caches", operation: "deleteCaches", at: onProject, query: "?prefix=none" },
  {
    route: "DELETE /projects/:projectId/caches/:cacheId",
    operation: "deleteCaches",
    at: ({ projectId, cacheId }) => ({ projectId, cacheId }),
    prepare: (world) => world.keepCache(),
  },
];

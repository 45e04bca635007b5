/** The rows of what tenants and projects own: variables, settings, cache entries and uploads. */
import type { UserOperation } from "../../src/app/identity/access.ts";
import type { HttpRow } from "./http-rows.ts";
import type { World } from "./world.ts";

type At = HttpRow["at"] & {};

const onTenant: At = ({ tenantId }: World) => ({ tenantId });
const onProject: At = ({ projectId }: World) => ({ projectId });
const onUpload = ({ projectId, uploadId }: World) => ({ projectId, uploadId });
const nothing = () => ({});
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
  { route: "GET /projects/:projectId/uploads", operation: "readUploads", at: onProject },
  {
    route: "POST /projects/:projectId/uploads",
    operation: "writeUploads",
    at: onProject,
    body: () => ({ name: "a.txt", size: 1 }),
  },
  { route: "POST /projects/:projectId/uploads/form", operation: "writeUploads", at: onProject, body: nothing },
  { route: "GET /projects/:projectId/uploads/:uploadId", operation: "readUploads", at: onUpload },
  {
    route: "PATCH /projects/:projectId/uploads/:uploadId/content",
    operation: "writeUploads",
    at: onUpload,
    body: nothing,
  },
  { route: "GET /projects/:projectId/uploads/:uploadId/content", operation: "readUploads", at: onUpload },
  {
    route: "DELETE /projects/:projectId/uploads/:uploadId",
    operation: "deleteUploads",
    at: onUpload,
    prepare: (world) => world.keepUpload(),
  },
];

/** The rows of what tenants and projects own: variables, settings, plugins and cache entries. */
import type { UserOperation } from "../../src/app/identity/access.ts";
import type { HttpRow } from "./http-row.ts";
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

const webhooks = (path: string, at: At, operation: UserOperation, webhookId: string): readonly HttpRow[] => {
  const one = (world: World) => ({ ...at(world), webhookId, deliveryId: webhookId.replace("whk", "msg") });
  const prepare = (world: World) => world.keepWebhooks();
  return [
    { route: `GET ${path}`, operation, at },
    { route: `POST ${path}`, operation, at, body: () => ({ url: "https://hooks.example.com/" }) },
    { route: `GET ${path}/:webhookId`, operation, at: one, prepare },
    { route: `PATCH ${path}/:webhookId`, operation, at: one, prepare, body: () => ({ ordered: true }) },
    { route: `DELETE ${path}/:webhookId`, operation, at: one, prepare },
    { route: `POST ${path}/:webhookId/rotate-secret`, operation, at: one, prepare },
    { route: `GET ${path}/:webhookId/deliveries`, operation, at: one, prepare },
    { route: `GET ${path}/:webhookId/deliveries/:deliveryId`, operation, at: one, prepare },
    { route: `POST ${path}/:webhookId/deliveries/:deliveryId/redeliver`, operation, at: one, prepare },
  ];
};

const hooks = (path: string): readonly HttpRow[] => {
  const operation = "manageHooks";
  const one = (world: World) => ({ ...onProject(world), hookId: "hook_kept", deliveryId: "hdl_kept" });
  const prepare = (world: World) => world.keepHook();
  const made = () => ({ name: "n", kind: "generic", proof: "none" });
  return [
    { route: "POST /hooks/:hookId", operation: "open", at: () => ({ hookId: "hook_none" }), body: () => ({}) },
    { route: `GET ${path}`, operation, at: onProject },
    { route: `POST ${path}`, operation, at: onProject, prepare, body: made },
    { route: `GET ${path}/:hookId`, operation, at: one, prepare },
    { route: `PATCH ${path}/:hookId`, operation, at: one, prepare, body: () => ({ perMinute: 5 }) },
    { route: `DELETE ${path}/:hookId`, operation, at: one, prepare },
    { route: `GET ${path}/:hookId/deliveries`, operation, at: one, prepare },
    { route: `GET ${path}/:hookId/deliveries/:deliveryId`, operation, at: one, prepare },
    { route: `POST ${path}/:hookId/deliveries/:deliveryId/redeliver`, operation, at: one, prepare },
  ];
};

const plugins = (path: string, at: At, read: UserOperation, manage: UserOperation): readonly HttpRow[] => {
  const one = (world: World) => ({ ...at(world), name: "team/owned", version: "1.0.0" });
  const prepare = (world: World) => world.keepPlugins();
  return [
    { route: `POST ${path}`, operation: manage, at, body: () => ({}) },
    { route: `GET ${path}`, operation: read, at },
    { route: `GET ${path}/*name`, operation: read, at: one, prepare },
    { route: `GET ${path}/*name/versions/:version`, operation: read, at: one, prepare },
    { route: `DELETE ${path}/*name/versions/:version`, operation: manage, at: one, prepare },
  ];
};

export const OWNED_ROWS: readonly HttpRow[] = [
  ...variables("/tenants/:tenantId/variables", onTenant, "readTenantVariables", "writeTenantVariables"),
  ...variables("/projects/:projectId/variables", onProject, "readVariables", "writeVariables"),
  ...webhooks("/tenants/:tenantId/webhooks", onTenant, "manageTenantWebhooks", "whk_tenant"),
  ...webhooks("/projects/:projectId/webhooks", onProject, "manageWebhooks", "whk_project"),
  ...hooks("/projects/:projectId/hooks"),
  ...plugins("/tenants/:tenantId/plugins", onTenant, "readTenantPlugins", "manageTenantPlugins"),
  ...plugins("/projects/:projectId/plugins", onProject, "readProjectPlugins", "manageProjectPlugins"),
  ...settings("/settings", () => ({}), "readInstallationSettings", "writeInstallationSettings"),
  ...settings("/tenants/:tenantId/settings", onTenant, "readTenantSettings", "writeTenantSettings"),
  ...settings("/projects/:projectId/settings", onProject, "readSettings", "writeSettings"),
  { route: "GET /projects/:projectId/notifications", operation: "readRuns", at: onProject },
  {
    route: "GET /projects/:projectId/notifications/:notificationId",
    operation: "readRuns",
    at: ({ projectId }) => ({ projectId, notificationId: "msg_told" }),
    prepare: (world) => world.keepNotification(),
  },
  { route: "GET /projects/:projectId/caches", operation: "readCaches", at: onProject },
  { route: "DELETE /projects/:projectId/caches", operation: "deleteCaches", at: onProject, query: "?prefix=none" },
  {
    route: "DELETE /projects/:projectId/caches/:cacheId",
    operation: "deleteCaches",
    at: ({ projectId, cacheId }) => ({ projectId, cacheId }),
    prepare: (world) => world.keepCache(),
  },
];

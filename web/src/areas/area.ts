/** A project or a tenant, and the calls that both have. */
import { api, type Schemas } from "../api/client.ts";
import { mayIn, session } from "../app/session.ts";

export type Area =
  | { readonly kind: "project"; readonly projectId: string; readonly tenantId: string }
  | { readonly kind: "tenant"; readonly tenantId: string }
  | { readonly kind: "installation" };

type Operation = Schemas["Whoami"]["operations"][number];
type Signal = AbortSignal | undefined;
type Role = Schemas["Member"]["role"];
export type SettingValues = Schemas["Settings"]["settings"];

const IN_PROJECT = "/projects/{projectId}";
const IN_TENANT = "/tenants/{tenantId}";
/** Lists of an area are short: one call reads them. */
const ALL = { pageSize: 100 };

/** What the reader must be allowed for each kind of area; null where an area has no such thing. */
const NEEDS = {
  readMembers: { project: "readProjects", tenant: "readTenants", installation: null },
  writeMembers: { project: "manageProjectMembers", tenant: "manageTenantMembers", installation: null },
  readSettings: { project: "readSettings", tenant: "readTenantSettings", installation: "readInstallationSettings" },
  writeSettings: { project: "writeSettings", tenant: "writeTenantSettings", installation: "writeInstallationSettings" },
  readVariables: { project: "readVariables", tenant: "readTenantVariables", installation: null },
  writeVariables: { project: "writeVariables", tenant: "writeTenantVariables", installation: null },
  webhooks: { project: "manageWebhooks", tenant: "manageTenantWebhooks", installation: null },
} as const satisfies Record<string, Record<Area["kind"], Operation | null>>;

export function mayHere(what: keyof typeof NEEDS, area: Area): boolean {
  const operation = NEEDS[what][area.kind];
  if (operation === null) return false;
  if (area.kind === "installation") return session.value?.operations.includes(operation) ?? false;
  return mayIn(operation, area);
}

/** The address of the pages of the area. */
export function addressOf(area: Area): string {
  if (area.kind === "installation") return "/admin";
  return area.kind === "project" ? `/projects/${area.projectId}` : `/admin/tenants/${area.tenantId}`;
}

const noArea = (): never => {
  throw new Error("the installation has no such thing");
};

export function listMembers(area: Area, after: string | undefined, signal: Signal) {
  const query = after === undefined ? ALL : { ...ALL, after };
  if (area.kind === "project") return api.get(`${IN_PROJECT}/members`, { path: area, query, signal });
  return area.kind === "tenant" ? api.get(`${IN_TENANT}/members`, { path: area, query, signal }) : noArea();
}

export function putMember(area: Area, member: string, role: Role) {
  const body = { role };
  if (area.kind === "project") return api.put(`${IN_PROJECT}/members/{member}`, { path: { ...area, member }, body });
  return area.kind === "tenant"
    ? api.put(`${IN_TENANT}/members/{member}`, { path: { ...area, member }, body })
    : noArea();
}

export function deleteMember(area: Area, member: string) {
  if (area.kind === "project") return api.delete(`${IN_PROJECT}/members/{member}`, { path: { ...area, member } });
  return area.kind === "tenant" ? api.delete(`${IN_TENANT}/members/{member}`, { path: { ...area, member } }) : noArea();
}

export function readSettings(area: Area, signal: Signal) {
  if (area.kind === "project") return api.getTagged(`${IN_PROJECT}/settings`, { path: area, signal });
  return area.kind === "tenant"
    ? api.getTagged(`${IN_TENANT}/settings`, { path: area, signal })
    : api.getTagged("/settings", { signal });
}

/** Replaces all values that the area has itself. Fails when another call has changed them since `etag`. */
export function writeSettings(area: Area, values: Readonly<Record<string, unknown>>, etag: string | undefined) {
  const call = { body: { values }, ...(etag === undefined ? {} : { ifMatch: etag }) };
  if (area.kind === "project") return api.put(`${IN_PROJECT}/settings`, { path: area, ...call });
  return area.kind === "tenant"
    ? api.put(`${IN_TENANT}/settings`, { path: area, ...call })
    : api.put("/settings", call);
}

export function listVariables(area: Area, signal: Signal) {
  if (area.kind === "project") return api.get(`${IN_PROJECT}/variables`, { path: area, signal });
  return area.kind === "tenant" ? api.get(`${IN_TENANT}/variables`, { path: area, signal }) : noArea();
}

export function putVariable(area: Area, name: string, value: string) {
  const body = { value };
  if (area.kind === "project") return api.put(`${IN_PROJECT}/variables/{name}`, { path: { ...area, name }, body });
  return area.kind === "tenant"
    ? api.put(`${IN_TENANT}/variables/{name}`, { path: { ...area, name }, body })
    : noArea();
}

export function deleteVariable(area: Area, name: string) {
  if (area.kind === "project") return api.delete(`${IN_PROJECT}/variables/{name}`, { path: { ...area, name } });
  return area.kind === "tenant" ? api.delete(`${IN_TENANT}/variables/{name}`, { path: { ...area, name } }) : noArea();
}

interface WebhookBody {
  readonly url: string;
  readonly types?: string[];
  readonly ordered: boolean;
  readonly description: string;
}

export function listWebhooks(area: Area, signal: Signal) {
  if (area.kind === "project") return api.get(`${IN_PROJECT}/webhooks`, { path: area, signal });
  return area.kind === "tenant" ? api.get(`${IN_TENANT}/webhooks`, { path: area, signal }) : noArea();
}

export function getWebhook(area: Area, webhookId: string, signal: Signal) {
  const path = { ...area, webhookId };
  if (area.kind === "project")
    return api.get(`${IN_PROJECT}/webhooks/{webhookId}`, { path: { ...area, webhookId }, signal });
  return "tenantId" in path ? api.get(`${IN_TENANT}/webhooks/{webhookId}`, { path, signal }) : noArea();
}

export function createWebhook(area: Area, body: WebhookBody) {
  if (area.kind === "project") return api.post(`${IN_PROJECT}/webhooks`, { path: area, body });
  return area.kind === "tenant" ? api.post(`${IN_TENANT}/webhooks`, { path: area, body }) : noArea();
}

export function changeWebhook(area: Area, webhookId: string, body: { readonly enabled: boolean }) {
  if (area.kind === "project")
    return api.patch(`${IN_PROJECT}/webhooks/{webhookId}`, { path: { ...area, webhookId }, body });
  return area.kind === "tenant"
    ? api.patch(`${IN_TENANT}/webhooks/{webhookId}`, { path: { ...area, webhookId }, body })
    : noArea();
}

export function deleteWebhook(area: Area, webhookId: string) {
  if (area.kind === "project")
    return api.delete(`${IN_PROJECT}/webhooks/{webhookId}`, { path: { ...area, webhookId } });
  return area.kind === "tenant"
    ? api.delete(`${IN_TENANT}/webhooks/{webhookId}`, { path: { ...area, webhookId } })
    : noArea();
}

export function rotateSecret(area: Area, webhookId: string) {
  const rest = "webhooks/{webhookId}/rotate-secret" as const;
  if (area.kind === "project") return api.post(`${IN_PROJECT}/${rest}`, { path: { ...area, webhookId } });
  return area.kind === "tenant" ? api.post(`${IN_TENANT}/${rest}`, { path: { ...area, webhookId } }) : noArea();
}

export function listDeliveries(
  area: Area,
  webhookId: string,
  state: string,
  after: string | undefined,
  signal: Signal,
) {
  const query = {
    limit: 50,
    ...(state === "" ? {} : { state: state as Schemas["Delivery"]["state"] }),
    ...(after === undefined ? {} : { after }),
  };
  const rest = "webhooks/{webhookId}/deliveries" as const;
  if (area.kind === "project") return api.get(`${IN_PROJECT}/${rest}`, { path: { ...area, webhookId }, query, signal });
  return area.kind === "tenant"
    ? api.get(`${IN_TENANT}/${rest}`, { path: { ...area, webhookId }, query, signal })
    : noArea();
}

export function getDelivery(area: Area, webhookId: string, deliveryId: string, signal: Signal) {
  const rest = "webhooks/{webhookId}/deliveries/{deliveryId}" as const;
  if (area.kind === "project")
    return api.get(`${IN_PROJECT}/${rest}`, { path: { ...area, webhookId, deliveryId }, signal });
  return area.kind === "tenant"
    ? api.get(`${IN_TENANT}/${rest}`, { path: { ...area, webhookId, deliveryId }, signal })
    : noArea();
}

export function redeliver(area: Area, webhookId: string, deliveryId: string) {
  const rest = "webhooks/{webhookId}/deliveries/{deliveryId}/redeliver" as const;
  if (area.kind === "project") return api.post(`${IN_PROJECT}/${rest}`, { path: { ...area, webhookId, deliveryId } });
  return area.kind === "tenant"
    ? api.post(`${IN_TENANT}/${rest}`, { path: { ...area, webhookId, deliveryId } })
    : noArea();
}

/** Settings that change while the installation runs, of the installation, a tenant or a project: read and replaced. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { ProjectId, TenantId } from "../../domain/ids.ts";
import { KEPT_PARTS } from "../../domain/retention.ts";
import { type DocumentOwner, ownerOf, type SettingValues } from "../../stores/ports/documents.ts";
import { type Project, tenantOf } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import { effectiveSetting, readLayers, type SettingLayers, type SettingSource } from "../effective-settings.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import { forgetTenantFacts } from "../project-facts.ts";
import { reachProject, reachTenant } from "../reaching.ts";
import { RUNTIME_SETTINGS, SETTING_KEYS, type SettingKey, shownValue } from "../setting-table.ts";
import { fields, listOf, shape } from "../shapes.ts";
import type { ClusterContext } from "./cluster.ts";

const TRIES = 20;

type SettingsContext = Pick<ClusterContext, "clock" | "log" | "retention" | "logLimit" | "givenVariables"> &
  WithStores<"pipelines" | "rights" | "documents">;

/** Whose settings: those of a project, of a tenant, or of the installation. */
export type SettingsOwner = { readonly projectId: ProjectId } | { readonly tenantId: TenantId } | "installation";

/** The values that the owner has itself afterwards; what is absent comes from the next level. */
export const settingsBody = z.strictObject({
  values: z
    .strictObject(
      Object.fromEntries(SETTING_KEYS.map((key) => [key, RUNTIME_SETTINGS[key].value.optional()])) as {
        [K in SettingKey]: z.ZodOptional<z.ZodType<SettingValues[K]>>;
      },
    )
    .partial(),
});

const SOURCES = [
  "project",
  "tenant",
  "installation",
  "environment",
  "default",
] as const satisfies readonly SettingSource[];

export const SettingsShape = shape("Settings", {
  scope: z.enum(["project", "tenant", "installation"]),
  settings: listOf(
    fields({
      name: z.enum(SETTING_KEYS as [SettingKey, ...SettingKey[]]),
      /** In the form in which a change says it. */
      value: z.json(),
      /** The level that the value comes from. */
      source: z.enum(SOURCES),
      /** True for a value that this project, tenant or installation has itself, whether or not it counts. */
      own: z.boolean(),
    }),
  ),
});

type SettingsView = z.infer<typeof SettingsShape>;

const OPERATIONS = {
  read: { project: "readSettings", tenant: "readTenantSettings", installation: "readInstallationSettings" },
  write: { project: "writeSettings", tenant: "writeTenantSettings", installation: "writeInstallationSettings" },
} as const;

/** The values that count for the owner, each with the level that it comes from. Throws `not_found`. */
export async function getSettings(
  context: SettingsContext,
  caller: Caller,
  { owner }: { readonly owner: SettingsOwner },
): Promise<SettingsView> {
  const { area, own } = await reachOwner(context, caller, owner, "read");
  const layers = await readLayers(context, area);
  const { retention, logLimit, givenVariables: given = [] } = context;
  const environment = { retention: retention.rules, logLimit, given };
  return {
    scope: own,
    settings: SETTING_KEYS.map((name) => {
      const { value, source } = effectiveSetting(name, layers, environment);
      return {
        name,
        value: shownValue(value) as z.infer<ReturnType<typeof z.json>>,
        source,
        own: layers[own][name] !== undefined,
      };
    }),
  };
}

/**
 * Replaces the values that the owner has itself; they count within 5 s on every node. Throws `not_found`, and `conflict` for a
 * value of the installation that a variable of the environment gives. A call that is cut off may have changed a part of the
 * values of a project; a repeat changes the rest.
 */
export async function setSettings(
  context: SettingsContext,
  caller: Caller,
  { owner, values }: { readonly owner: SettingsOwner } & z.output<typeof settingsBody>,
): Promise<SettingsView> {
  const { area, user, own } = await reachOwner(context, caller, owner, "write");
  const next = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  if (own === "installation") refuseGiven(context, next);
  const { project } = area;
  const documented = project === undefined ? next : await storeInRecord(context, project, next);
  await storeDocument(context, documentOwner(owner), documented);
  forgetTenantFacts(context);
  context.log.info({ owner, by: user.name, userId: user.userId, values: next }, "settings were set");
  return getSettings(context, caller, { owner });
}

interface ReachedOwner {
  readonly user: UserCaller;
  readonly own: keyof SettingLayers;
  readonly area: { readonly tenantId?: TenantId; readonly project?: Project };
}

async function reachOwner(
  context: SettingsContext,
  caller: Caller,
  owner: SettingsOwner,
  purpose: keyof typeof OPERATIONS,
): Promise<ReachedOwner> {
  const operations = OPERATIONS[purpose];
  if (owner === "installation") return { user: authoriseUser(caller, operations.installation), own: owner, area: {} };
  if ("tenantId" in owner) {
    const { user } = await reachTenant(context, caller, operations.tenant, owner.tenantId);
    return { user, own: "tenant", area: owner };
  }
  const { user, found: project } = await reachProject(context, caller, operations.project, owner.projectId);
  return { user, own: "project", area: { project, tenantId: tenantOf(project) } };
}

/** Stores the values that the record of the project has, and answers the others. */
async function storeInRecord(
  { stores }: SettingsContext,
  { projectId }: Project,
  values: Partial<SettingValues>,
): Promise<Partial<SettingValues>> {
  const { pipelines } = stores;
  const defined = <T extends object>(entries: T): T =>
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as T;
  const parts = KEPT_PARTS.map((part) => [part, values[`retention.${part}`]]);
  await pipelines.setRetention(projectId, defined(Object.fromEntries(parts) as object));
  const limit = { lines: values["log.lines"], bytes: values["log.bytes"] };
  await pipelines.setLogLimit(projectId, defined(limit) as object);
  await pipelines.setTrustDemand(projectId, {
    secrets: values["trust.secrets"] ?? false,
    protectedTargets: values["trust.protectedTargets"] ?? false,
  });
  return Object.fromEntries(Object.entries(values).filter(([key]) => key.startsWith("jobs.")));
}

/** Throws `unavailable` when others change the settings all the time. */
async function storeDocument(
  { stores }: SettingsContext,
  owner: DocumentOwner,
  values: Partial<SettingValues>,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const [stored] = await stores.documents.find("settings", [owner]);
    const version = (stored?.version ?? 0) + 1;
    if (await stores.documents.save({ kind: "settings", owner, version, body: { values } })) return;
  }
  throw new MillraceError("unavailable", "others change these settings all the time: try again");
}

/** What the environment gives is changed there: a value that is stored besides it would have no effect. */
function refuseGiven({ givenVariables = [] }: SettingsContext, values: Partial<SettingValues>): void {
  const problems = (Object.keys(values) as SettingKey[]).flatMap((key) => {
    const { variable } = RUNTIME_SETTINGS[key];
    if (variable === null || !givenVariables.includes(variable)) return [];
    return [
      { code: "given", pointer: `/values/${key}`, message: `is given by ${variable}: change or remove the variable` },
    ];
  });
  if (problems.length === 0) return;
  const text = problems.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  throw new MillraceError("conflict", `the environment gives values of the installation: ${text}`, { problems });
}

function documentOwner(owner: SettingsOwner): DocumentOwner {
  return owner === "installation" ? owner : ownerOf(owner);
}

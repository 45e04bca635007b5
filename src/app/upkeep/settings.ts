/** Settings that change while the installation runs, of the installation, a tenant or a project: read and replaced. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ProjectId, TenantId } from "../../domain/ids.ts";
import { NO_QUOTAS, NO_RATE_LIMITS } from "../../domain/quotas.ts";
import { KEPT_PARTS, type LogLimit, type RetentionRules } from "../../domain/retention.ts";
import { type DocumentOwner, ownerOf, type SettingValues } from "../../stores/ports/documents.ts";
import { type Project, tenantOf } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import { effectiveSetting, readLayers, type SettingLayers, type SettingSource } from "../effective-settings.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { changeRecord } from "../project-record.ts";
import { forgetTenantFacts } from "../project-facts.ts";
import { reachProject, reachTenant } from "../reaching.ts";
import { givingVariables, RUNTIME_SETTINGS, SETTING_KEYS, type SettingKey, shownValue } from "../setting-table.ts";
import { fields, listOf, shape } from "../shapes.ts";
import type { ClusterContext } from "./cluster.ts";

type SettingsContext = Pick<
  ClusterContext,
  "clock" | "log" | "retention" | "logLimit" | "quotas" | "rateLimits" | "givenVariables"
> &
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

export const SettingsShape = shape("Settings", () => ({
  scope: z.enum(["project", "tenant", "installation"]),
  settings: listOf(
    fields(() => ({
      name: z.enum(SETTING_KEYS as [SettingKey, ...SettingKey[]]),
      /** In the form in which a change says it. */
      value: z.json(),
      /** The level that the value comes from. */
      source: z.enum(SOURCES),
      /** True for a value that this project, tenant or installation has itself, whether or not it counts. */
      own: z.boolean(),
    })),
  ),
}));

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
  return viewOf(context, area, await readLayers(context, area), own);
}

function viewOf(
  context: SettingsContext,
  { project }: ReachedOwner["area"],
  layers: SettingLayers,
  own: keyof SettingLayers,
): SettingsView {
  const { retention, logLimit, quotas = NO_QUOTAS, rateLimits = NO_RATE_LIMITS } = context;
  const given = variablesOf(context);
  const ofProject = project && quotas.projects.get(project.projectId);
  const environment = {
    retention: retention.rules,
    logLimit,
    perProject: ofProject ?? quotas.everyProject,
    labelQuotas: quotas.labels,
    rateLimits,
    given: ofProject === undefined ? given : [...given, RUNTIME_SETTINGS["quota.perProject"].variable!],
  };
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
  input: SettingsChange,
): Promise<SettingsView> {
  return changeUnmoved(() => tryToSet(context, caller, input));
}

type SettingsChange = { readonly owner: SettingsOwner } & z.output<typeof settingsBody> &
  WithPrecondition<SettingsView>;

async function tryToSet(
  context: SettingsContext,
  caller: Caller,
  { owner, values, match }: SettingsChange,
): Promise<SettingsView | typeof MOVED> {
  const { area, user, own } = await reachOwner(context, caller, owner, "write");
  const next: Partial<SettingValues> = Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  );
  if (own === "installation") refuseGiven(context, next);
  refuseOfOthers(own, next);
  const { project } = area;
  const inDocument = documentOwner(owner);
  // Before the values are compared: a call that changes them later makes the document another one.
  const [stored] = await context.stores.documents.find("settings", [inDocument]);
  const layers = await readLayers(context, area);
  match?.(viewOf(context, area, layers, own));
  const version = (stored?.version ?? 0) + 1;
  const document = {
    kind: "settings",
    owner: inDocument,
    version,
    body: { values: project === undefined ? next : documentPart(next) },
  } as const;
  const id = owner === "installation" ? owner : Object.values(owner)[0]!;
  const change = { kind: "settings", id, before: recordable(layers[own]), after: recordable(next) } as const;
  if (!(await recorded(user, change, () => context.stores.documents.save(document)))) return MOVED;
  if (project !== undefined) await storeInRecord(context, user, project, next, match !== undefined);
  forgetTenantFacts(context);
  context.log.info({ owner, by: user.name, userId: user.userId, values: next }, "settings were set");
  return getSettings(context, caller, { owner });
}

/** All settings, so that an entry of the audit log shows also those that a change takes away. */
function recordable(own: Partial<SettingValues>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(SETTING_KEYS.map((key) => [key, own[key] === undefined ? null : shownValue(own[key])]));
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

/** The values that the record of a project does not have. */
function documentPart(values: Partial<SettingValues>): Partial<SettingValues> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !isInRecord(key)));
}

function isInRecord(key: string): boolean {
  return ["retention.", "log.", "trust."].some((start) => key.startsWith(start));
}

/** Stores the values that the record of the project has. Throws `precondition_failed` when these have been changed since. */
async function storeInRecord(
  context: SettingsContext,
  user: UserCaller,
  { projectId, name, retention, logLimit, trustDemand }: Project,
  values: Partial<SettingValues>,
  isConditional: boolean,
): Promise<void> {
  const defined = <T extends object>(entries: T): T =>
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as T;
  const parts = KEPT_PARTS.map((part) => [part, values[`retention.${part}`]]);
  const limit = { lines: values["log.lines"], bytes: values["log.bytes"] };
  const change = {
    retention: defined(Object.fromEntries(parts) as Partial<RetentionRules>),
    logLimit: defined(limit) as Partial<LogLimit>,
    trustDemand: {
      secrets: values["trust.secrets"] ?? false,
      protectedTargets: values["trust.protectedTargets"] ?? false,
    },
  };
  const expected = isConditional ? { retention, logLimit, trustDemand } : {};
  const outcome = await changeRecord(context, user, { kind: "project", id: projectId, name }, change, expected);
  if (outcome !== MOVED) return;
  throw new MillraceError(
    "precondition_failed",
    "another call changed the rules of the project at the same moment, and the settings besides these rules are set: read the settings and set them again",
  );
}

/** What the environment gives is changed there: a value that is stored besides it would have no effect. */
function refuseGiven(context: SettingsContext, values: Partial<SettingValues>): void {
  const given = variablesOf(context);
  const problems = (Object.keys(values) as SettingKey[]).flatMap((key) => {
    const { variable } = RUNTIME_SETTINGS[key];
    if (variable === null || !given.includes(variable)) return [];
    return [
      { code: "given", pointer: `/values/${key}`, message: `is given by ${variable}: change or remove the variable` },
    ];
  });
  if (problems.length === 0) return;
  const text = problems.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  throw new MillraceError("conflict", `the environment gives values of the installation: ${text}`, { problems });
}

function variablesOf({ givenVariables = [], quotas = NO_QUOTAS }: SettingsContext): readonly string[] {
  return givingVariables(givenVariables, quotas);
}

/** Some settings only an owner of more than `own` has. */
function refuseOfOthers(own: keyof SettingLayers, values: Partial<SettingValues>): void {
  const problems = (Object.keys(values) as SettingKey[]).flatMap((key) => {
    const { isOfTenants = false, isOfInstallation = false } = RUNTIME_SETTINGS[key];
    const isElsewhere = own === "project" ? isOfTenants || isOfInstallation : own === "tenant" && isOfInstallation;
    const where = isOfInstallation ? "of the installation" : "of a tenant or of the installation";
    return isElsewhere ? [{ code: "invalid", pointer: `/values/${key}`, message: `is ${where}: set it there` }] : [];
  });
  if (problems.length === 0) return;
  const text = problems.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  throw new MillraceError("malformed_request", `the body has problems: ${text}`, { problems });
}

function documentOwner(owner: SettingsOwner): DocumentOwner {
  return owner === "installation" ? owner : ownerOf(owner);
}

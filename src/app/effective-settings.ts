/** Which value of a setting counts: settings of the installation, a tenant and a project over those of the environment. */
import type { TenantId } from "../domain/ids.ts";
import { type LabelQuota, NO_RATE_LIMITS, type RateLimits } from "../domain/quotas.ts";
import type { LogLimit, RetentionRules } from "../domain/retention.ts";
import { type DocumentOwner, ownerOf, type SettingValues } from "../stores/ports/documents.ts";
import type { Project } from "../stores/ports/pipelines.ts";
import type { WithStores } from "./context.ts";
import { RUNTIME_SETTINGS, type SettingKey } from "./setting-table.ts";

export type SettingSource = "project" | "tenant" | "installation" | "environment" | "default";
type OwnValues = Partial<SettingValues>;

/** The values that each level has itself. */
export interface SettingLayers {
  readonly project: OwnValues;
  readonly tenant: OwnValues;
  readonly installation: OwnValues;
}

/** What the environment of this node gives. */
export interface EnvironmentSettings {
  readonly retention?: RetentionRules;
  readonly logLimit?: LogLimit;
  /** How many jobs of the project may run at once; absent and null for any number. */
  readonly perProject?: number | null;
  readonly labelQuotas?: readonly LabelQuota[];
  readonly rateLimits?: RateLimits;
  /** The variables that are set; the others have their defaults. */
  readonly given: readonly string[];
}

/** Of a project, a tenant or the installation: the levels that are absent have no values. */
export async function readLayers(
  { stores }: WithStores<"documents">,
  { tenantId, project }: { readonly tenantId?: TenantId | null; readonly project?: Project },
): Promise<SettingLayers> {
  const ofTenant = tenantId == null ? undefined : ownerOf({ tenantId });
  const ofProject = project === undefined ? undefined : ownerOf({ projectId: project.projectId });
  const owners = ["installation", ofTenant, ofProject].filter((owner) => owner !== undefined) as DocumentOwner[];
  const found = await stores.documents.find("settings", owners);
  const own = (owner: DocumentOwner | undefined): OwnValues =>
    found.find((one) => one.owner === owner)?.body.values ?? {};
  return {
    installation: own("installation"),
    tenant: own(ofTenant),
    project: { ...own(ofProject), ...(project === undefined ? {} : ofRecord(project)) },
  };
}

/** The values that the record of a project holds, and not its document. */
function ofRecord({ retention = {}, logLimit = {}, trustDemand }: Project): OwnValues {
  const entries: readonly (readonly [SettingKey, unknown])[] = [
    ["retention.runs", retention.runs],
    ["retention.logs", retention.logs],
    ["retention.artifacts", retention.artifacts],
    ["retention.events", retention.events],
    ["log.lines", logLimit.lines],
    ["log.bytes", logLimit.bytes],
    // A project that demands nothing has nothing of its own.
    ["trust.secrets", trustDemand?.secrets === true || undefined],
    ["trust.protectedTargets", trustDemand?.protectedTargets === true || undefined],
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * The value that counts, and the level that has it. `environment` is needed for settings that have a variable. A variable that is set wins over what the installation stores.
 */
export function effectiveSetting<K extends SettingKey>(
  key: K,
  { project, tenant, installation }: SettingLayers,
  environment: EnvironmentSettings = { given: [] },
): { readonly value: SettingValues[K]; readonly source: SettingSource } {
  const { variable, standard, stricter } = RUNTIME_SETTINGS[key];
  const isGiven = variable !== null && environment.given.includes(variable);
  const fallback = (standard ?? environmentValue(key, environment)) as SettingValues[K];
  const levels: readonly (readonly [SettingSource, SettingValues[K] | undefined])[] = [
    ["project", project[key]],
    ["tenant", tenant[key]],
    isGiven ? ["environment", fallback] : ["installation", installation[key]],
    ["default", fallback],
  ];
  const there = levels.flatMap(([source, value]) => (value === undefined ? [] : [{ source, value }]));
  if (stricter === null) return there[0]!;
  return there.reduceRight((most, one) => (stricter(most.value, one.value) ? most : one));
}

/** The value of a setting that the environment gives, by a variable or by the default of the variable. */
function environmentValue(
  key: SettingKey,
  { retention, logLimit, perProject = null, labelQuotas = [], rateLimits = NO_RATE_LIMITS }: EnvironmentSettings,
): unknown {
  if (key === "quota.perProject") return perProject;
  if (key === "quota.perTenant") return null;
  if (key === "quota.labels") return labelQuotas;
  if (key === "calls.perToken") return rateLimits.token ?? 0;
  if (key === "calls.perAddress") return rateLimits.address ?? 0;
  const [group, name] = key.split(".") as [string, string];
  return (group === "retention" ? retention : logLimit)?.[name as never];
}

/** The bounds that apply to the logs of the steps of a project. */
export function effectiveLogLimit(layers: SettingLayers, environment: EnvironmentSettings): LogLimit {
  return {
    lines: effectiveSetting("log.lines", layers, environment).value,
    bytes: effectiveSetting("log.bytes", layers, environment).value,
  };
}

/** The rules that apply to the ended runs of a project. */
export function effectiveRetention(layers: SettingLayers, environment: EnvironmentSettings): RetentionRules {
  const of = (part: keyof RetentionRules) => effectiveSetting(`retention.${part}`, layers, environment).value;
  return { runs: of("runs"), logs: of("logs"), artifacts: of("artifacts"), events: of("events") };
}

/**
 * Looks up in the registry the plugins that a definition names, before the definition is checked or planned. A name is that
 * of a plugin of the project, else of its tenant, else of the installation: the nearest one hides the others with all
 * their versions.
 */
import {
  type CheckedDefinition,
  type DefinitionWork,
  type KnownDefinition,
  WORK_AT_ONCE,
} from "../../definition-work/definition-work.ts";
import type { DefinitionText, KnownPlugin, KnownPlugins } from "../../definition-work/tasks.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { ProjectId, RunId } from "../../domain/ids.ts";
import { compareVersions, newestMatching } from "../../domain/plugin-versions.ts";
import { splitReference } from "../../domain/plugins.ts";
import type { Owner } from "../../domain/roles.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { PluginKey, PluginStore } from "../../stores/ports/plugins.ts";
import type { WithStores } from "../context.ts";
import { projectFactsOf } from "../project-facts.ts";
import type { RightsContext } from "../reaching.ts";
import { manifestOf } from "./plugin-views.ts";

type LookUpContext = RightsContext & WithStores<"plugins">;
type CheckContext = LookUpContext & WithStores<"snapshotBytes" | "hooks">;

/** Who asks for work on definitions, and where it is done. */
export interface Asking {
  readonly work: DefinitionWork;
  /** Each caller has a share of the threads. */
  readonly caller: string;
}

export function askingFor(context: { readonly definitions?: DefinitionWork }, userId: string): Asking {
  return { work: context.definitions ?? WORK_AT_ONCE, caller: userId };
}

/** Whose plugins the definitions of a project use, the nearest owner first. */
export async function pluginOwners(context: RightsContext, projectId: ProjectId): Promise<readonly Owner[]> {
  const { tenantId } = await projectFactsOf(context, projectId);
  return [ownerOf({ projectId }), ...(tenantId === null ? [] : [ownerOf({ tenantId })]), "installation"];
}

/**
 * Checks a text of a project, its steps against the plugins that they find, its event triggers against the hooks, and the
 * size of a run against what the store holds. Rejects as `Threads.run` does.
 */
export async function checkWithPlugins(
  context: CheckContext,
  asking: Asking,
  projectId: ProjectId,
  { text, format, includes }: DefinitionText,
): Promise<CheckedDefinition> {
  const { snapshotBytes } = context.stores;
  const definition = { text, format, includes };
  const checked = await asking.work.check(asking.caller, { ...definition, plugins: null, snapshotBytes });
  const isWhole = checked.plugins.length === 0 && checked.providers.length === 0;
  return isWhole ? checked : checkNaming(context, asking, projectId, { ...definition, ...checked });
}

/** A text, and what it names. */
type NamingDefinition = DefinitionText &
  Pick<KnownDefinition, "plugins" | "providers"> & { readonly digests?: Pairs<string> };

/** {@link checkWithPlugins} of a text of which it is known what it names, in one check. */
export async function checkNaming(
  context: CheckContext,
  { work, caller }: Asking,
  projectId: ProjectId,
  { text, format, includes, digests, ...names }: NamingDefinition,
): Promise<CheckedDefinition> {
  const { snapshotBytes } = context.stores;
  const plugins = await lookUpPlugins(context, projectId, names.plugins);
  const found = names.providers.length > 0 ? await context.stores.hooks.list(projectId) : undefined;
  const hooks = found?.map(({ kind, secret }) => ({ kind, secret }));
  const known = { plugins, ...(hooks && { hooks }), ...(digests && { digests }) };
  return work.check(caller, { text, format, includes, ...known, snapshotBytes });
}

/** The plugins for a new run of the definition in the project. */
export function pluginsForRun(
  context: LookUpContext,
  projectId: ProjectId,
  { plugins }: Pick<KnownDefinition, "plugins">,
): Promise<KnownPlugins> {
  return lookUpPlugins(context, projectId, plugins);
}

/**
 * The plugins for a rerun, in the versions of the run that is repeated, as far as the registry still has them: the
 * rerun may reuse results of steps that ran with them.
 */
export async function pluginsForRerun(
  context: LookUpContext & WithStores<"plans">,
  projectId: ProjectId,
  { plugins: references }: KnownDefinition,
  { runId, plan }: { readonly runId: RunId; readonly plan: RunPlan },
): Promise<KnownPlugins> {
  const had: PluginKey[] = [];
  for (const { index } of references.length === 0 ? [] : plan.jobs) {
    const spec = await context.stores.plans.loadJob(runId, index);
    for (const { uses, plugin } of spec?.steps ?? []) {
      if (plugin !== null) had.push({ ...splitReference(uses), owner: plugin.owner ?? "installation" });
    }
  }
  return lookUpPlugins(context, projectId, references, had);
}

async function lookUpPlugins(
  context: LookUpContext,
  projectId: ProjectId,
  references: readonly string[],
  preferred: readonly PluginKey[] = [],
): Promise<KnownPlugins> {
  if (references.length === 0) return [];
  const owners = await pluginOwners(context, projectId);
  const found: [string, KnownPlugin][] = [];
  for (const uses of references) found.push([uses, await lookUp(context, owners, uses, preferred)]);
  return found;
}

async function lookUp(
  { stores: { plugins } }: LookUpContext,
  owners: readonly Owner[],
  uses: string,
  preferred: readonly PluginKey[],
): Promise<KnownPlugin> {
  const { name, version: range } = splitReference(uses);
  for (const owner of owners) {
    const versions = (await plugins.versionsOf({ owner, name })).map(({ version }) => version);
    if (versions.length === 0) continue;
    const kept = preferred.filter((one) => one.owner === owner && one.name === name).map(({ version }) => version);
    const chosen =
      newestMatching(
        range,
        versions.filter((version) => kept.includes(version)),
      ) ?? newestMatching(range, versions);
    const record = chosen === undefined ? undefined : await plugins.find({ owner, name, version: chosen });
    if (record?.state !== "stored") {
      return { found: "otherVersions", versions: versions.toSorted(compareVersions).toReversed() };
    }
    const { sha256, sizeBytes } = record;
    return { found: "release", release: { manifest: manifestOf(record), sha256, sizeBytes, owner } };
  }
  return { found: "nothing", names: await namesOf(plugins, owners) };
}

/** The names of all plugins of these owners, each once, in alphabetical order. */
export async function namesOf(
  plugins: Pick<PluginStore, "names">,
  owners: readonly Owner[],
): Promise<readonly string[]> {
  const names = await Promise.all(owners.map((owner) => plugins.names(owner)));
  return [...new Set(names.flat())].toSorted((a, b) => (a < b ? -1 : 1));
}

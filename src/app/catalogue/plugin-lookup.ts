/** Looks up in the registry the plugins that a definition names, before the definition is checked or planned. */
import {
  type CheckedDefinition,
  type DefinitionWork,
  type KnownDefinition,
  WORK_AT_ONCE,
} from "../../definition-work/definition-work.ts";
import type { KnownPlugin, KnownPlugins } from "../../definition-work/tasks.ts";
import type { Format } from "../../definition/text/read-text.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { RunId } from "../../domain/ids.ts";
import { compareVersions, newestMatching } from "../../domain/plugin-versions.ts";
import { splitReference } from "../../domain/plugins.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { manifestOf } from "./plugins.ts";

type Ports = Pick<Stores, "plugins">;

/** Who asks for work on definitions, and where it is done. */
export interface Asking {
  readonly work: DefinitionWork;
  /** Each caller has a share of the threads. */
  readonly caller: string;
}

export function askingFor(context: { readonly definitions?: DefinitionWork }, userId: string): Asking {
  return { work: context.definitions ?? WORK_AT_ONCE, caller: userId };
}

/**
 * Checks a text, its steps against the plugins of the registry, and the size of a run against what the store holds. Rejects as `Threads.run` does. */
export async function checkWithPlugins(
  stores: Ports & Pick<Stores, "snapshotBytes">,
  { work, caller }: Asking,
  text: string,
  format: Format,
): Promise<CheckedDefinition> {
  const { snapshotBytes } = stores;
  const checked = await work.check(caller, { text, format, plugins: null, snapshotBytes });
  if (checked.plugins.length === 0) return checked;
  const plugins = await lookUpPlugins(stores, checked.plugins);
  return work.check(caller, { text, format, plugins, snapshotBytes });
}

/** The plugins for a new run of the definition. */
export function pluginsForRun(stores: Ports, { plugins }: Pick<KnownDefinition, "plugins">): Promise<KnownPlugins> {
  return lookUpPlugins(stores, plugins);
}

/**
 * The plugins for a rerun, in the versions of the run that is repeated, as far as the registry still has them: the
 * rerun may reuse results of steps that ran with them.
 */
export async function pluginsForRerun(
  stores: Pick<Stores, "plugins" | "plans">,
  { plugins: references }: KnownDefinition,
  { runId, plan }: { readonly runId: RunId; readonly plan: RunPlan },
): Promise<KnownPlugins> {
  const had = new Set<string>();
  for (const { index } of references.length === 0 ? [] : plan.jobs) {
    const spec = await stores.plans.loadJob(runId, index);
    for (const { uses, plugin } of spec?.steps ?? []) if (plugin !== null) had.add(uses);
  }
  return lookUpPlugins(stores, references, [...had]);
}

async function lookUpPlugins(
  stores: Ports,
  references: readonly string[],
  preferred: readonly string[] = [],
): Promise<KnownPlugins> {
  const found: [string, KnownPlugin][] = [];
  for (const uses of references) found.push([uses, await lookUp(stores, uses, preferred)]);
  return found;
}

async function lookUp({ plugins }: Ports, uses: string, preferred: readonly string[]): Promise<KnownPlugin> {
  const { name, version: range } = splitReference(uses);
  const versions = (await plugins.versionsOf(name)).map(({ version }) => version);
  if (versions.length === 0) return { found: "nothing", names: await plugins.names() };
  const kept = preferred
    .map(splitReference)
    .flatMap((reference) => (reference.name === name ? [reference.version] : []));
  const chosen =
    newestMatching(
      range,
      versions.filter((version) => kept.includes(version)),
    ) ?? newestMatching(range, versions);
  const record = chosen === undefined ? undefined : await plugins.find(name, chosen);
  if (record?.state !== "stored") {
    return { found: "otherVersions", versions: versions.toSorted(compareVersions).toReversed() };
  }
  const { sha256, sizeBytes } = record;
  return { found: "release", release: { manifest: manifestOf(record), sha256, sizeBytes } };
}

/** What the registry knows of the plugins that a definition names, read before it is checked or planned. */
import type { Definition } from "../../definition/definition.ts";
import { type ParsedDefinition, parseDefinition } from "../../definition/parse.ts";
import { pluginsOf } from "../../definition/checks/plugin-checks.ts";
import type { Format } from "../../definition/text/read-text.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { RunId } from "../../domain/ids.ts";
import { compareVersions, newestMatching } from "../../domain/plugin-versions.ts";
import { type FoundPlugin, type PluginLookup, splitReference } from "../../domain/plugins.ts";
import { checkArgs } from "../../plugins/args-check.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { readStored } from "./plugins.ts";

type Ports = Pick<Stores, "plugins">;

/** {@link parseDefinition}, which also compares steps with the plugins of the registry. */
export async function parseWithPlugins(stores: Ports, text: string, format: Format): Promise<ParsedDefinition> {
  const parsed = parseDefinition(text, format);
  if (parsed.plugins.length === 0) return parsed;
  return parseDefinition(text, format, await lookUpPlugins(stores, parsed.plugins));
}

/** For a new run of the definition. */
export function pluginsForRun(stores: Ports, definition: Definition): Promise<PluginLookup> {
  return lookUpPlugins(stores, pluginsOf(definition));
}

/** For a run that is run again: in the versions that it had, where these are there still, as some of it may be reused. */
export async function pluginsForRerun(
  stores: Pick<Stores, "plugins" | "plans">,
  definition: Definition,
  { runId, plan }: { readonly runId: RunId; readonly plan: RunPlan },
): Promise<PluginLookup> {
  const references = pluginsOf(definition);
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
): Promise<PluginLookup> {
  const found = new Map<string, FoundPlugin>();
  for (const uses of references) found.set(uses, await lookUp(stores, uses, preferred));
  // Whoever asks for another has not said before which plugins there are.
  return (uses) => found.get(uses) ?? { found: "nothing", names: [] };
}

async function lookUp({ plugins }: Ports, uses: string, preferred: readonly string[]): Promise<FoundPlugin> {
  const { name, version: wanted } = splitReference(uses);
  const versions = (await plugins.versionsOf(name)).map(({ version }) => version);
  if (versions.length === 0) return { found: "nothing", names: await plugins.names() };
  const kept = preferred.map(splitReference).flatMap((each) => (each.name === name ? [each.version] : []));
  const chosen =
    newestMatching(
      wanted,
      versions.filter((version) => kept.includes(version)),
    ) ?? newestMatching(wanted, versions);
  const record = chosen === undefined ? undefined : await plugins.find(name, chosen);
  if (record?.state !== "stored") {
    return { found: "otherVersions", versions: versions.toSorted(compareVersions).toReversed() };
  }
  const { sha256, sizeBytes } = record;
  return {
    found: "release",
    release: { manifest: readStored(record), sha256, sizeBytes },
    checkArgs: ({ args: schema }, args, isLate) => checkArgs(schema, args, isLate),
  };
}

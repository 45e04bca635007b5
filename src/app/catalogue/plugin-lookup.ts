/** Looks up in the registry the plugins that a definition names, before the definition is checked or planned. */
import type { Definition } from "../../definition/definition.ts";
import { type ParsedDefinition, parseDefinition } from "../../definition/parse.ts";
import { pluginsOf } from "../../definition/checks/plugin-checks.ts";
import type { Format } from "../../definition/text/read-text.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { RunId } from "../../domain/ids.ts";
import { compareVersions, newestMatching } from "../../domain/plugin-versions.ts";
import { type FoundPlugin, type PluginLookup, splitReference } from "../../domain/plugins.ts";
import { checkArgs } from "../../plugins/args-check.ts";
import { findTooLargeForAll } from "../../planner/definition-size.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { manifestOf } from "./plugins.ts";

type Ports = Pick<Stores, "plugins">;

/**
 * {@link parseDefinition} that also checks steps against the plugins of the registry, and the size of a run against what
 * the store holds.
 */
export async function parseWithPlugins(
  stores: Ports & Pick<Stores, "snapshotBytes">,
  text: string,
  format: Format,
): Promise<ParsedDefinition> {
  const parsed = parseDefinition(text, format);
  const checked =
    parsed.plugins.length === 0 ? parsed : parseDefinition(text, format, await lookUpPlugins(stores, parsed.plugins));
  return refuseTooLarge(checked, stores.snapshotBytes);
}

function refuseTooLarge(parsed: ParsedDefinition, limit: number | null): ParsedDefinition {
  const { definition } = parsed;
  const large = definition === undefined || limit === null ? undefined : findTooLargeForAll(definition, limit);
  if (definition === undefined || large === undefined) return parsed;
  const found = definition.source.locate("snapshot-limit", "error", large.path, large.message);
  const diagnostics = [...parsed.diagnostics, found].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { ...parsed, definition: undefined, diagnostics };
}

/** The plugins for a new run of the definition. */
export function pluginsForRun(stores: Ports, definition: Definition): Promise<PluginLookup> {
  return lookUpPlugins(stores, pluginsOf(definition));
}

/**
 * The plugins for a rerun, in the versions of the run that is repeated, as far as the registry still has them: the
 * rerun may reuse results of steps that ran with them.
 */
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
  // Every plugin that the definition names was looked up; any other is unknown.
  return (uses) => found.get(uses) ?? { found: "nothing", names: [] };
}

async function lookUp({ plugins }: Ports, uses: string, preferred: readonly string[]): Promise<FoundPlugin> {
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
  return {
    found: "release",
    release: { manifest: manifestOf(record), sha256, sizeBytes },
    checkArgs: ({ args: schema }, args, isDeferred) => checkArgs(schema, args, isDeferred),
  };
}

/** From text to definition: the one validator, which the command line, HTTP, gRPC, saves and runs share. */
import { checkHooks, type KnownHook } from "./checks/hook-checks.ts";
import { checkDefinition } from "./checks/checks.ts";
import { type Definition, toDefinition } from "./definition.ts";
import type { PluginLookup } from "../domain/plugins.ts";
import type { Diagnostic } from "./text/diagnostics.ts";
import { checkPlugins, pluginsIn } from "./checks/plugin-checks.ts";
import type { Includes } from "./include/included-files.ts";
import { resolveIncludes } from "./include/resolve.ts";
import type { Format } from "./text/read-text.ts";
import { readMisspeltLists } from "./checks/misspelt-lists.ts";
import { checkShape } from "./checks/shape.ts";
import { Source } from "./text/source.ts";

export interface ParsedDefinition {
  /** Present exactly when no diagnostic is an error. */
  readonly definition: Definition | undefined;
  /** By position in the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The references to plugins in `uses`, each once. */
  readonly plugins: readonly string[];
}

/** What a definition is compared with besides the language. What is absent is not compared. */
interface Surroundings {
  /** The plugins that steps use. */
  readonly lookup?: PluginLookup | undefined;
  /** The hooks of the project, which event triggers need. */
  readonly hooks?: readonly KnownHook[] | undefined;
  /** What the definition includes; absent for one in no repository, which may include nothing. */
  readonly includes?: Includes | undefined;
  /** The digests that images had in earlier runs, by their references. */
  readonly digests?: ReadonlyMap<string, string> | undefined;
}

const NO_DIGESTS: ReadonlyMap<string, string> = new Map();

/** Reads and validates a definition. Never throws; reports all problems at once. */
export function parseDefinition(
  text: string,
  format: Format,
  { lookup, hooks, includes, digests = NO_DIGESTS }: Surroundings = {},
): ParsedDefinition {
  const source = new Source(text, format);
  if (source.hasErrors) return { definition: undefined, diagnostics: source.diagnostics, plugins: [] };
  readMisspeltLists(source);
  const written = source.value;
  const own = checkShape(source);
  if (!resolveIncludes(source, includes)) {
    return { definition: undefined, diagnostics: source.diagnostics, plugins: [] };
  }
  const raw = source.value === written || source.hasErrors ? own : checkShape(source);
  checkDefinition(source, digests);
  if (lookup !== undefined) checkPlugins(source, lookup);
  if (hooks !== undefined) checkHooks(source, hooks);
  const definition = raw === undefined || source.hasErrors ? undefined : toDefinition(raw, source);
  return { definition, diagnostics: source.diagnostics, plugins: pluginsIn(source) };
}

/** The value of a definition with what it includes; undefined unless it is valid. */
export function resolvedSpec(text: string, format: Format, includes: Includes | undefined): unknown {
  return parseDefinition(text, format, { includes }).definition?.source.value;
}

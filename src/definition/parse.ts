/** From text to definition: the one validator, which the command line, HTTP, gRPC, saves and runs share. */
import { checkHooks, type KnownHook } from "./checks/hook-checks.ts";
import { checkDefinition } from "./checks/checks.ts";
import { type Definition, toDefinition } from "./definition.ts";
import type { PluginLookup } from "../domain/plugins.ts";
import type { Diagnostic } from "./text/diagnostics.ts";
import { checkPlugins, pluginsIn } from "./checks/plugin-checks.ts";
import type { Format } from "./text/read-text.ts";
import { pipelineSchema, type RawPipeline } from "./schema/pipeline.ts";
import { reportIssues } from "./checks/shape.ts";
import { Source } from "./text/source.ts";

export interface ParsedDefinition {
  /** Present exactly when no diagnostic is an error. */
  readonly definition: Definition | undefined;
  /** By position in the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The references to plugins in `uses`, each once. */
  readonly plugins: readonly string[];
}

/**
 * Reads and validates a definition. Never throws; reports all problems at once. Steps that use plugins are checked against
 * `lookup`; without it, they are not checked.
 */
export function parseDefinition(
  text: string,
  format: Format,
  lookup?: PluginLookup,
  hooks?: readonly KnownHook[],
): ParsedDefinition {
  const source = new Source(text, format);
  if (source.hasErrors) return { definition: undefined, diagnostics: source.diagnostics, plugins: [] };
  const raw = checkShape(source);
  checkDefinition(source);
  if (lookup !== undefined) checkPlugins(source, lookup);
  if (hooks !== undefined) checkHooks(source, hooks);
  const definition = raw === undefined || source.hasErrors ? undefined : toDefinition(raw, source);
  return { definition, diagnostics: source.diagnostics, plugins: pluginsIn(source) };
}

function checkShape(source: Source): RawPipeline | undefined {
  try {
    const { data, error } = pipelineSchema.safeParse(source.value, { reportInput: true });
    if (error !== undefined && isMap(source.value)) reportIssues(source, error.issues);
    return data;
  } catch (error) {
    // The library passes its issues as arguments of one call; more than about 100,000 of them overflow the stack.
    if (!(error instanceof RangeError)) throw error;
    source.report("diagnostic-limit", [], "this has too many problems to list them: is it a definition?");
    return undefined;
  }
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

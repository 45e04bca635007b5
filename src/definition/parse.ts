/** From text to definition: the one validator for the command line, HTTP, gRPC, saves and runs. */
import { checkDefinition } from "./checks.ts";
import { type Definition, toDefinition } from "./definition.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { pipelineSchema } from "./schema.ts";
import { reportIssues } from "./shape.ts";
import { type Format, Source } from "./source.ts";

export interface ParsedDefinition {
  /** Present exactly when no diagnostic is an error. */
  readonly definition: Definition | undefined;
  /** By position in the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads and validates a definition. Never throws; finds all problems at once. */
export function parseDefinition(text: string, format: Format): ParsedDefinition {
  const source = new Source(text, format);
  if (source.hasErrors) return { definition: undefined, diagnostics: source.diagnostics };
  const parsed = pipelineSchema.safeParse(source.value, { reportInput: true });
  if (!parsed.success && isMap(source.value)) reportIssues(source, parsed.error.issues);
  checkDefinition(source);
  const diagnostics = source.diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const isValid = parsed.success && !source.hasErrors;
  return { definition: isValid ? toDefinition(parsed.data) : undefined, diagnostics };
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

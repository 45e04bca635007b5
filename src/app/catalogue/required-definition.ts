/** Demands that a text is a valid definition, and makes the error for one that is not. */
import type { CheckedDefinition, KnownDefinition } from "../../definition-work/definition-work.ts";
import type { DefinitionText } from "../../definition-work/tasks.ts";
import type { Diagnostic } from "../../definition/text/diagnostics.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import type { Asking } from "./plugin-lookup.ts";

/**
 * The definition of a checked text; throws `invalid_definition` with every error. `path`: of the file in Git that the text is
 * from, which the message names then.
 */
export function requireKnown(checked: CheckedDefinition, path?: string): KnownDefinition {
  if (checked.known !== null) return checked.known;
  throw whyUnknown(checked, path);
}

/** What a text holds, valid or not. Throws `invalid_definition` for a text that cannot be read. */
export async function requireSpec(
  { work, caller }: Asking,
  { text, format }: DefinitionText,
): Promise<Readonly<Record<string, unknown>>> {
  const spec = await work.spec(caller, { text, format });
  if (spec !== null) return spec as Readonly<Record<string, unknown>>;
  throw whyUnknown(await work.check(caller, { text, format, plugins: null }));
}

/** The error of a text that is no definition. `path`: as of {@link requireKnown}. */
export function whyUnknown({ diagnostics }: Pick<CheckedDefinition, "diagnostics">, path?: string): MillraceError {
  return invalidDefinition(diagnostics.filter(({ severity }) => severity === "error").map(asProblem), path);
}

/** `path`: as of {@link requireKnown}. */
export function invalidDefinition(problems: readonly Problem[], path?: string): MillraceError {
  const [first] = problems;
  const rest = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const place = path === undefined ? "" : ` in ${path}`;
  // Who sends a text sees it; who names a commit does not.
  const at =
    path === undefined || first?.line === undefined ? "" : `${first.file ?? ""} line ${first.line}: `.trimStart();
  const text = `the definition${place} has problems: ${at}${first?.message ?? ""}${rest}`;
  return new MillraceError("invalid_definition", text, { problems });
}

function asProblem({ code, pointer, message, hint, line, column, file }: Diagnostic): Problem {
  const text = hint === undefined ? message : `${message} (${hint})`;
  return { code, pointer, message: text, line, column, ...(file !== undefined && { file }) };
}

/** Demands that a text is a valid definition, and makes the error for one that is not. */
import type { CheckedDefinition, KnownDefinition } from "../../definition-work/definition-work.ts";
import type { Diagnostic } from "../../definition/text/diagnostics.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";

/** The definition of a checked text; throws `invalid_definition` with every error. */
export function requireKnown({ known, diagnostics }: CheckedDefinition): KnownDefinition {
  if (known !== null) return known;
  throw invalidDefinition(diagnostics.filter(({ severity }) => severity === "error").map(asProblem));
}

export function invalidDefinition(problems: readonly Problem[]): MillraceError {
  const [first] = problems;
  const rest = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new MillraceError("invalid_definition", `the definition has problems: ${first?.message ?? ""}${rest}`, {
    problems,
  });
}

function asProblem({ code, pointer, message, hint, line, column, file }: Diagnostic): Problem {
  const text = hint === undefined ? message : `${message} (${hint})`;
  return { code, pointer, message: text, line, column, ...(file !== undefined && { file }) };
}

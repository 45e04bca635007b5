/** The rules of the variables of one tenant or one project. */
import type { Pairs } from "../../domain/pairs.ts";
import type { VariableSet } from "../../stores/ports/documents.ts";

/** Bounds on the variables of one tenant or one project. Each run stores the variables that it inherits. */
export const VARIABLE_BOUNDS = {
  count: 200,
  /** Greatest size of a value, in UTF-8. */
  bytes: 8_192,
  /** Greatest size of all names and values together, in UTF-8. */
  bytesInAll: 65_536,
} as const;

/** Why no variable may have the name; undefined for a good one. Steps get names that begin so from millrace itself. */
export function variableNameProblem(name: string): string | undefined {
  if (/^MILLRACE_/i.test(name)) return "must not begin with MILLRACE_: these names are those of millrace itself";
  return name === "__proto__" ? "must not be __proto__, which no JSON of the API may have as a key" : undefined;
}

/** What a set would exceed; undefined when it is within the bounds. */
export function variableSetProblem({ variables }: VariableSet): string | undefined {
  const { count, bytesInAll } = VARIABLE_BOUNDS;
  if (variables.length > count) return `there may be ${count} variables: delete one first`;
  const bytes = variables.reduce((sum, { name, value }) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (bytes <= bytesInAll) return undefined;
  return `the names and values of all variables may have ${bytesInAll} bytes, and these would have ${bytes}`;
}

/** What a run inherits: the variables of all sets, those of later sets before those of earlier ones of the same name. */
export function inheritedFrom(sets: readonly (VariableSet | undefined)[]): Pairs<string> {
  return [...new Map(sets.flatMap((set) => set?.variables.map(({ name, value }) => [name, value] as const) ?? []))];
}

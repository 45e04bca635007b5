/** What an expression can reach from where it stands, as types; made for what it names alone, since a definition may have thousands of jobs. */
import type { Reference } from "../../expressions/template.ts";
import type { ContextTypes, ValueType } from "../../expressions/types.ts";
import { envType, jobType, namedTypes, stepType } from "./context-types.ts";
import type { Raw } from "../text/raw.ts";

/** Those of some jobs that have ended when an expression is evaluated. */
export interface EndedJobs {
  find(name: string): Raw | undefined;
  names(): readonly string[];
}

export interface Reach {
  /** Of all contexts but `env`, `jobs` and `steps`. */
  readonly types: ContextTypes;
  /** Declared by the definition; a trigger may give others. */
  readonly variables: readonly string[];
  /** Maps whose keys are fields of `env`. */
  readonly env: readonly unknown[];
  readonly jobs: EndedJobs;
  readonly allJobs: ReadonlySet<string>;
  /** Steps that have ended by then, by id. */
  readonly steps: ReadonlyMap<string, Raw>;
  readonly allSteps: ReadonlySet<string>;
}

export const NO_JOBS: EndedJobs = { find: () => undefined, names: () => [] };

/** Jobs of earlier stages, and `needed` ones, which are only looked for where one is read. */
export function endedJobs(
  before: ReadonlyMap<string, Raw>,
  needed: () => ReadonlyMap<string, Raw> = () => new Map(),
): EndedJobs {
  let known: ReadonlyMap<string, Raw> | undefined;
  const neededOnce = (): ReadonlyMap<string, Raw> => (known ??= needed());
  return {
    find: (name) => before.get(name) ?? neededOnce().get(name),
    names: () => [...before.keys(), ...neededOnce().keys()],
  };
}

/** The types of what these references read. */
export function typesFor(reach: Reach, references: readonly Reference[]): ContextTypes {
  const types = new Map<string, ValueType>(reach.types);
  const reads = (context: string): boolean => references.some((reference) => reference.context === context);
  if (reads("env")) types.set("env", envType(...reach.env));
  if (reads("jobs"))
    types.set(
      "jobs",
      named("jobs", references, (name) => reach.jobs.find(name), jobType),
    );
  if (reads("steps"))
    types.set(
      "steps",
      named("steps", references, (id) => reach.steps.get(id), stepType),
    );
  return types;
}

function named(
  context: string,
  references: readonly Reference[],
  find: (name: string) => Raw | undefined,
  typeOf: (name: string, raw: Raw) => ValueType,
): ValueType {
  const types: Record<string, ValueType> = {};
  for (const { context: read, field } of references) {
    const raw = read === context && field !== null ? find(field) : undefined;
    if (raw !== undefined) types[field!] = typeOf(field!, raw);
  }
  return namedTypes(`\`${context}\``, types);
}

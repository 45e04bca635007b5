/**
 * What an expression can read in its place, as types. Only the types of the jobs and steps that the expression names are made,
 * since a definition may have thousands of jobs.
 */
import type { Reference } from "../../expressions/template.ts";
import type { ContextTypes, ValueType } from "../../expressions/types.ts";
import { envType, jobType, namedTypes, stepType } from "./context-types.ts";
import type { Raw } from "../text/raw.ts";

/** The jobs that have ended when an expression is evaluated. */
export interface EndedJobs {
  find(name: string): Raw | undefined;
  names(): readonly string[];
}

/** What the expressions of one place can read. */
export interface Reach {
  /** The types of all contexts except `env`, `jobs` and `steps`. */
  readonly types: ContextTypes;
  /** Names that the definition declares; a trigger may give others. */
  readonly variables: readonly string[];
  /** Maps whose keys are fields of `env`. */
  readonly env: readonly unknown[];
  readonly jobs: EndedJobs;
  readonly allJobs: ReadonlySet<string>;
  /** The earlier steps of the job, by id: they have ended when the expression is evaluated. */
  readonly steps: ReadonlyMap<string, Raw>;
  readonly allSteps: ReadonlySet<string>;
  /** The digests that images had in earlier runs, by their references; empty where none is known. */
  readonly digests: ReadonlyMap<string, string>;
}

export const NO_JOBS: EndedJobs = { find: () => undefined, names: () => [] };

/** The jobs of earlier stages (`before`) and the jobs that `needed` answers. `needed` is called only when an expression reads `jobs`. */
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

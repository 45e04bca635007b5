/** Texts that read what only the run knows, once it does. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { builtinOf } from "../definition/checks/uses.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { JobSpec, Pairs, StepSpec } from "../domain/plan.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { asText, evaluateTemplate, parseTemplate } from "../expressions/template.ts";
import { type Facts, factsOf } from "./gate.ts";

/** What was folded into a text may be long; the plan is bounded as a whole. */
export const UNBOUNDED = { maxChars: Infinity, maxSteps: Infinity };

/** Why a step cannot be dispatched: for people, without a value in it. */
export class DeferredTextError extends Error {}

/** A step as its agent is told of it. */
export interface ResolvedStep extends StepSpec {
  /** That of the pipeline and the job. */
  readonly jobEnv: Pairs<string>;
}

/** Values of secrets by name: all that a step names. */
export type SecretValues = Readonly<Record<string, string>>;

/** A step with nothing left to evaluate; `facts` are those of its job. Throws {@link DeferredTextError}, `MissingOutputs`. */
export function resolveDeferred(
  { env, late }: JobSpec,
  step: StepSpec,
  facts: Facts,
  secrets: SecretValues = {},
): ResolvedStep {
  const jobEnv = env.map(([name, text]): readonly [string, string] => [
    name,
    late.includes(name) ? asText(resolve(text, facts, { env: {}, secrets }, `the env variable ${name}`)) : text,
  ]);
  if (step.late.length === 0) return { ...step, jobEnv };
  const isLate = (path: readonly PropertyKey[]): boolean => step.late.includes(toPointer(path));
  const outer = Object.fromEntries(jobEnv);
  const stepEnv = step.env.map(([name, text]): readonly [string, string] => [
    name,
    isLate(["env", name]) ? asText(resolve(text, facts, { env: outer, secrets }, `the env variable ${name}`)) : text,
  ]);
  const inner = { ...outer, ...Object.fromEntries(stepEnv) };
  const isShell = builtinOf(step.uses) === "shell";
  const walk = (value: Json, path: readonly PropertyKey[]): Json => {
    if (typeof value === "string") {
      if (!isLate(path)) return value;
      const resolved = resolve(
        value,
        facts,
        { env: inner, secrets },
        `the argument ${path.slice(1).map(String).join(".")}`,
      );
      return isShell ? asText(resolved) : resolved;
    }
    if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item as Json, [...path, key])]));
  };
  const args = walk(step.args as Json, ["args"]) as StepSpec["args"];
  return { ...step, env: stepEnv, args, jobEnv };
}

/** An output of a job; null when it cannot be evaluated. */
export function resolveOutput(text: string, facts: Facts): Json {
  try {
    return resolve(text, facts, { env: {}, secrets: {} }, "");
  } catch (error) {
    if (error instanceof DeferredTextError) return null;
    throw error;
  }
}

/** A text for people; empty where an expression in it cannot be evaluated. */
export function resolveMessage(text: string, facts: Facts): string {
  return asText(resolveOutput(text, facts));
}

/** What only a step reads. */
interface OfStep {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: SecretValues;
}

function resolve(text: string, facts: Facts, ofStep: OfStep, what: string): Json {
  const template = parseTemplate(text, CONTEXTS, UNBOUNDED);
  const scope = toScope({ ...factsOf(text, template.references, facts), ...ofStep });
  let value: Json;
  try {
    value = evaluateTemplate(template, scope);
  } catch (error) {
    if (error instanceof MissingOutputs) throw error;
    throw new DeferredTextError(
      `${what} cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (asText(value).includes("\0")) throw new DeferredTextError(`${what} would hold a NUL character`);
  return value;
}

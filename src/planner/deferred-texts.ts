/** Resolves deferred texts: those whose values are known only during the run. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { ContainerSpec, ImageUse, ServiceSpec } from "../domain/containers/containers.ts";
import { parseImage } from "../domain/containers/image-references.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { builtinOf } from "../domain/builtins.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { JobSpec, StepSpec } from "../domain/plan.ts";
import { WorkUsedUp } from "../domain/work/work-budget.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { asText, evaluateTemplate, parseTemplate } from "../expressions/template.ts";
import { type Facts, factsOf, withinBudget } from "./gate.ts";
import { mapFiles, problemsOfFiles, type StepFiles, wordsOf } from "./step-files.ts";

/** Options for parsing a folded text: the values in it may make it long, and the plan as a whole has a bound. */
export const UNBOUNDED = { maxChars: Infinity, maxSteps: Infinity };

/** A step cannot be dispatched, because one of its texts cannot be evaluated. The message contains no value. */
export class DeferredTextError extends Error {}

/** A step as its agent receives it. */
export interface ResolvedStep extends StepSpec {
  /** The environment of the pipeline and the job. */
  readonly jobEnv: Pairs<string>;
  readonly services: readonly ServiceSpec[];
}

/** True when every text of the step, its job and its containers was known before the run. */
export function isResolved({ late, container, services = [] }: JobSpec, step: StepSpec): boolean {
  const uses = [...[container, step.container].filter((one) => one !== undefined), ...services];
  return late.length === 0 && step.late.length === 0 && uses.every((use) => use.late.length === 0);
}

/** The container of the step: its own, else that of its job; undefined for a step that runs outside. */
export function containerOf(spec: Pick<JobSpec, "container">, step: StepSpec): ContainerSpec | undefined {
  const builtin = builtinOf(step.uses);
  return builtin === undefined || builtin === "shell" ? (step.container ?? spec.container) : undefined;
}

/** Values of the secrets that a step reads, by name. */
export type SecretValues = Readonly<Record<string, string>>;

/** A step with all texts evaluated; `facts` are those of its job. Throws {@link DeferredTextError}, `MissingOutputs`. */
export function resolveDeferred(spec: JobSpec, step: StepSpec, facts: Facts, secrets: SecretValues = {}): ResolvedStep {
  try {
    return resolveTexts(spec, step, facts, secrets);
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error;
    throw new DeferredTextError(`the texts of the step cannot be evaluated: ${error.message}`);
  }
}

function resolveTexts(spec: JobSpec, step: StepSpec, facts: Facts, secrets: SecretValues): ResolvedStep {
  const { env, late: deferred } = spec;
  const container = containerOf(spec, step);
  const contained = {
    services: (spec.services ?? []).map((use) => resolveImageUse(use, `the service ${use.name}`, facts, secrets)),
    ...(container === undefined ? {} : { container: resolveImageUse(container, "the container", facts, secrets) }),
  };
  const jobEnv = env.map(([name, text]): readonly [string, string] => [
    name,
    deferred.includes(name) ? asText(resolve(text, facts, { env: {}, secrets }, `the env variable ${name}`)) : text,
  ]);
  if (step.late.length === 0) return Object.assign({}, step, contained, { jobEnv });
  const files = resolveFiles(step, facts);
  const isDeferred = (path: readonly PropertyKey[]): boolean => step.late.includes(toPointer(path));
  const outer = Object.fromEntries(jobEnv);
  const stepEnv = step.env.map(([name, text]): readonly [string, string] => [
    name,
    isDeferred(["env", name])
      ? asText(resolve(text, facts, { env: outer, secrets }, `the env variable ${name}`))
      : text,
  ]);
  const inner = { ...outer, ...Object.fromEntries(stepEnv) };
  const isShell = builtinOf(step.uses) === "shell";
  const walk = (value: Json, path: readonly PropertyKey[]): Json => {
    if (typeof value === "string") {
      if (!isDeferred(path)) return value;
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
  return { ...step, ...contained, ...files, env: stepEnv, args, jobEnv };
}

/**
 * The artifacts and the reports of a step with all names and patterns evaluated. Final states never change, so each call
 * during the step gives the same. Throws {@link DeferredTextError}, `MissingOutputs`, `WorkUsedUp`.
 */
export function resolveFiles(step: Pick<StepSpec, "artifacts" | "junit" | "late">, facts: Facts): StepFiles {
  const isDeferred = (pointer: string): boolean => step.late.includes(pointer);
  const files = mapFiles(step, (text, path) =>
    isDeferred(toPointer(path)) ? asText(resolve(text, facts, { env: {}, secrets: {} }, wordsOf(path))) : text,
  );
  const [problem] = problemsOfFiles(files, isDeferred);
  if (problem !== undefined) throw new DeferredTextError(problem.message);
  return files;
}

function resolveImageUse<T extends ImageUse>(use: T, whose: string, facts: Facts, secrets: SecretValues): T {
  const textOf = (text: string, path: readonly string[], what: string): string =>
    use.late.includes(toPointer(path)) ? asText(resolve(text, facts, { env: {}, secrets }, what)) : text;
  const image = textOf(use.image, ["image"], `the image of ${whose}`);
  if (parseImage(image) === undefined) {
    throw new DeferredTextError(
      `the image of ${whose} is not the reference of an image: it became "${image.slice(0, 200)}"`,
    );
  }
  return {
    ...use,
    image,
    credential: textOf(use.credential, ["credential"], `the credential of ${whose}`),
    env: use.env.map(
      ([name, text]) => [name, textOf(text, ["env", name], `the variable ${name} of ${whose}`)] as const,
    ),
  };
}

/** The images of the step's container and of the services of its job. Throws {@link DeferredTextError}, `MissingOutputs`. */
export function resolveImages(spec: JobSpec, step: StepSpec, facts: Facts): readonly string[] {
  return imageUsesOf(spec, step).map(({ image, late }) =>
    late.includes("/image") ? asText(resolve(image, facts, { env: {}, secrets: {} }, "an image")) : image,
  );
}

/** The container of the step, if it has one, and the services of its job. */
export function imageUsesOf(spec: JobSpec, step: StepSpec): readonly ImageUse[] {
  const container = containerOf(spec, step);
  return [...(container === undefined ? [] : [container]), ...(spec.services ?? [])];
}

/** The value of an output of a job; null when it cannot be evaluated. Throws `MissingOutputs`, and `WorkUsedUp`. */
export function resolveOutput(text: string, facts: Facts): Json {
  return withinBudget(facts, "text", text, () => {
    try {
      return resolve(text, facts, { env: {}, secrets: {} }, "");
    } catch (error) {
      if (error instanceof DeferredTextError) return null;
      throw error;
    }
  });
}

/** The text of a message; empty when an expression in it cannot be evaluated. Throws `MissingOutputs`. */
export function resolveMessage(text: string, facts: Facts): string {
  try {
    return asText(resolveOutput(text, facts));
  } catch (error) {
    if (error instanceof WorkUsedUp) return "";
    throw error;
  }
}

/** The contexts that only the texts of a step read. */
interface StepContexts {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: SecretValues;
}

/** `what` is the subject of the message when the text cannot be evaluated. */
function resolve(text: string, facts: Facts, contexts: StepContexts, what: string): Json {
  let value: Json;
  try {
    facts.budget?.charge(text.length);
    const template = parseTemplate(text, CONTEXTS, UNBOUNDED);
    const scope = toScope({ ...factsOf(text, template.references, facts), ...contexts });
    value = evaluateTemplate(template, scope, undefined, facts.budget);
  } catch (error) {
    if (error instanceof MissingOutputs || error instanceof WorkUsedUp) throw error;
    throw new DeferredTextError(
      `${what} cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (asText(value).includes("\0")) throw new DeferredTextError(`${what} would contain a NUL character`);
  return value;
}

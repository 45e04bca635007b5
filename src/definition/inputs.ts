/** Typed inputs of a manual trigger: from the texts that the trigger gives to the values that expressions read. */
import type { Pairs } from "../domain/pairs.ts";
import type { Scalar } from "../domain/plan.ts";
import { clip } from "./text/read-text.ts";
import type { RawInput } from "./schema/pipeline.ts";

export interface InputProblem {
  readonly name: string;
  readonly message: string;
  readonly isMissing: boolean;
}

export interface AppliedInputs {
  readonly values: Pairs<Scalar>;
  readonly problems: readonly InputProblem[];
}

/**
 * Why an input cannot take `value`, as the end of a sentence about the input; undefined when it can. A trigger gives texts: the
 * texts `3` and `true` are a number and a boolean for an input of such a type.
 */
export function findInputProblem(input: RawInput, value: Scalar): string | undefined {
  const written = clip(String(value));
  switch (input.type ?? "string") {
    case "number":
      return toNumber(value) === undefined ? `must be a number, not "${written}"` : undefined;
    case "boolean":
      return toBoolean(value) === undefined ? `must be true or false, not "${written}"` : undefined;
    case "choice": {
      const options = input.options ?? [];
      return options.includes(String(value)) ? undefined : `must be one of ${options.join(", ")}, not "${written}"`;
    }
    case "string":
      return typeof value === "string" ? undefined : "must be a text: put it in quotes";
  }
}

/** The values of all inputs: the given one, else the default, else the empty value of the type (`""`, 0 or false). */
export function applyInputs(inputs: Pairs<RawInput>, given: ReadonlyMap<string, Scalar>): AppliedInputs {
  const problems: InputProblem[] = [];
  const values = inputs.map(([name, input]): readonly [string, Scalar] => {
    const value = given.get(name) ?? input.default;
    if (value === undefined) {
      if (input.required === true) problems.push({ name, message: `the input "${name}" is required`, isMissing: true });
      return [name, emptyOf(input)];
    }
    const problem = findInputProblem(input, value);
    if (problem !== undefined) problems.push({ name, message: `the input "${name}" ${problem}`, isMissing: false });
    return [name, convert(input, value)];
  });
  return { values, problems };
}

function convert({ type }: RawInput, value: Scalar): Scalar {
  if (type === "number") return toNumber(value) ?? 0;
  if (type === "boolean") return toBoolean(value) ?? false;
  return String(value);
}

function emptyOf({ type }: RawInput): Scalar {
  if (type === "number") return 0;
  return type === "boolean" ? false : "";
}

function toNumber(value: Scalar): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)) return undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
}

function toBoolean(value: Scalar): boolean | undefined {
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : undefined;
}

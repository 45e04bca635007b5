/** Typed inputs of a trigger by hand: texts as they come, and the values that expressions read. */
import type { Pairs, Scalar } from "../domain/plan.ts";
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

/** Why `value` cannot be one of this input, or undefined. A text that a trigger gives counts as what it says. */
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

/** The values of all inputs, `given` ones before defaults; an absent one is its type's empty value. */
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

/** Values that several kinds of map have. Each is said in patterns where it can be, so that editors know the same rules. */
import { z } from "zod";
import { DURATION_PATTERN, parseDuration } from "../../domain/durations.ts";
import { VARIABLE_NAME } from "../../domain/secrets.ts";
import { LIMITS } from "./limits.ts";

/** A text of one line with something on it. */
export const name = z.string().regex(new RegExp(`^(?=.*\\S)[^\\p{Cc}]{1,${LIMITS.nameChars}}$`, "u"), {
  error: `must be 1 to ${LIMITS.nameChars} characters on one line`,
});

/** What expressions may name without quotes. */
export const identifier = z.string().regex(/^[A-Za-z_][\w-]{0,63}$/, {
  error: "must begin with a letter or `_` and go on with at most 63 letters, digits, `_` and `-`",
});

/** The name of a secret or of a variable. */
export const variableName = z.string().regex(VARIABLE_NAME, {
  error: "must begin with a letter or `_` and go on with at most 127 letters, digits and `_`",
});

export const text = z.string().min(1, { error: "must not be empty" });

export const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: "must be a string, a number or a boolean",
});

export const scalars = z.record(z.string().min(1), scalar);

/** Any value that JSON has. The id is its own and no copy's, since it is made of itself. */
export const json = z.json().register(z.globalRegistry, { id: "value" });

export const env = scalars.meta({
  id: "environment",
  description: "Environment variables by name; the inner wins over the outer.",
});

export const condition = z
  .union([z.string(), z.boolean()], { error: "must be an expression such as `trigger.ref == 'main'`, true or false" })
  .meta({
    id: "condition",
    description: "An expression; `success() &&` is implied unless a status function is called.",
  });

/** One expression in the place of a value that is no text; the value is checked when it is known. `words`: what else it can be. */
export function orExpression<S extends z.ZodType>(schema: S, words: string): z.ZodUnion<readonly [S, z.ZodString]> {
  const error = `must be ${words}, or one expression such as \${{ fromJSON(variables.x) }}`;
  return z.union([schema, z.string().regex(/^\s*\$\{\{[^]*\}\}\s*$/, { error })], { error });
}

/** A duration as text, bounds included; what is wrong with it has its own code. */
export function duration(min: string, max: string, description: string): z.ZodType<string, string> {
  const [minMs, maxMs] = [parseDuration(min)!, parseDuration(max)!];
  const error = `must be a duration such as 90s, 15m or 1h30m, from ${min} to ${max}`;
  return z
    .string({ error })
    .refine((written) => isWithin(parseDuration(written), minMs, maxMs), {
      error,
      params: { code: "invalid-duration" },
    })
    .meta({ description: `${description} A duration from ${min} to ${max}.`, pattern: DURATION_PATTERN.source });
}

function isWithin(ms: number | undefined, minMs: number, maxMs: number): boolean {
  return ms !== undefined && ms >= minMs && ms <= maxMs;
}

const patternList = z.array(text).min(1).max(LIMITS.listItems);
const patternFilter = z
  .strictObject({
    include: patternList.optional().describe("At least one must match. Default: any."),
    exclude: patternList.optional().describe("None may match."),
  })
  .meta({ id: "patternFilter", title: "filter" });

/** A list of glob patterns, or those to take and those to leave out. */
export function patterns(description: string): z.ZodType<PatternsInput, PatternsInput> {
  return z
    .union([patternList, patternFilter], { error: "must be a list of patterns, or a map with `include` and `exclude`" })
    .describe(description);
}

export type PatternsInput =
  | readonly string[]
  | { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined };

/**
 * A block under both of its names; only one of them may be given, which is checked apart.
 * Source: SPEC.md spells blocks with a capital letter.
 */
export function block<K extends string, S extends z.ZodType>(
  key: K,
  schema: S,
): { readonly [P in K | Capitalize<K>]: z.ZodOptional<S> } {
  const capital = (key[0]!.toUpperCase() + key.slice(1)) as Capitalize<K>;
  return { [key]: schema.optional(), [capital]: schema.optional() } as {
    readonly [P in K | Capitalize<K>]: z.ZodOptional<S>;
  };
}

/** Schemas of values that several kinds of map have. They use patterns where possible, which the JSON Schema gives to editors. */
import { z } from "zod";
import { DURATION_PATTERN, parseDuration } from "../../domain/durations.ts";
import { NOT_IN_NAMES, PLAIN_TEXT, PLAIN_TEXT_RULE, VARIABLE_NAME } from "../../domain/names.ts";
import { LIMITS } from "./limits.ts";

/** A text of one line that is not blank. */
export const name = z.string().regex(new RegExp(`^(?=.*\\S)[^${NOT_IN_NAMES}]{1,${LIMITS.nameChars}}$`, "u"), {
  error: `must be 1 to ${LIMITS.nameChars} characters on one line, without marks that reorder text`,
});

/** A name that expressions can use without quotes. */
export const identifier = z.string().regex(/^[A-Za-z_][\w-]{0,63}$/, {
  error: "must begin with a letter or `_`, followed by at most 63 letters, digits, `_` or `-`",
});

/** The name of a secret or of a variable. */
export const variableName = z.string().regex(VARIABLE_NAME, {
  error: "must begin with a letter or `_`, followed by at most 127 letters, digits or `_`",
});

export const text = z.string().min(1, { error: "must not be empty" });

/** The name of a group or of a label. */
export const plainText = text.regex(PLAIN_TEXT, { error: PLAIN_TEXT_RULE });

export const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: "must be a string, a number or a boolean",
});

export const scalars = z.record(z.string().min(1), scalar);

/** Any JSON value. It is registered, not copied with `meta`, because the schema refers to itself. */
export const json = z.json().register(z.globalRegistry, { id: "value" });

export const env = scalars.meta({
  id: "environment",
  description:
    "Environment variables by name. Those of a step override those of its job, which override those of the pipeline.",
});

export const condition = z
  .union([z.string(), z.boolean()], { error: "must be an expression such as `trigger.ref == 'main'`, true or false" })
  .meta({
    id: "condition",
    description: "An expression. It implies `success() &&` unless it calls a status function.",
  });

/**
 * A value of another type than text, or one expression that gives it, which is checked when its value is known. `words` says what
 * the value must be, for messages.
 */
export function orExpression<S extends z.ZodType>(schema: S, words: string): z.ZodUnion<readonly [S, z.ZodString]> {
  const error = `must be ${words}, or one expression such as \${{ fromJSON(variables.x) }}`;
  return z.union([schema, z.string().regex(/^\s*\$\{\{[^]*\}\}\s*$/, { error })], { error });
}

/** A duration as text, from `min` to `max`, both included. A wrong one has the code `invalid-duration`. */
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

/** A list of glob patterns, or a map of those to include and those to exclude. */
export function patterns(description: string): z.ZodType<PatternsInput, PatternsInput> {
  return z
    .union([patternList, patternFilter], { error: "must be a list of patterns, or a map with `include` and `exclude`" })
    .describe(description);
}

export type PatternsInput =
  | readonly string[]
  | { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined };

/**
 * A block under both of its names, of which a definition may have one: `refuseBothSpellings` checks that.
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

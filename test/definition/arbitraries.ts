/** Random definitions: values that mostly have the shape of the language, and definitions that were changed at random. */
import fc from "fast-check";
import type { Format } from "../../src/definition/text/read-text.ts";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { readCorpus } from "./corpus.ts";

interface Shape {
  readonly $ref?: string;
  readonly allOf?: readonly Shape[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly dependencies?: Readonly<Record<string, readonly string[]>>;
  readonly propertyNames?: Shape;
  readonly additionalProperties?: Shape | false;
}

const SCHEMA = definitionJsonSchema() as unknown as Shape & { readonly definitions: Readonly<Record<string, Shape>> };
/** The depth at which nested values end; only `value` of the schema can nest without end. */
const DEEP = 24;

const TEXTS = ["a", "b", "c", "build", "test", "ü 🚀", "5", "main", "x\ny", "a@mail.example", "src/**"];
const EXPRESSIONS = [
  "${{ trigger.ref }}",
  "v${{ variables.a }}-${{ matrix.a }}",
  "${{ fromJSON('[1, 2]') }}",
  "${{ trigger.list }}",
  "${{ jobs.a.outputs.a }}",
  "${{ steps.a.outputs.b }}",
  "${{ secrets.A }}",
  "${{ env.a }}",
  "${{ run.id",
  "${{",
];
const CONDITIONS = [
  "success()",
  "failure() || always()",
  "trigger.ref == 'main'",
  "${{ !cancelled() }}",
  "run.attempt > 1",
  "matrix.a == 1",
  "jobs.a.result == 'success'",
];
/** Valid values of keys for which the schema says too little. */
const BY_KEY: Readonly<Record<string, readonly string[]>> = {
  container: ["node:22.12"],
  event: ["push", "tag", "pull_request"],
  image: ["node:22.12", "registry.example/team/tools:1"],
  memory: ["512m", "2g"],
  repo: ["https://git.example/a.git", "git@git.example:a/b.git"],
  schedule: ["0 3 * * *", "*/5 * * * 1-5"],
  timezone: ["Europe/Berlin", "UTC"],
  url: ["https://hooks.example/x", "${{ secrets.URL }}"],
  uses: ["shell", "shell", "checkout", "http", "cache", "team/plugin@1.2"],
  when: CONDITIONS,
};

/** Definitions: half of them are valid except for the names in them, the others have some wrong values. */
export const specs: fc.Arbitrary<unknown> = fc
  .constantFrom(0, 60)
  .chain((wrong) => valuesOf(SCHEMA, "", 0, wrong))
  .map((spec) => callApart(withoutInclude(spec)));

/** No file is there that a definition could include. */
function withoutInclude(spec: unknown): unknown {
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return spec;
  const { include: _, ...others } = spec as { include?: unknown };
  return others;
}

/** One value of `wrong` values is replaced by any JSON value; 0 replaces none. */
function valuesOf(shape: Shape, key: string, depth: number, wrong: number): fc.Arbitrary<unknown> {
  const right = rightValuesOf(shape, key, depth, wrong);
  return wrong === 0
    ? right
    : fc.oneof({ weight: wrong, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
}

function rightValuesOf(shape: Shape, key: string, depth: number, wrong: number): fc.Arbitrary<unknown> {
  if (depth > DEEP) return fc.constant("deep");
  const inner = (of: Shape, at = key): fc.Arbitrary<unknown> => valuesOf(of, at, depth + 1, wrong);
  const { $ref = shape.allOf?.[0]?.$ref, anyOf, enum: words, const: word } = shape;
  if ($ref !== undefined) return inner(SCHEMA.definitions[$ref.replace("#/definitions/", "")]!);
  if (words !== undefined) return fc.constantFrom(...words);
  if (word !== undefined) return fc.constant(word);
  if (shape.type === undefined && anyOf !== undefined) return fc.oneof(...anyOf.map((one) => inner(one)));
  if (Array.isArray(shape.type)) return fc.oneof(...shape.type.map((type: string) => inner({ type })));
  const { minimum = -5, maximum = 5, minItems: minLength = 0 } = shape;
  switch (shape.type) {
    case "string":
      return fc.oneof({ weight: 60, arbitrary: textsLike(shape, key) }, { weight: 1, arbitrary: oneOf(EXPRESSIONS) });
    case "integer":
    case "number":
      return fc.integer({ min: Math.ceil(minimum), max: Math.min(maximum, Math.ceil(minimum) + 5) });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(inner(shape.items!), { minLength, maxLength: 3 });
    case "object":
      return mapsLike(shape, inner);
    default:
      return fc.constant(null);
  }
}

function textsLike({ pattern = "", description = "" }: Shape, key: string): fc.Arbitrary<string> {
  const bounds = /from (\w+) to (\w+)\.$/.exec(description);
  if (bounds !== null) return oneOf([bounds[1]!, bounds[2]!]);
  const like = new RegExp(pattern, "u");
  const plain = TEXTS.filter((text) => like.test(text));
  return oneOf(BY_KEY[key] ?? (plain.length > 0 ? plain : EXPRESSIONS.filter((text) => like.test(text))));
}

function oneOf(texts: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...texts);
}

function mapsLike(shape: Shape, inner: (of: Shape, key: string) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { properties, required = [], dependencies = {}, additionalProperties } = shape;
  if (properties === undefined) {
    const keys = textsLike({ pattern: "^[a-z]+$" }, "");
    return fc.dictionary(keys, inner(additionalProperties === false ? {} : additionalProperties!, ""), { maxKeys: 3 });
  }
  const choices = [...(shape.oneOf ?? shape.anyOf ?? [{}])].map((choice) => choice.required ?? []);
  const others = Object.keys(properties).filter(
    (key) => !required.includes(key) && !choices.flat().includes(key) && !/^[A-Z]/.test(key) && key !== "ref",
  );
  const fits = (key: string, choice: readonly string[]): boolean => choice.includes(key) || others.includes(key);
  return fc
    .tuple(fc.constantFrom(...choices), fc.subarray(others, { maxLength: Math.min(3, others.length) }))
    .map(([choice, some]) => {
      const fitting = some.filter((key) => (dependencies[key] ?? []).every((one) => fits(one, choice)));
      return [...required, ...choice, ...fitting, ...fitting.flatMap((key) => dependencies[key] ?? [])];
    })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, inner(properties[key]!, key)]))))
    .chain((map) => ("uses" in map ? withArgs(map, inner) : fc.constant(map)));
}

/** Arguments that fit the `uses` of the step. */
function withArgs(
  step: Record<string, unknown>,
  inner: (of: Shape, key: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const args = SCHEMA.definitions[`${String(step["uses"])}Args`];
  if (args === undefined) return fc.constant(step);
  const { action: _, ...rest } = step;
  return inner(args, "args").map((fitting) => ({ ...rest, args: fitting }));
}

/** Gives unique names to stages, jobs and steps, and existing names to needs: few values have such names by chance. */
function callApart(spec: unknown): unknown {
  const taken = new Map<string, string[]>();
  const visit = (value: unknown, kind: string): void => {
    if (typeof value !== "object" || value === null) return;
    const map = value as Record<string, unknown>;
    for (const key of ["name", "id"].filter((one) => typeof map[one] === "string" && "jobs steps".includes(kind))) {
      const names = taken.get(`${kind} ${key}`) ?? [];
      taken.set(`${kind} ${key}`, names);
      const name = String(map[key]);
      map[key] = names.includes(name) ? `${name}${names.length}` : name;
      names.push(String(map[key]));
    }
    if ("needs" in map) map["needs"] = taken.get("jobs name")?.slice(-2, -1) ?? [];
    for (const [key, item] of Object.entries(map)) visit(item, Array.isArray(value) ? kind : key);
  };
  visit(spec, "");
  return spec;
}

const LAYOUT = [
  ":",
  ": ",
  "- ",
  "\n",
  "\n  ",
  "  ",
  "\t",
  "[",
  "]",
  "{",
  "}",
  ", ",
  "#",
  "|",
  ">-",
  "? ",
  "---\n",
  "...",
];
const MARKS = [
  "&a ",
  "*a",
  "<<: ",
  "!!str ",
  "!x ",
  '"',
  "'",
  "\\",
  "%",
  "@",
  "\r\n",
  "\u0000",
  "\ufeff",
  "\u2028",
  "\ud800",
  "🚀",
];
const OPERATORS = [
  "${{",
  "}}",
  "(",
  ")",
  "==",
  "&&",
  "||",
  "!",
  "success()",
  "trigger.ref",
  "matrix.",
  "steps.a",
  ".*",
];
const WORDS = ["jobs:", "stages:", "steps:", "uses: shell", "needs: [a]", "matrix:", "when: ", "null", "1e999", "0x1F"];

interface Change {
  readonly kind: "cut" | "double" | "swap" | "insert";
  /** Fractions of the length of the text, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly token: string;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("cut", "double", "swap", "insert"),
  from: share,
  to: fc.oneof(share, fc.constant(0)),
  token: fc.constantFrom(...LAYOUT, ...MARKS, ...OPERATORS, ...WORDS),
});

/** Small definitions of the corpus, after one to four random changes. */
export const brokenTexts: fc.Arbitrary<{ readonly text: string; readonly format: Format }> = fc
  .tuple(
    fc.constantFrom(...readCorpus().filter(({ text }) => text.length < 5_000)),
    fc.array(change, { minLength: 1, maxLength: 4 }),
  )
  .map(([{ text, format }, changes]) => ({ text: changes.reduce(apply, text), format }));

function apply(text: string, { kind, from, to, token }: Change): string {
  const start = Math.floor(from * text.length);
  // The part is mostly short, because a text without a long part has few problems to find.
  const end = Math.min(text.length, start + 1 + Math.floor(to * to * text.length * 0.3));
  const [before, part, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  switch (kind) {
    case "cut":
      return before + after;
    case "double":
      return before + part + part + after;
    case "swap":
      return before + after.slice(0, part.length) + part + after.slice(part.length);
    case "insert":
      return before + token + part + after;
  }
}

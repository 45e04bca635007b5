/**
 * The functions that expressions may call, each with a bound on the text that it makes: a `format` within a `format` doubles its
 * text at every level, so fifty levels would need more memory than any machine has. Their errors contain no value, since a value
 * can be a secret.
 */
import { data, wellKnownFunctions } from "@actions/expressions";
import { ITEM_WORK, MAX_JSON_DEPTH, MAX_TEXT_CHARS } from "./bounds.ts";
import { fromData, type Json, toData } from "./context-data.ts";
import { readPattern } from "./format-pattern.ts";

export const FUNCTIONS = ["contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON"] as const;

/** Functions about the results of earlier jobs and steps. Only conditions can call them. */
export const STATUS_FUNCTIONS = ["success", "failure", "always", "cancelled"] as const;

export type FunctionName = (typeof FUNCTIONS)[number];
export type StatusFunction = (typeof STATUS_FUNCTIONS)[number];

/** What the status functions answer where a condition is decided. Both `success` and `failure` are false when a run is cancelled. */
export interface Status {
  readonly success: boolean;
  readonly failure: boolean;
  readonly cancelled: boolean;
}

/** A status in which a value that is not known yet is undefined. */
export type PartialStatus = { readonly [Name in keyof Status]?: boolean | undefined };

/** A function of the library that takes more arguments than this takes any number of them. */
const MANY = 100;

interface LanguageFunction {
  /** The work of a call, in characters. Throws a RangeError when the text that the call makes would be too long. */
  readonly work: (args: readonly data.ExpressionData[]) => number;
  readonly call: (...args: data.ExpressionData[]) => data.ExpressionData;
}

const CALLS: Readonly<Record<FunctionName, LanguageFunction>> = {
  contains: { work: containsWork, call: wellKnownFunctions["contains"]!.call },
  startsWith: { work: readingWork, call: wellKnownFunctions["startswith"]!.call },
  endsWith: { work: readingWork, call: wellKnownFunctions["endswith"]!.call },
  format: { work: (args) => readingWork(args) * 8 + requireTextLength(formattedLength(args)), call: format },
  join: { work: joinWork, call: wellKnownFunctions["join"]!.call },
  toJSON: { work: ([value]) => jsonLength(value!, 0) * 2, call: toJson },
  fromJSON: { work: (args) => readingWork(args) * ITEM_WORK, call: fromJson },
};

const BY_LOWER_CASE = new Map([...FUNCTIONS, ...STATUS_FUNCTIONS].map((name) => [name.toLowerCase(), name]));

/** The name of a function as the language spells it, for a name in any case; undefined when there is no such function. */
export function functionNamed(name: string): FunctionName | StatusFunction | undefined {
  return BY_LOWER_CASE.get(name.toLowerCase());
}

export function isStatusFunction(name: string): name is StatusFunction {
  return (STATUS_FUNCTIONS as readonly string[]).includes(name);
}

/** A text such as "`join` takes 1 or 2 arguments", for a name in any case; empty when there is no such function. */
export function requiredArguments(name: string): string {
  const known = functionNamed(name);
  if (known === undefined) return "";
  if (isStatusFunction(known)) return `\`${known}\` takes no arguments`;
  const { minArgs, maxArgs } = wellKnownFunctions[known.toLowerCase()]!;
  const count = maxArgs > MANY ? `${minArgs} or more` : minArgs === maxArgs ? `${minArgs}` : `${minArgs} or ${maxArgs}`;
  return `\`${known}\` takes ${count} argument${count === "1" ? "" : "s"}`;
}

/** Passes the work of a call, in characters, to `charge`, then calls the function. Throws what `charge` and the function throw. */
export function callFunction(
  name: FunctionName,
  args: readonly data.ExpressionData[],
  charge: (work: number) => void,
): data.ExpressionData {
  charge(CALLS[name].work(args));
  const result = CALLS[name].call(...args);
  if (result.kind === data.Kind.String) requireTextLength(result.value.length);
  return result;
}

/** The work of reading or comparing `values`, in characters. */
export function readingWork(values: readonly data.ExpressionData[]): number {
  let work = 0;
  for (const value of values) {
    const chars = value.kind === data.Kind.String ? value.value.length : 1;
    // The evaluator splits a text at every dotless i (ı) before it compares without case, so such a text costs more.
    work += value.kind === data.Kind.String && value.value.includes("ı") ? chars * ITEM_WORK : chars;
  }
  return work;
}

/** Answers `chars`. Throws a RangeError when a text of this many characters is too long. */
export function requireTextLength(chars: number): number {
  if (chars > MAX_TEXT_CHARS) throw new RangeError(`the text would have more than ${MAX_TEXT_CHARS} characters`);
  return chars;
}

function format(...[pattern, ...values]: data.ExpressionData[]): data.ExpressionData {
  const parts = readPattern(pattern!.coerceString());
  if (parts === null) throw new Error("the pattern of `format` has a single brace; write `{{` or `}}` for a brace");
  const texts = parts.map((part) => {
    if (typeof part === "string") return part;
    const value = values[part];
    if (value === undefined)
      throw new Error(`the pattern of \`format\` needs more values than the ${values.length} given`);
    return value.coerceString();
  });
  return new data.StringData(texts.join(""));
}

function toJson(value: data.ExpressionData): data.ExpressionData {
  return new data.StringData(JSON.stringify(fromData(value), null, 2));
}

function fromJson(value: data.ExpressionData): data.ExpressionData {
  const text = value.coerceString();
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    throw new Error(`the argument of \`fromJSON\` is ${text.trim() === "" ? "an empty text" : "not JSON"}`);
  }
  if (isDeeper(parsed, MAX_JSON_DEPTH)) {
    throw new RangeError(`the argument of \`fromJSON\` is nested more than ${MAX_JSON_DEPTH} deep`);
  }
  return toData(parsed);
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item: Json) => isDeeper(item, levels - 1));
}

/** The work of `contains`: each comparison with an item reads the searched text again. */
function containsWork(args: readonly data.ExpressionData[]): number {
  const [list, sought] = args;
  if (!(list instanceof data.Array)) return readingWork(args);
  const items = list.values();
  return readingWork(items) + items.length * (ITEM_WORK + readingWork([sought!]));
}

function formattedLength([pattern, ...values]: readonly data.ExpressionData[]): number {
  let length = 0;
  for (const part of readPattern(pattern!.coerceString()) ?? []) {
    length += typeof part === "string" ? part.length : (values[part]?.coerceString().length ?? 0);
  }
  return length;
}

function joinWork([list, separator]: readonly data.ExpressionData[]): number {
  if (!(list instanceof data.Array)) return readingWork([list!]);
  const items = list.values();
  const between = separator?.coerceString().length ?? 1;
  const length = items.reduce((chars, item) => chars + item.coerceString().length + between, 0);
  return items.length * ITEM_WORK + requireTextLength(length);
}

/** At least the length of the indented JSON of a value: indentation can make it much longer than the value. */
function jsonLength(value: data.ExpressionData, depth: number): number {
  if (value.kind === data.Kind.String) return value.value.length + 2;
  if (value.kind !== data.Kind.Array && value.kind !== data.Kind.Dictionary) return 1;
  let length = 2;
  const count = (key: string, item: data.ExpressionData): void => {
    length = requireTextLength(length + 2 * depth + key.length + jsonLength(item, depth + 1));
  };
  if (value.kind === data.Kind.Array) for (const item of value.values()) count("", item);
  else for (const pair of value.pairs()) count(pair.key, pair.value);
  return length;
}

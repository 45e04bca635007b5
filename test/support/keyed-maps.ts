/** Every kind of map in the definition language that has its own keys, and the types of these keys in words. */
import { z } from "zod";
import { DURATION_PATTERN } from "../../src/domain/durations.ts";
import { pipelineSchema } from "../../src/definition/schema/pipeline.ts";
import { BUILTIN_ARGS } from "../../src/definition/checks/uses.ts";

type Schema = z.core.JSONSchema.BaseSchema;
type Definitions = Readonly<Record<string, Schema>>;

export interface KeyedMap {
  readonly schema: Schema;
  /** The schemas that references in `schema` point to, by name. */
  readonly definitions: Definitions;
}

/** The maps by title. */
export const KEYED_MAPS: ReadonlyMap<string, KeyedMap> = new Map([
  ...mapsIn(pipelineSchema),
  ...[...BUILTIN_ARGS].flatMap(([name, args]) => mapsIn(args.meta({ title: `arguments of ${name}` }))),
]);

interface Described {
  /** For example "list of strings", with links to the headings of other maps. */
  readonly type: string;
  readonly meaning: string;
}

export function typeOf(schema: Schema, definitions: Definitions): Described {
  const meaning = schema.description ?? resolve(schema, definitions).description ?? "";
  const range = / A duration from (\S+) to (\S+)\.$/.exec(meaning);
  if (range === null) return { type: words(schema, definitions, false), meaning };
  return { type: `duration, ${range[1]} to ${range[2]}`, meaning: meaning.slice(0, range.index) };
}

function mapsIn(root: z.ZodType): readonly (readonly [string, KeyedMap])[] {
  const schema = z.toJSONSchema(root, { io: "input" });
  const definitions = (schema.$defs ?? {}) as Definitions;
  return [schema, ...Object.values(definitions)].flatMap((map) =>
    map.properties === undefined ? [] : [[map.title ?? "", { schema: map, definitions }] as const],
  );
}

function resolve(schema: Schema, definitions: Definitions): Schema {
  return schema.$ref === undefined ? schema : definitions[nameOf(schema.$ref)]!;
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function words(schema: Schema, definitions: Definitions, many: boolean): string {
  const noun = (one: string, several = `${one}s`): string => (many ? several : one);
  const resolved = resolve(schema, definitions);
  if (schema.$ref !== undefined) {
    if (nameOf(schema.$ref) === "condition") return `[${noun("condition")}](#conditions)`;
    if (nameOf(schema.$ref) === "value") return noun("any value");
    const { title, properties } = resolved;
    if (title !== undefined && properties !== undefined) return `[${noun(title)}](#${anchorOf(title)})`;
  }
  if (resolved.enum !== undefined) return listWords(resolved.enum.map((word) => `\`${String(word)}\``));
  if (resolved.const !== undefined) return `\`${String(resolved.const)}\``;
  const branches = resolved.anyOf ?? (Array.isArray(resolved.type) ? resolved.type.map((type) => ({ type })) : []);
  if (branches.length > 0) {
    return listWords([...new Set(branches.map((branch) => words(branch as Schema, definitions, many)))]);
  }
  switch (resolved.type) {
    case "array":
      return `${noun("list")} of ${words(resolved.items as Schema, definitions, true)}`;
    case "object":
      return `${noun("map")} of ${words(resolved.additionalProperties as Schema, definitions, true)}`;
    case "integer":
      return `${noun("whole number")}${bounds(resolved)}`;
    case "number":
      return `${noun("number")}${bounds(resolved)}`;
    case "boolean":
      return noun("boolean");
    case "string":
      return textWords(resolved, noun);
    default:
      throw new Error(`no words for ${JSON.stringify(resolved)}`);
  }
}

function textWords({ pattern, maxLength }: Schema, noun: (one: string) => string): string {
  if (pattern === DURATION_PATTERN.source) return noun("duration");
  if (pattern?.includes("\\{\\{") === true) return noun("expression");
  return `${noun("string")}${maxLength === undefined ? "" : ` of up to ${maxLength} characters`}`;
}

function bounds({ minimum, maximum }: Schema): string {
  return minimum === undefined || maximum === undefined ? "" : `, ${minimum} to ${maximum}`;
}

function listWords(all: readonly string[]): string {
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
}

/** The anchor that GitHub gives a heading. */
function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

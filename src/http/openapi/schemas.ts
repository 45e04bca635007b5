/** JSON Schemas of the shapes, with the named ones apart. */
import { z } from "zod";

export type JsonSchema = { [key: string]: unknown };

/** What zod calls the schema of any JSON, the only one that contains itself. */
const ANY_JSON = /^__schema\d+$/;
/** Where a reference to a named schema points. */
const COMPONENTS = "#/components/schemas/";

export interface SchemaOptions {
  /** Answers of a published version may gain fields: their schemas do not close objects unless this is true. */
  readonly closesAnswers: boolean;
}

/** Makes schemas, and collects the named ones. */
export class SchemaMaker {
  readonly named: Record<string, JsonSchema> = {};
  /** True when objects of answers have no other members than those of their shape. */
  readonly closesAnswers: boolean;

  constructor({ closesAnswers }: SchemaOptions) {
    this.closesAnswers = closesAnswers;
  }

  /** What a caller sends. */
  input(shape: z.ZodType): JsonSchema {
    return this.#make(shape, "input");
  }

  /** What a caller is answered. */
  output(shape: z.ZodType): JsonSchema {
    return this.#make(shape, "output");
  }

  #make(shape: z.ZodType, io: "input" | "output"): JsonSchema {
    const { $schema: _, $defs = {}, ...made } = z.toJSONSchema(shape, { io, override: (one) => tidy(one, io) });
    const isOpen = io === "output" && !this.closesAnswers;
    for (const [name, schema] of Object.entries($defs)) {
      if (ANY_JSON.test(name)) continue;
      const { id: _id, ...named } = schema as JsonSchema;
      this.named[name] ??= rewrite(named, isOpen);
    }
    const { id, ...own } = rewrite(made, isOpen);
    if (typeof id !== "string") return own;
    this.named[id] ??= own;
    return { $ref: COMPONENTS + id };
  }
}

interface Overridden {
  readonly jsonSchema: JsonSchema;
}

function tidy({ jsonSchema }: Overridden, io: "input" | "output"): void {
  delete jsonSchema["readOnly"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  // A parameter is a text for zod, and a number for callers.
  if (jsonSchema["type"] === "integer") delete jsonSchema["pattern"];
  if (io === "output") delete jsonSchema["propertyNames"];
  const { pattern } = jsonSchema;
  if (typeof pattern === "string" && pattern.includes("\\p{")) {
    // Few programs besides those in JavaScript read classes of Unicode.
    delete jsonSchema["pattern"];
    jsonSchema["description"] = `It must match /${pattern}/u.`;
  }
}

/** With references to the components, and, when `isOpen`, with objects that may have further members. */
function rewrite(schema: JsonSchema, isOpen: boolean): JsonSchema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value && ANY_JSON.test(String(value.$ref).split("/").at(-1)!)) return {};
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        if (key === "$ref" && typeof item === "string") return [[key, item.replace("#/$defs/", COMPONENTS)]];
        if (isOpen && key === "additionalProperties" && item === false) return [];
        return [[key, walk(item)]];
      }),
    );
  };
  return walk(schema) as JsonSchema;
}

/** The arguments of an action of a plugin, read from their JSON Schema. Pure. */

export interface Argument {
  readonly name: string;
  /** In words, such as `list of string` or `north | south, default north`. */
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** What an object describes by `properties` alone can be shown as a list; other keywords say more than a list can. */
const SIMPLE = new Set(["$schema", "type", "title", "description", "properties", "required", "additionalProperties"]);

/** Undefined for a schema that only its own text can show. */
export function argumentsOf(schema: unknown): readonly Argument[] | undefined {
  if (schema === false) return [];
  if (!isObject(schema) || schema["type"] !== "object" || isObject(schema["additionalProperties"])) return undefined;
  if (Object.keys(schema).some((key) => !SIMPLE.has(key))) return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  return Object.entries(properties).map(([name, value]) => ({
    name,
    type: typeText(value),
    description: isObject(value) && typeof value["description"] === "string" ? value["description"] : "",
    isRequired: required.includes(name),
  }));
}

function typeText(schema: unknown): string {
  if (!isObject(schema)) return schema === false ? "nothing" : "any value";
  const fallback = schema["default"] === undefined ? "" : `, default ${valueText(schema["default"])}`;
  return `${kindText(schema)}${fallback}`;
}

function kindText(schema: Readonly<Record<string, unknown>>): string {
  if (schema["const"] !== undefined) return valueText(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map(valueText).join(" | ");
  const { type, items } = schema;
  const kind = Array.isArray(type) ? type.join(" | ") : typeof type === "string" ? type : "any value";
  const { minimum, maximum } = schema;
  if (kind === "array") return `list of ${isObject(items) ? kindText(items) : "any value"}`;
  if (typeof minimum === "number" && typeof maximum === "number") return `${kind}, ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `${kind}, ${minimum} or more`;
  return typeof maximum === "number" ? `${kind}, ${maximum} or less` : kind;
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

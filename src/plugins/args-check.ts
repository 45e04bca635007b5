/** Checks arguments against the JSON Schema of an action. No message contains a value, since a value can be a secret. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { fromPointer, isWithin, toPointer } from "../domain/json-pointer.ts";
import type { ArgsPath, ArgsProblem, JsonSchema } from "../domain/plugins.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const MAX_PROBLEMS = 20;
const MAX_LISTED_VALUES = 20;

const compiled = new WeakMap<object, ValidateFunction>();

/**
 * What breaks `schema`; at most 20 problems. A value at a place for which `isDeferred` is true is known only during the run:
 * the answer has no problem of such a value, and none that depends on it.
 */
export function checkArgs(
  schema: JsonSchema | null,
  args: unknown,
  isDeferred: (path: ArgsPath) => boolean = () => false,
): readonly ArgsProblem[] {
  if (schema === null || schema === true) return [];
  if (schema === false) return [{ path: [], message: "must not be given" }];
  const validate = compiled.get(schema) ?? compileSchema(schema);
  if (validate(args)) return [];
  const deferred = findDeferredPlaces(args, isDeferred);
  const certain = (validate.errors ?? []).filter((error) => deferred.length === 0 || isCertain(error, deferred));
  const problems = new Map<string, ArgsProblem>();
  for (const error of certain) {
    const problem = describe(error);
    problems.set(`${problem.path.join("/")} ${problem.message}`, problem);
  }
  return [...problems.values()].slice(0, MAX_PROBLEMS);
}

/** Compiles a schema and keeps it for later checks. Throws an error whose text says what is wrong with the schema itself. */
export function compileSchema(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const dialect = schema["$schema"];
  if (schema["$async"] !== undefined) throw new Error("must not be asynchronous");
  if (dialect !== undefined && dialect !== DIALECT) throw new Error(`must be of JSON Schema 2020-12, ${DIALECT}`);
  // `format` is an annotation in 2020-12, not a check.
  const ajv = new Ajv2020({
    allErrors: true,
    // Refuses unknown keywords, which are mistakes. The three rules of `strict` that are off refuse matters of taste.
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    logger: false,
  });
  if (!ajv.validateSchema(schema)) {
    const [error] = ajv.errors ?? [];
    throw new Error(`is not a JSON Schema: ${error?.instancePath ?? ""} ${error?.message ?? ""}`.trim());
  }
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** True when no value at the deferred places could make the error go away. */
function isCertain({ instancePath, schemaPath, keyword }: ErrorObject, deferred: readonly string[]): boolean {
  // Below a choice (`anyOf`, `if`) or a reference, a value at one place can cause an error at another place.
  if (
    !/^#(?:\/properties\/[^/]+|\/items|\/prefixItems\/\d+|\/additionalProperties|\/allOf\/\d+)*\/[A-Za-z]+$/.test(
      schemaPath,
    )
  ) {
    return false;
  }
  if (deferred.some((place) => isWithin(instancePath, place))) return false;
  return ABOUT_SHAPE.has(keyword) || !deferred.some((place) => isWithin(place, instancePath));
}

/** Keywords whose errors about a map or a list do not depend on the values in it. */
const ABOUT_SHAPE: ReadonlySet<string> = new Set([
  "type",
  "required",
  "additionalProperties",
  "minProperties",
  "maxProperties",
  "minItems",
  "maxItems",
]);

function findDeferredPlaces(args: unknown, isDeferred: (path: ArgsPath) => boolean): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: ArgsPath): void => {
    if (isDeferred(path)) found.push(toPointer(path));
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) walk(item, [...path, index]);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) walk(item, [...path, key]);
    }
  };
  walk(args, []);
  return found;
}

function describe({ instancePath, keyword, params, message = "is wrong" }: ErrorObject): ArgsProblem {
  const path = fromPointer(instancePath);
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params as Record<string, unknown>;
  if (keyword === "required") return { path, message: `must have ${JSON.stringify(missingProperty)}` };
  const unknown = additionalProperty ?? unevaluatedProperty;
  if (typeof unknown === "string") return { path: [...path, unknown], message: "is not known" };
  if (Array.isArray(allowedValues)) {
    return {
      path,
      message: `must be one of ${allowedValues
        .slice(0, MAX_LISTED_VALUES)
        .map((value) => JSON.stringify(value))
        .join(", ")}`,
    };
  }
  return { path, message };
}

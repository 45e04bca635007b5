/** Arguments against the JSON Schema of an action: as far as they are known, and without a value in what is told. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { fromPointer, isWithin, toPointer } from "../domain/json-pointer.ts";
import type { ArgsPath, ArgsProblem, JsonSchema } from "../domain/plugins.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
/** Of problems that are told at once. */
const MOST_TOLD = 20;

const compiled = new WeakMap<object, ValidateFunction>();

/**
 * What breaks `schema`. Values at the places that `isLate` names are not known yet: nothing is told of them, nor of what
 * hangs on them.
 */
export function checkArgs(
  schema: JsonSchema | null,
  args: unknown,
  isLate: (path: ArgsPath) => boolean = () => false,
): readonly ArgsProblem[] {
  if (schema === null || schema === true) return [];
  if (schema === false) return [{ path: [], message: "must not be given" }];
  const validate = compiled.get(schema) ?? compileSchema(schema);
  if (validate(args)) return [];
  const late = latePlacesOf(args, isLate);
  const told = (validate.errors ?? []).filter((error) => late.length === 0 || isCertain(error, late));
  const problems = new Map<string, ArgsProblem>();
  for (const error of told) {
    const problem = describe(error);
    problems.set(`${problem.path.join("/")} ${problem.message}`, problem);
  }
  return [...problems.values()].slice(0, MOST_TOLD);
}

/** Throws an error whose text says what is wrong with the schema itself. */
export function compileSchema(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const dialect = schema["$schema"];
  if (schema["$async"] !== undefined) throw new Error("must not be asynchronous");
  if (dialect !== undefined && dialect !== DIALECT) throw new Error(`must be of JSON Schema 2020-12, ${DIALECT}`);
  // Formats say what is meant and are no checks, as 2020-12 has it.
  const ajv = new Ajv2020({
    allErrors: true,
    // Unknown keywords are mistakes; what else it finds is a matter of taste.
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    validateFormats: false,
    logger: false,
  });
  if (!ajv.validateSchema(schema)) {
    const [error] = ajv.errors ?? [];
    throw new Error(`is no JSON Schema: ${error?.instancePath ?? ""} ${error?.message ?? ""}`.trim());
  }
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** True when no value of the late places could make the error go away. */
function isCertain({ instancePath, schemaPath, keyword }: ErrorObject, late: readonly string[]): boolean {
  // Through a choice or a reference, what is told of one place may be the doing of another.
  if (
    !/^#(?:\/properties\/[^/]+|\/items|\/prefixItems\/\d+|\/additionalProperties|\/allOf\/\d+)*\/[A-Za-z]+$/.test(
      schemaPath,
    )
  ) {
    return false;
  }
  if (late.some((place) => isWithin(instancePath, place))) return false;
  return ABOUT_SHAPE.has(keyword) || !late.some((place) => isWithin(place, instancePath));
}

/** What these tell of a map or a list does not hang on the values in it. */
const ABOUT_SHAPE: ReadonlySet<string> = new Set([
  "type",
  "required",
  "additionalProperties",
  "minProperties",
  "maxProperties",
  "minItems",
  "maxItems",
]);

function latePlacesOf(args: unknown, isLate: (path: ArgsPath) => boolean): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: ArgsPath): void => {
    if (isLate(path)) found.push(toPointer(path));
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
        .slice(0, 20)
        .map((value) => JSON.stringify(value))
        .join(", ")}`,
    };
  }
  return { path, message };
}

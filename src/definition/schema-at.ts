/** Finds the kind of map at a path. It reads the schema itself, so that there is no second list of keys that could differ. */
import { z } from "zod";
import { pipelineSchema } from "./schema/pipeline.ts";
import type { Path } from "./text/source.ts";

/** A kind of map of the language. */
export interface Place {
  /** What messages call it, such as `a job`. */
  readonly words: string;
  readonly keys: readonly string[];
}

type Schema = z.core.$ZodType;

/** The map at the path, or undefined where the language has none with keys of its own. */
export function placeAt(path: Path): Place | undefined {
  let schemas: readonly Schema[] = unwrap(pipelineSchema);
  for (const part of path) schemas = schemas.flatMap((schema) => childOf(schema, String(part))).flatMap(unwrap);
  return schemas.flatMap(placeOf)[0];
}

/** All kinds of map of the language that have this key. */
export function placesWithKey(key: string): readonly Place[] {
  return ALL_PLACES.filter(({ keys }) => keys.includes(key));
}

function placeOf(schema: Schema): readonly Place[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const title = z.globalRegistry.get(schema)?.title ?? "map";
  return [{ words: `${/^[aeiou]/.test(title) ? "an" : "a"} ${title}`, keys: Object.keys(schema.shape) }];
}

function childOf(schema: Schema, key: string): readonly Schema[] {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, Schema>> = schema.shape;
    return Object.hasOwn(shape, key) ? [shape[key]!] : [];
  }
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  return schema instanceof z.ZodArray ? [schema.element] : [];
}

/** The schemas that a value can have: the members of unions, without wrappers such as `optional`. */
function unwrap(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrap);
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  return [schema];
}

const ALL_PLACES: readonly Place[] = collect(pipelineSchema);

function collect(root: Schema): readonly Place[] {
  const places = new Map<Schema, readonly Place[]>();
  const visit = (schema: Schema): void => {
    for (const inner of unwrap(schema)) {
      if (places.has(inner)) continue;
      places.set(inner, placeOf(inner));
      if (inner instanceof z.ZodObject) Object.values<Schema>(inner.shape).forEach(visit);
      else if (inner instanceof z.ZodRecord) visit(inner.valueType);
      else if (inner instanceof z.ZodArray) visit(inner.element);
    }
  };
  visit(root);
  return [...places.values()].flat();
}

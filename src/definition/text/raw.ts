/**
 * Reading a value of unknown shape. The checks of a definition also run where its shape has errors: they read the parts that
 * have the right shape and skip the others, about which the schema reports.
 */
import type { Path } from "./source.ts";

/** A map whose values may have any shape. */
export type Raw = Readonly<Record<string, unknown>>;

/** A map with its place in the definition. */
export interface Located {
  readonly value: Raw;
  readonly path: Path;
}

/** The value if it is a map; undefined for a list, a scalar or null. */
export function asMap(value: unknown): Raw | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;
}

/** The maps among the items of a list, with their places; none for a value that is not a list. */
export function mapsOf(value: unknown, path: Path): readonly Located[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => {
    const map = asMap(item);
    return map === undefined ? [] : [{ value: map, path: [...path, index] }];
  });
}

/** The texts among the items of a list, with their places; none for a value that is not a list. */
export function textsOf(value: unknown, path: Path): readonly { readonly text: string; readonly path: Path }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => (typeof item === "string" ? [{ text: item, path: [...path, index] }] : []));
}

/** A block with its place, under the name that it has in the map: `approval` or `Approval`. */
export function blockOf(
  map: Raw,
  path: Path,
  key: string,
): { readonly value: unknown; readonly path: Path } | undefined {
  const given = [key, key[0]!.toUpperCase() + key.slice(1)].find((name) => map[name] !== undefined);
  return given === undefined ? undefined : { value: map[given], path: [...path, given] };
}

/** As {@link blockOf}, for a block that is a map; undefined for a block of another shape. */
export function mapBlockOf(map: Raw, path: Path, key: string): Located | undefined {
  const block = blockOf(map, path, key);
  const value = asMap(block?.value);
  return block === undefined || value === undefined ? undefined : { value, path: block.path };
}

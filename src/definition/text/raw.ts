/** Looking at a value of unknown shape: checks read what is there and pass over what has another shape. */
import type { Path } from "./source.ts";

export type Raw = Readonly<Record<string, unknown>>;

export interface Located {
  readonly value: Raw;
  readonly path: Path;
}

export function asMap(value: unknown): Raw | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;
}

/** The maps of a list, with their places. */
export function mapsOf(value: unknown, path: Path): readonly Located[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => {
    const map = asMap(item);
    return map === undefined ? [] : [{ value: map, path: [...path, index] }];
  });
}

/** The texts of a list, with their places. */
export function textsOf(value: unknown, path: Path): readonly { readonly text: string; readonly path: Path }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => (typeof item === "string" ? [{ text: item, path: [...path, index] }] : []));
}

/** A block under whichever of its two names it has, with its place. */
export function blockOf(
  map: Raw,
  path: Path,
  key: string,
): { readonly value: unknown; readonly path: Path } | undefined {
  const given = [key, key[0]!.toUpperCase() + key.slice(1)].find((name) => map[name] !== undefined);
  return given === undefined ? undefined : { value: map[given], path: [...path, given] };
}

/** As {@link blockOf}, of blocks that are maps. */
export function mapBlockOf(map: Raw, path: Path, key: string): Located | undefined {
  const block = blockOf(map, path, key);
  const value = asMap(block?.value);
  return block === undefined || value === undefined ? undefined : { value, path: block.path };
}

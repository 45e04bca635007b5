/**
 * Reads a list of stages, jobs or steps whose key is misspelt under the key that was meant, so that one validation reports the
 * problems in the list as well as the key.
 */
import { toPointer } from "../../domain/json-pointer.ts";
import { asMap, type Raw } from "../text/raw.ts";
import type { Path, Source } from "../text/source.ts";
import { meantKey, reportUnknownKey } from "./unknown-keys.ts";

/** The lists that the items of a list have. */
const WITHIN: Readonly<Record<string, readonly string[]>> = { stages: ["jobs"], jobs: ["steps"], steps: [] };

/** Corrects the misspelt keys of lists in the source's value, and reports each of them as unknown. */
export function readMisspeltLists(source: Source): void {
  const root = asMap(source.value);
  if (root === undefined) return;
  const found = new Correction();
  const value = found.correct(root, [], ["stages", "jobs"]);
  if (found.misspelt.length === 0) return;
  source.correct(value, found.written);
  for (const { path, key } of found.misspelt) reportUnknownKey(source, path, key);
}

class Correction {
  readonly misspelt: { readonly path: Path; readonly key: string }[] = [];
  /** The misspelt keys, by the pointers that their corrected keys have. */
  readonly written = new Map<string, string>();

  /** The map with corrected keys; `wanted` are the lists of which it should have one. The map itself when nothing is misspelt. */
  correct(map: Raw, path: Path, wanted: readonly string[]): Raw {
    const key = wanted.some((known) => Object.hasOwn(map, known)) ? undefined : misspeltKey(map, path, wanted);
    let corrected = map;
    if (key !== undefined) {
      const meant = meantKey(path, key)!;
      this.misspelt.push({ path, key });
      this.written.set(toPointer([...path, meant]), key);
      corrected = Object.fromEntries(Object.entries(map).map(([name, value]) => [name === key ? meant : name, value]));
    }
    for (const name of wanted) {
      const list = corrected[name];
      if (!Array.isArray(list)) continue;
      const items = list.map((item: unknown, index) => this.#correctItem(item, [...path, name, index], WITHIN[name]!));
      if (items.some((item, index) => item !== list[index])) corrected = { ...corrected, [name]: items };
    }
    return corrected;
  }

  #correctItem(item: unknown, path: Path, wanted: readonly string[]): unknown {
    const map = asMap(item);
    return map === undefined ? item : this.correct(map, path, wanted);
  }
}

/** The only key that means one of `wanted` and has a list of maps; undefined when there is none, or are several. */
function misspeltKey(map: Raw, path: Path, wanted: readonly string[]): string | undefined {
  const meaning = Object.keys(map).filter((key) => {
    const value = map[key];
    const isList = Array.isArray(value) && value.length > 0 && value.every((item) => asMap(item) !== undefined);
    return isList && wanted.includes(meantKey(path, key) ?? "");
  });
  return meaning.length === 1 ? meaning[0] : undefined;
}

/** README.md's table of folders: which folder may import what, and the linter's rules that say the same. */
import { builtinModules } from "node:module";
import { posix } from "node:path";

/** One row: folders (`src/app/`) or files (`src/config.ts`) that share their permissions. */
interface Row {
  readonly places: readonly string[];
  /**
   * Paths that may be imported: folders without those below them, or files; packages; `node` for what comes with it.
   */
  readonly allowed: readonly string[];
}

export const NODE = "node";

export class FolderTable {
  readonly #rows: readonly Row[];

  /** Throws when there is no table, or a row allows a folder that has no row itself. */
  constructor(readme: string) {
    const table = /^\| Folder .*\n(?:\|.*\n)+/m.exec(readme)?.[0];
    if (table === undefined) throw new Error("README.md has no table of folders");
    const cells = table
      .trim()
      .split("\n")
      .slice(2)
      .map((line) => line.split("|").map((cell) => cell.trim()));
    const named = cells.map(([, folder, , allowed]) => ({ places: words(folder!), allowed: words(allowed!) }));
    const places = named.flatMap((row) => row.places);
    this.#rows = named.map(({ places: own, allowed }) => ({
      places: own,
      allowed: allowed.map((word) => resolvePlace(word, places)),
    }));
  }

  get places(): readonly string[] {
    return this.#rows.flatMap((row) => row.places);
  }

  /** The place that a file belongs to: itself when it is named, else the nearest folder; undefined for none. */
  placeOf(file: string): string | undefined {
    return this.places
      .filter((place) => place === file || (place.endsWith("/") && file.startsWith(place)))
      .toSorted((a, b) => b.length - a.length)[0];
  }

  /** True when `file` may import `specifier` as it stands in it. Paths are relative to the root. */
  allows(file: string, specifier: string): boolean {
    const place = this.placeOf(file);
    const allowed = this.#rows.find((row) => row.places.includes(place!))?.allowed;
    if (allowed === undefined) return false;
    if (!specifier.startsWith(".")) return allowed.includes(packageOf(specifier));
    const target = posix.join(posix.dirname(file), specifier);
    const folder = this.placeOf(target);
    const isOwn = folder !== undefined && folder === folderOf(place!);
    return isOwn || allowed.includes(target) || (folder !== undefined && allowed.includes(folder));
  }

  /** The linter's overrides that hold every place to its row. */
  lintOverrides(): readonly object[] {
    return this.places.map((place) => {
      const group = this.#lintGroup(place);
      const message = "README.md's table of folders does not allow it.";
      const rules = { "no-restricted-imports": ["error", { patterns: [{ group, message }] }] };
      return { files: [place.endsWith("/") ? `${place}**` : place], rules };
    });
  }

  /** What a place may not import, as ignore globs. */
  #lintGroup(place: string): readonly string[] {
    const { allowed } = this.#rows.find((row) => row.places.includes(place))!;
    const from = folderOf(place);
    const own = this.places.includes(from) ? [from] : [];
    const globs = [...own, ...allowed].flatMap((each) => {
      if (each === NODE) return ["node:*", "node:*/*"];
      return isPath(each) ? [globOf(from, each)] : [each, `${each}/*`, `${each}/*/*`];
    });
    // What has a row of its own below an allowed folder needs a permission of its own.
    const refused = this.places.filter(
      (other) =>
        !allowed.includes(other) && other !== place && [...own, ...allowed].some((each) => isBelow(other, each)),
    );
    return ["**", ...globs.map((glob) => `!${glob}`), ...refused.map((other) => globOf(from, other))];
  }
}

function words(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
}

/** `domain/` is the row `src/domain/`, `run/messages.ts` a file of the row `actors/run/`; others are packages. */
function resolvePlace(word: string, places: readonly string[]): string {
  const folder = word.slice(0, word.lastIndexOf("/") + 1);
  const place = places.find((each) => each === word || each.endsWith(`/${word}`));
  if (place !== undefined) return place;
  if (word.startsWith("@") || (folder === "" && !word.endsWith(".ts"))) return word;
  const holder = places.find((each) => each === folder || each.endsWith(`/${folder}`));
  if (holder === undefined) throw new Error(`README.md allows imports of ${word}, which has no row`);
  return posix.join(holder, word.slice(folder.length));
}

function isPath(word: string): boolean {
  return word.endsWith("/") || word.endsWith(".ts");
}

function isBelow(place: string, folder: string): boolean {
  return folder.endsWith("/") && place !== folder && place.startsWith(folder);
}

/** As an import in `from` would write it; a folder stands for all that is in it. */
function globOf(from: string, place: string): string {
  const path = posix.relative(from, place) || ".";
  // To the linter `../**` holds `../../x` too, and `./*` everything.
  const all = path.endsWith("..") ? "/*" : "/**";
  return `${path.startsWith(".") ? path : `./${path}`}${place.endsWith("/") ? all : ""}`;
}

function folderOf(place: string): string {
  return place.endsWith("/") ? place : `${posix.dirname(place)}/`;
}

function packageOf(specifier: string): string {
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return NODE;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

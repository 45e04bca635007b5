/**
 * `scripts/import-policy.json`: what each folder may import. The linter's rules and the list in docs/architecture.md
 * follow from it.
 */
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { posix } from "node:path";

/**
 * One row: folders (`src/app/`) or files (`src/settings/config.ts`) that share their permissions. Paths are relative to the
 * root.
 */
export interface PolicyRow {
  readonly places: readonly string[];
  /** A text for readers: what belongs in these places. */
  readonly about: string;
  /** Folders, files, packages and `node:*`. A folder does not include the folders below it that have their own rows. */
  readonly mayImport: readonly string[];
}

/** Node's own modules. */
const NODE = "node:*";
const FILE = new URL("../../scripts/import-policy.json", import.meta.url);

interface PolicyFile {
  readonly rows: readonly PolicyRow[];
  readonly pure: readonly string[];
}

export class ImportPolicy {
  readonly rows: readonly PolicyRow[];
  /** Globs of the pure files: they use no clock, no randomness and no I/O. */
  readonly pure: readonly string[];
  /** All places of all rows. */
  readonly places: readonly string[];
  /** By file. */
  readonly #placesOf = new Map<string, string | undefined>();

  /** Throws when a row allows a folder that has no row, or a file outside every row. */
  constructor({ rows, pure }: PolicyFile) {
    this.rows = rows;
    this.pure = pure;
    this.places = rows.flatMap((row) => row.places);
    for (const { places, mayImport } of rows) {
      for (const target of mayImport.filter(isPath)) {
        const isKnown = target.endsWith("/") ? this.places.includes(target) : this.placeOf(target) !== undefined;
        if (!isKnown) throw new Error(`the import policy lets ${places.join(", ")} import ${target}, which has no row`);
      }
    }
  }

  static read(): ImportPolicy {
    return new ImportPolicy(JSON.parse(readFileSync(FILE, "utf8")) as PolicyFile);
  }

  /**
   * The place that a file belongs to: the file itself when it has a row, else the nearest folder with a row, else
   * undefined.
   */
  placeOf(file: string): string | undefined {
    if (!this.#placesOf.has(file)) {
      const places = this.places.filter((place) => place === file || (place.endsWith("/") && file.startsWith(place)));
      this.#placesOf.set(file, places.toSorted((a, b) => b.length - a.length)[0]);
    }
    return this.#placesOf.get(file);
  }

  /** True when `file` may import `specifier`, written as in the file's import. */
  allows(file: string, specifier: string): boolean {
    const place = this.placeOf(file);
    const allowed = this.rows.find((row) => row.places.includes(place!))?.mayImport;
    if (allowed === undefined) return false;
    return this.permissionsFor(file, specifier).some((one) => one === folderOf(place!) || allowed.includes(one));
  }

  /** The entries of `mayImport` each of which lets `file` import `specifier`. */
  permissionsFor(file: string, specifier: string): readonly string[] {
    if (!specifier.startsWith(".")) return [packageOf(specifier)];
    const target = posix.join(posix.dirname(file), specifier);
    return [target, this.placeOf(target) ?? target];
  }

  /** The linter's overrides: one for each place, which refuses every import that the place's row does not allow. */
  lintOverrides(): readonly object[] {
    return this.places.map((place) => {
      const group = this.#lintGroup(place);
      const message = "scripts/import-policy.json does not allow it.";
      const rules = { "no-restricted-imports": ["error", { patterns: [{ group, message }] }] };
      return { files: [place.endsWith("/") ? `${place}**` : place], rules };
    });
  }

  /** The imports that a place is refused, as a list of ignore globs. */
  #lintGroup(place: string): readonly string[] {
    const { mayImport } = this.rows.find((row) => row.places.includes(place))!;
    const from = folderOf(place);
    const own = this.places.includes(from) ? [from] : [];
    const globs = [...own, ...mayImport].flatMap((target) => {
      if (target === NODE) return [NODE, `${NODE}/*`];
      return isPath(target) ? [globOf(from, target)] : [target, `${target}/*`, `${target}/*/*`];
    });
    // A place below an allowed folder needs its own permission.
    const refused = this.places.filter(
      (other) =>
        !mayImport.includes(other) &&
        other !== place &&
        [...own, ...mayImport].some((target) => isBelow(other, target)),
    );
    // The last matching glob decides. So the linter cannot refuse a folder that holds an allowed one:
    // test/architecture.test.ts does.
    const paths = refused.filter((other) => !mayImport.some((target) => isBelow(target, other)));
    return ["**", ...globs.map((glob) => `!${glob}`), ...paths.map((other) => globOf(from, other))];
  }
}

function isPath(word: string): boolean {
  return word.endsWith("/") || /\.tsx?$/.test(word);
}

function isBelow(place: string, folder: string): boolean {
  return folder.endsWith("/") && place !== folder && place.startsWith(folder);
}

/**
 * The glob for `place`, relative to `from` as an import would write it. A folder's glob matches all files in the
 * folder.
 */
function globOf(from: string, place: string): string {
  const path = posix.relative(from, place) || ".";
  // To the linter, `../**` matches `../../x` too, and `./*` matches everything.
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

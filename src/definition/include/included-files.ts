/** Which files a definition includes, and their contents: found by who can read the repository, before the definition is checked. */
import { definitionPathProblem, formatOfPath } from "../../domain/names.ts";
import { LIMITS } from "../schema/limits.ts";
import { asMap, textsOf } from "../text/raw.ts";
import type { Format } from "../text/read-text.ts";

/** A file at a path from the root of the repository, or why there is none, in words that continue the path. */
export type IncludedFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly problem: string };

/** What a definition of a repository includes. */
export interface Includes {
  /** The path of the definition itself; empty when it is not known. */
  readonly path: string;
  /** Each file once. One that is not listed does not exist. */
  readonly files: readonly IncludedFile[];
}

/** A text without this includes nothing: a text may escape the letters of a key. */
const MAY_INCLUDE = /include|\\/;

/** False for a text that certainly has no `include`, so that it need not be read to know that. */
function mayInclude(text: string): boolean {
  return MAY_INCLUDE.test(text);
}

/** The good paths in the `include` of a definition's value; undefined for a definition without the key. */
export function includePathsIn(value: unknown): readonly string[] | undefined {
  const include = asMap(value)?.["include"];
  if (include === undefined) return undefined;
  return textsOf(include, [])
    .map(({ text }) => text)
    .filter((path) => includePathProblem(path) === undefined);
}

/** What is wrong with the path of an included file, in the form `must ...`; undefined when it is good. */
export function includePathProblem(path: string): string | undefined {
  return /[*?[\]]/.test(path) ? "must name one file: it has no patterns" : definitionPathProblem(path);
}

/** Reads files of the repository in one go. */
type ReadFiles = (paths: readonly string[]) => Promise<readonly IncludedFile[]>;

/**
 * Collects what a definition includes, level by level, within the bounds on depth, number and bytes: what lies beyond them is
 * reported when the definition is checked. `pathsOf` answers as {@link includePathsIn} does.
 */
export async function collectIncludes(
  definition: { readonly path: string; readonly text: string; readonly format: Format },
  pathsOf: (text: string, format: Format) => Promise<readonly string[] | undefined>,
  readFiles: ReadFiles,
): Promise<Includes | undefined> {
  const { path, text, format } = definition;
  let next = mayInclude(text) ? await pathsOf(text, format) : undefined;
  if (next === undefined) return undefined;
  const files = new Map<string, IncludedFile>();
  let bytes = Buffer.byteLength(text);
  for (let depth = 0; depth < LIMITS.includeDepth && bytes <= LIMITS.textBytes; depth++) {
    const wanted = [...new Set(next)].filter((each) => each !== path && !files.has(each));
    const found = await readFiles(wanted.slice(0, LIMITS.includes - files.size));
    const further: string[] = [];
    for (const file of found) {
      files.set(file.path, file);
      if (!("text" in file)) continue;
      bytes += Buffer.byteLength(file.text);
      if (mayInclude(file.text)) further.push(...((await pathsOf(file.text, formatOfPath(file.path))) ?? []));
    }
    if (further.length === 0) break;
    next = further;
  }
  return { path, files: [...files.values()] };
}

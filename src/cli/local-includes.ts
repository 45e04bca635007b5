/** What a definition on this machine includes: files of the repository that it is in. */
import { createReadStream } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { text as readAll } from "node:stream/consumers";
import {
  collectIncludes,
  type IncludedFile,
  includePathsIn,
  type Includes,
} from "../definition/include/included-files.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import type { Format } from "../definition/text/read-text.ts";
import { Source } from "../definition/text/source.ts";

/**
 * Reads the included files from the root of the repository: the nearest folder above the definition that has a `.git`, else
 * the folder around `.millrace`, else the folder of the definition. Undefined for a text without `include`.
 */
export async function readLocalIncludes(
  file: string,
  { text, format }: { readonly text: string; readonly format: Format },
): Promise<Includes | undefined> {
  const root = await rootOf(resolve(file));
  const path = resolve(file)
    .slice(root.length + 1)
    .replaceAll(sep, "/");
  const pathsOf = async (included: string, of: Format) => includePathsIn(new Source(included, of).value);
  return collectIncludes({ path, text, format }, pathsOf, (paths) =>
    Promise.all(paths.map((each) => readIncluded(root, each))),
  );
}

async function rootOf(file: string): Promise<string> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (await lstat(join(folder, ".git")).then(Boolean, () => false)) return folder;
    if (folder === dirname(folder)) break;
  }
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === ".millrace") return dirname(folder);
  }
  return dirname(file);
}

async function readIncluded(root: string, path: string): Promise<IncludedFile> {
  const parts = path.split("/");
  for (const count of parts.keys()) {
    const status = await lstat(join(root, ...parts.slice(0, count + 1))).catch(() => undefined);
    const isLast = count === parts.length - 1;
    // Git reads no file through a link either.
    if (status?.isSymbolicLink() === true && isLast)
      return { path, problem: "is a symbolic link, which is not followed" };
    if (status === undefined || (!isLast && !status.isDirectory()))
      return { path, problem: `is not there: ${root} has no such file` };
    if (isLast && !status.isFile()) return { path, problem: "is no file" };
  }
  // One byte beyond the bound is enough to refuse the text.
  return { path, text: await readAll(createReadStream(join(root, path), { end: LIMITS.textBytes })) };
}

/** Checks of the paths that a definition names within the workspace. */
import { posix } from "node:path";
import { OPEN } from "../../expressions/template.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** True for a path that leads out of the workspace, and for one that no file can have. */
export function leadsOut(given: string): boolean {
  const normal = posix.normalize(given);
  return posix.isAbsolute(normal) || normal === ".." || normal.startsWith("../") || given.includes("\0");
}

/** Reports a path that leads out of the workspace. Of a path with expressions, only the folders before the first are known. */
export function checkInside(source: Source, given: string, path: Path): void {
  const begin = given.indexOf(OPEN);
  const known = begin < 0 ? given : given.slice(0, given.lastIndexOf("/", begin) + 1);
  if (!leadsOut(known)) return;
  source.report("invalid-path", path, `"${clip(given)}" leads out of the workspace`, {
    hint: "give a path relative to the workspace, which does not go above it with `..`",
  });
}

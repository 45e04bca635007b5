/** Checks of the paths that a definition names within the workspace. */
import { leadsOut } from "../../domain/workspace-paths.ts";
import { OPEN } from "../../expressions/template.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports a path that leads out of the workspace. Of a path with expressions, only the folders before the first are known. */
export function checkInside(source: Source, given: string, path: Path): void {
  const begin = given.indexOf(OPEN);
  const known = begin < 0 ? given : given.slice(0, given.lastIndexOf("/", begin) + 1);
  if (!leadsOut(known)) return;
  source.report("invalid-path", path, `"${clip(given)}" leads out of the workspace`, {
    hint: "give a path relative to the workspace, which does not go above it with `..`",
  });
}

/** Checks of the paths that a definition names within the workspace. */
import { posix } from "node:path";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports a path that leads out of the workspace. */
export function checkInside(source: Source, given: string, path: Path): void {
  const normal = posix.normalize(given);
  const leaves = posix.isAbsolute(normal) || normal === ".." || normal.startsWith("../") || given.includes("\0");
  if (!leaves) return;
  source.report("invalid-path", path, `"${clip(given)}" leads out of the workspace`, {
    hint: "give a path relative to the workspace, which does not go above it with `..`",
  });
}

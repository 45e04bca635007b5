/** The paths that a definition names within the workspace. */
import { posix } from "node:path";

/** True for a path that leads out of the workspace, and for one that no file can have. */
export function leadsOut(given: string): boolean {
  const normal = posix.normalize(given);
  return posix.isAbsolute(normal) || normal === ".." || normal.startsWith("../") || given.includes("\0");
}

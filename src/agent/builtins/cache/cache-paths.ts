/** The paths that a cache entry may hold: paths in the workspace, and links that lead to such paths. */
import { posix } from "node:path";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { isInnerPattern } from "../../../domain/caches.ts";
import { type PathPatterns, readPatterns } from "../patterns.ts";

/**
 * Reads the patterns. If one leads out of the workspace, throws the error that `wrong` makes of the text of the
 * problem.
 */
export function readCachePaths(patterns: readonly string[], wrong: (text: string) => Error): PathPatterns {
  const outer = patterns.find((pattern) => !isInnerPattern(pattern));
  if (outer !== undefined) throw wrong(`${JSON.stringify(outer)} is not within the workspace`);
  const { starts, matches } = readPatterns(patterns, { dot: true });
  // A start inside another start is dropped, since the search from the other one finds it.
  const isWithin = (path: string, folder: string): boolean => folder === "" || path.startsWith(`${folder}/`);
  return {
    starts: starts.filter((start) => !starts.some((other) => other !== start && isWithin(start, other))),
    matches,
  };
}

/**
 * True when a link at `path` with this target stays in the workspace, provided that all other links do. The target may
 * go up only at its start, so it never goes up from a place to which another link leads.
 */
export function isInnerLink(path: string, target: string): boolean {
  const reached = posix.join(posix.dirname(path), target);
  const down = target.replace(/^(?:\.{1,2}(?:\/+|$))+/, "").replace(/\/+$/, "");
  return (
    !posix.isAbsolute(target) && !/^\.\.(?:\/|$)/.test(reached) && (down === "" ? target !== "" : isArtifactPath(down))
  );
}

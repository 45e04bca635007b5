/** What an entry of a cache may hold: paths within the workspace, and links that lead to others of them. */
import { posix } from "node:path";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { isInnerPattern } from "../../../domain/caches.ts";
import { type PathPatterns, readPatterns } from "../patterns.ts";

/** Throws what `wrong` makes of a text for a pattern that leads out of the workspace. */
export function readCachePaths(patterns: readonly string[], wrong: (text: string) => Error): PathPatterns {
  const away = patterns.find((pattern) => !isInnerPattern(pattern));
  if (away !== undefined) throw wrong(`${JSON.stringify(away)} is not within the workspace`);
  const { starts, matches } = readPatterns(patterns, { dot: true });
  // What lies in another one is found there.
  const isWithin = (path: string, folder: string): boolean => folder === "" || path.startsWith(`${folder}/`);
  return {
    starts: starts.filter((start) => !starts.some((other) => other !== start && isWithin(start, other))),
    matches,
  };
}

/**
 * True when a link at `path` leads to something within the workspace, if all links on its way do: it goes up first and only
 * then down, so that it never goes up from where another link leads.
 */
export function isInnerLink(path: string, target: string): boolean {
  const reached = posix.join(posix.dirname(path), target);
  const down = target.replace(/^(?:\.{1,2}(?:\/+|$))+/, "").replace(/\/+$/, "");
  return (
    !posix.isAbsolute(target) && !/^\.\.(?:\/|$)/.test(reached) && (down === "" ? target !== "" : isArtifactPath(down))
  );
}

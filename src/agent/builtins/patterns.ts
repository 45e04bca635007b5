/** Glob patterns of definitions for paths in a workspace or an artifact. */
import { posix } from "node:path";
import picomatch from "picomatch";

export interface PathPatterns {
  /** The files and folders where matching files can be: paths without wildcards; "" is the root. */
  readonly starts: readonly string[];
  readonly matches: (path: string) => boolean;
}

/**
 * A pattern that matches a folder matches everything in it. A pattern that begins with `!` excludes what it matches.
 * `*`, `**` and the content of a folder include no names that begin with a dot, unless `dot` is true; exclusions always
 * include them.
 */
export function readPatterns(patterns: readonly string[], { dot = false } = {}): PathPatterns {
  const included = patterns.filter((pattern) => !pattern.startsWith("!")).map(normalize);
  const excluded = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => normalize(pattern.slice(1)));
  const isIncluded = picomatch(included.flatMap(withContent), { dot });
  const isExcluded = picomatch(excluded.flatMap(withContent), { dot: true });
  return {
    starts: [...new Set(included.map(startOf))],
    matches: (path) => isIncluded(path) && !isExcluded(path),
  };
}

/** The pattern without `./` and without slashes at its end; "" for the root. */
function normalize(pattern: string): string {
  const path = posix.normalize(pattern).replace(/\/+$/, "");
  return path === "." ? "" : path;
}

function withContent(pattern: string): readonly string[] {
  return pattern === "" ? ["**"] : [pattern, `${pattern}/**`];
}

function startOf(pattern: string): string {
  const { base, isGlob } = picomatch.scan(pattern);
  return isGlob ? base : pattern;
}

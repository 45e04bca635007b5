/** Glob patterns within a workspace or an artifact, as definitions write them. */
import { posix } from "node:path";
import picomatch from "picomatch";

export interface PathPatterns {
  /** Where files that match can lie: paths without wildcards, "" for everywhere. */
  readonly starts: readonly string[];
  readonly matches: (path: string) => boolean;
}

/**
 * A pattern that matches a folder means all that lies in it; one that begins with `!` takes out of what the others match.
 * `*` and `**` match no name that begins with a dot, nor does all that lies in a folder, unless `dot` says so.
 */
export function readPatterns(patterns: readonly string[], { dot = false } = {}): PathPatterns {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!")).map(normal);
  const unwanted = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => normal(pattern.slice(1)));
  const isWanted = picomatch(wanted.flatMap(withContent), { dot });
  const isUnwanted = picomatch(unwanted.flatMap(withContent), { dot: true });
  return {
    starts: [...new Set(wanted.map(startOf))],
    matches: (path) => isWanted(path) && !isUnwanted(path),
  };
}

/** Without `./` and slashes at its end; "" for the root. */
function normal(pattern: string): string {
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

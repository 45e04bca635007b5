/**
 * Patterns in the syntax of RE2, whose time grows with the length of a line and of the pattern only: there is no
 * backtracking, and so no pattern that takes exponential time. Source: https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { type FindRanges, rangesOf } from "./line-matches.ts";

/** Instructions of a compiled pattern. The worst one takes about 0.4 s for a line of 16,384 characters. */
const MAX_PROGRAM = 500;

export class BadPattern extends Error {
  override readonly name = "BadPattern";
}

/** Throws {@link BadPattern}. */
export function patternFinder(pattern: string, ignoreCase: boolean): FindRanges {
  const compiled = compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  if (compiled.programSize() > MAX_PROGRAM) {
    throw new BadPattern("the pattern is too large: repeat fewer times, or name fewer alternatives");
  }
  return (line) => {
    // Without ranges, an automaton decides; most lines do not match.
    if (!compiled.test(line)) return undefined;
    const matcher = compiled.matcher(line);
    return rangesOf(() => (matcher.find() ? [matcher.start(), matcher.end()] : undefined)) ?? [];
  };
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new BadPattern(error.message);
    throw new BadPattern(`the pattern cannot be read: ${(error as Error).message}`);
  }
}

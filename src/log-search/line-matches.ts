/** Where texts occur in lines. What is found in one line is bounded, and so is what is looked at. */

/** Longer lines are searched up to here, so that one line is a bounded piece of work for a pattern. */
export const SEARCHED_CHARS = 16_384;
const MAX_RANGES = 20;

/** First character, and the one behind the last, in UTF-16 units. */
export type Range = readonly [from: number, to: number];

/** Lines that match, by their index; lines from `done` on are not looked at yet. */
export interface Matches {
  readonly done: number;
  readonly found: readonly (readonly [index: number, ranges: readonly Range[]])[];
}

/** The places of a text in a line; undefined when it has none. */
export type FindRanges = (line: string) => readonly Range[] | undefined;

/** Looks at the lines until `isOver`, and at one line at least if there is one. */
export function matchLines(lines: readonly string[], find: FindRanges, isOver: () => boolean): Matches {
  const found: (readonly [number, readonly Range[]])[] = [];
  let done = 0;
  while (done < lines.length && (done === 0 || !isOver())) {
    const line = lines[done]!;
    const ranges = find(line.length > SEARCHED_CHARS ? line.slice(0, SEARCHED_CHARS) : line);
    if (ranges !== undefined) found.push([done, ranges]);
    done++;
  }
  return { done, found };
}

/** Finds a text as it stands, by the engine of the language: a text without operators takes it linear time. */
export function textFinder(text: string, ignoreCase: boolean): FindRanges {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), ignoreCase ? "giu" : "gu");
  return (line) => {
    pattern.lastIndex = 0;
    return rangesOf(() => {
      const match = pattern.exec(line);
      return match === null ? undefined : [match.index, pattern.lastIndex];
    });
  };
}

/** The first ranges that `next` answers. An empty one is not shown, although its line matches. */
export function rangesOf(next: () => Range | undefined): readonly Range[] | undefined {
  const ranges: Range[] = [];
  let isFound = false;
  for (let count = 0; count < MAX_RANGES; count++) {
    const range = next();
    if (range === undefined) break;
    isFound = true;
    if (range[1] === range[0]) break;
    ranges.push(range);
  }
  return isFound ? ranges : undefined;
}

/** The program of the thread that matches patterns: it answers one page of lines after the other. */
import { parentPort } from "node:worker_threads";
import { type FindRanges, matchLines, type Matches } from "./line-matches.ts";
import { BadPattern, patternFinder } from "./patterns.ts";

export interface SearchRequest {
  readonly id: number;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly lines: readonly string[];
  /** No further line is begun after this time. */
  readonly withinMs: number;
}

export type SearchResponse = { readonly id: number } & (
  | { readonly matches: Matches }
  | { readonly bad: string }
  | { readonly failed: string }
);

/** The pattern of the last page: a search sends many pages. */
let last: { readonly key: string; readonly find: FindRanges } | null = null;

function finderOf({ pattern, ignoreCase }: SearchRequest): FindRanges {
  const key = JSON.stringify([pattern, ignoreCase]);
  if (last?.key !== key) last = { key, find: patternFinder(pattern, ignoreCase) };
  return last.find;
}

parentPort?.on("message", (request: SearchRequest) => {
  const { id, lines, withinMs } = request;
  const endsAt = performance.now() + withinMs;
  let response: SearchResponse;
  try {
    const find = finderOf(request);
    response = { id, matches: matchLines(lines, find, () => performance.now() >= endsAt) };
  } catch (error) {
    response =
      error instanceof BadPattern
        ? { id, bad: error.message }
        : { id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort!.postMessage(response);
});

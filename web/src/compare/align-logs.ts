/** The lines of two logs beside each other: what is equal, and what differs only in times, numbers and ids. Pure. */
import { diffArrays } from "diff";

export interface LogText {
  readonly line: number;
  readonly text: string;
}

export interface AlignedLine {
  /** `varies`: equal apart from times, numbers and ids. */
  readonly kind: "same" | "varies" | "differs";
  readonly a: LogText | null;
  readonly b: LogText | null;
}

export interface Alignment {
  readonly rows: readonly AlignedLine[];
  /** False when the logs differ so much that only their equal beginnings and ends are aligned. */
  readonly isAligned: boolean;
}

/** Equal lines that are shown together, or a gap in their place. */
export type ShownRow =
  | { readonly kind: "line"; readonly at: number; readonly row: AlignedLine }
  | { readonly kind: "gap"; readonly at: number; readonly count: number };

/** Above so many changed lines the search for the shortest difference takes too long. */
const MOST_CHANGES = 2_000;
const LONGEST_MS = 400;
/** Equal lines that stay on either side of a difference. */
const AROUND = 3;
const LEAST_GAP = 4;
/** Shorter words of hexadecimal digits may be words. */
const VARYING = /\b0x[\da-f]+\b|\b(?=[a-z\d-]*\d)[\da-f]{6,}(?:-[\da-f]{4,})*\b|\d+(?:[.:,]\d+)*/gi;

/** The text with a mark in the place of each time, number and id. */
export function masked(text: string): string {
  return text.replace(VARYING, "#");
}

export function alignLogs(a: readonly LogText[], b: readonly LogText[]): Alignment {
  const [from, to] = [a.map(({ text }) => masked(text)), b.map(({ text }) => masked(text))];
  const parts = diffArrays(from, to, { maxEditLength: MOST_CHANGES, timeout: LONGEST_MS });
  if (parts === undefined) return { rows: besides(a, b, from, to), isAligned: false };
  const rows: AlignedLine[] = [];
  let [atA, atB] = [0, 0];
  let removed: readonly LogText[] = [];
  const flush = (added: readonly LogText[]): void => {
    rows.push(...together(removed, added));
    removed = [];
  };
  for (const part of parts) {
    const { length } = part.value;
    if (part.removed) {
      flush([]);
      removed = a.slice(atA, (atA += length));
    } else if (part.added) {
      flush(b.slice(atB, (atB += length)));
    } else {
      flush([]);
      for (let at = 0; at < length; at++) rows.push(equal(a[atA++]!, b[atB++]!));
    }
  }
  flush([]);
  return { rows, isAligned: true };
}

const equal = (a: LogText, b: LogText): AlignedLine => ({ kind: a.text === b.text ? "same" : "varies", a, b });

function together(a: readonly LogText[], b: readonly LogText[]): readonly AlignedLine[] {
  const length = Math.max(a.length, b.length);
  return Array.from({ length }, (_, at) => ({ kind: "differs", a: a[at] ?? null, b: b[at] ?? null }));
}

function besides(
  a: readonly LogText[],
  b: readonly LogText[],
  from: readonly string[],
  to: readonly string[],
): readonly AlignedLine[] {
  const shorter = Math.min(a.length, b.length);
  let first = 0;
  while (first < shorter && from[first] === to[first]) first++;
  let last = 0;
  while (last < shorter - first && from.at(-1 - last) === to.at(-1 - last)) last++;
  return [
    ...a.slice(0, first).map((line, at) => equal(line, b[at]!)),
    ...together(a.slice(first, a.length - last), b.slice(first, b.length - last)),
    ...a.slice(a.length - last).map((line, at) => equal(line, b[b.length - last + at]!)),
  ];
}

/** The rows to show: long stretches of equal lines are gaps, apart from those that `open` names by their places. */
export function shownRows(rows: readonly AlignedLine[], open: ReadonlySet<number>): readonly ShownRow[] {
  const shown: ShownRow[] = [];
  let at = 0;
  while (at < rows.length) {
    let end = at;
    while (end < rows.length && rows[end]!.kind !== "differs") end++;
    const [head, tail] = [at === 0 ? at : at + AROUND, end === rows.length ? end : end - AROUND];
    const isGap = tail - head >= LEAST_GAP && !open.has(head);
    for (let line = at; line < end; line++) {
      if (isGap && line === head) {
        shown.push({ kind: "gap", at: head, count: tail - head });
        line = tail - 1;
      } else shown.push({ kind: "line", at: line, row: rows[line]! });
    }
    if (end < rows.length) shown.push({ kind: "line", at: end, row: rows[end]! });
    at = end + 1;
  }
  return shown;
}

export const differences = (rows: readonly AlignedLine[]): number =>
  rows.filter(({ kind }) => kind === "differs").length;

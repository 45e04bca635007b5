/**
 * Groups of a log, and which lines are rows: lines of a closed group, marks of ends and lost lines are none. Pure.
 */

/** A line that begins a group (with its name) or ends one (null). */
export interface GroupMark {
  readonly line: number;
  readonly name: string | null;
}

export interface Group {
  /** The line with the name. */
  readonly line: number;
  readonly name: string;
  /** The last line of the group, with the mark of its end. */
  readonly end: number;
  readonly hasEndMark: boolean;
}

const GROUP = /^::group::(.*)$/;
const END_GROUP = /^::endgroup::\s*$/;

export function groupMark(line: number, content: string): GroupMark | null {
  const name = GROUP.exec(content)?.[1];
  if (name !== undefined) return { line, name: name.trim() };
  return END_GROUP.test(content) ? { line, name: null } : null;
}

/** Groups do not nest: a group ends at its mark, before the next group, or at the end of the log. */
export function groupsOf(marks: readonly GroupMark[], lines: number): readonly Group[] {
  const groups: Group[] = [];
  const sorted = marks.toSorted((a, b) => a.line - b.line);
  for (const [at, mark] of sorted.entries()) {
    if (mark.name === null) continue;
    const next = sorted[at + 1];
    const hasEndMark = next?.name === null;
    const end = next === undefined ? lines : hasEndMark ? next.line : next.line - 1;
    groups.push({ line: mark.line, name: mark.name, end, hasEndMark });
  }
  return groups;
}

/** Lines that are no rows, both ends included. */
export interface Hidden {
  readonly from: number;
  readonly to: number;
}

/** Between lines and rows: rows count the lines that are not hidden, from 0. */
export class RowMap {
  readonly #hidden: readonly Hidden[];
  /** Hidden lines up to and with each entry. */
  readonly #sums: readonly number[];
  readonly #lines: number;

  constructor(lines: number, hidden: readonly Hidden[]) {
    const merged: Hidden[] = [];
    for (const { from, to } of hidden.toSorted((a, b) => a.from - b.from)) {
      const inside = { from: Math.max(1, from), to: Math.min(to, lines) };
      if (inside.from > inside.to) continue;
      const last = merged.at(-1);
      if (last !== undefined && inside.from <= last.to + 1)
        merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, inside.to) };
      else merged.push(inside);
    }
    let sum = 0;
    this.#hidden = merged;
    this.#sums = merged.map(({ from, to }) => (sum += to - from + 1));
    this.#lines = lines;
  }

  get rows(): number {
    return this.#lines - (this.#sums.at(-1) ?? 0);
  }

  /** The row of a line; of a hidden line, that of the line before the hidden ones. */
  rowOf(line: number): number {
    const at = this.#lastBefore(({ from }) => from <= line);
    if (at === -1) return line - 1;
    const { from, to } = this.#hidden[at]!;
    if (line > to) return line - 1 - this.#sums[at]!;
    return Math.max(0, from - 2 - (at === 0 ? 0 : this.#sums[at - 1]!));
  }

  isHidden(line: number): boolean {
    const at = this.#lastBefore(({ from }) => from <= line);
    return at !== -1 && line <= this.#hidden[at]!.to;
  }

  /** The line of a row. */
  lineAt(row: number): number {
    const at = this.#lastBefore(({ from }, index) => from - 1 - (index === 0 ? 0 : this.#sums[index - 1]!) <= row);
    return row + 1 + (at === -1 ? 0 : this.#sums[at]!);
  }

  /** Position of the last entry for which the check holds; it holds for a first part of them. */
  #lastBefore(holds: (hidden: Hidden, at: number) => boolean): number {
    let [low, high] = [0, this.#hidden.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.#hidden[middle]!, middle)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** What closed groups, marks of ends and gaps hide. */
export function hiddenLines(
  groups: readonly Group[],
  isOpen: (group: Group) => boolean,
  gaps: readonly Hidden[],
): readonly Hidden[] {
  const ofGroups = groups.flatMap((group) => {
    if (!isOpen(group)) return [{ from: group.line + 1, to: group.end }];
    return group.hasEndMark ? [{ from: group.end, to: group.end }] : [];
  });
  // Of a gap its first line stays, and says what was lost.
  return [...ofGroups, ...gaps.filter(({ from, to }) => to > from).map(({ from, to }) => ({ from: from + 1, to }))];
}

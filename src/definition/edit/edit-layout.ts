/**
 * Joins the parts of a collection into a text. Parts that stay keep the comments and blank lines around them; new parts look like
 * their neighbours. When all parts are at their old places, the text between them is the old one.
 */
import type { CST } from "yaml";
import { closingOf, type Entry } from "./edit-entries.ts";

/** New parts repeat at most this many columns or lines of space, since repeated space could make the text grow without bound. */
export const MAX_SPACE = 100;

/** A part of the new collection. */
export interface Part {
  /** The index of the old entry that it comes from; undefined for a new part. */
  readonly origin: number | undefined;
  /** In a block: whole lines. Within brackets: the entry without its comma. */
  readonly body: string;
}

/** The lines between two entries of a block. */
interface Gap {
  /** Comments that are indented further than the entries and so belong to the entry above. */
  readonly tail: string;
  /** Comments that belong to no entry, with the blank lines around them. */
  readonly floating: string;
  /** Blank lines above an entry. */
  readonly blank: string;
  /** Comments directly above an entry. */
  readonly attached: string;
}

/**
 * The lines of a block collection. `gapTexts` has the lines above each old entry, the first one included; `column` is the column
 * of the entries.
 */
export function layOutBlock(
  parts: readonly Part[],
  gapTexts: readonly string[],
  { column, eol }: { readonly column: number; readonly eol: string },
): string {
  const gaps = gapTexts.map((text) => splitGap(text, column));
  const [first, ...others] = gaps as [Gap, ...Gap[]];
  const isSpaced = others.every(({ blank }) => blank !== "" && blank.length <= MAX_SPACE);
  const separator = (isSpaced && others[0]?.blank) || "";
  let out = first.tail + first.floating;
  let cursor = 1;
  const floatUpTo = (index: number): void => {
    for (; cursor <= index; cursor++) out += gaps[cursor]!.floating;
  };
  for (const [position, { origin, body }] of parts.entries()) {
    if (origin !== undefined) floatUpTo(origin);
    const gap = origin === undefined ? undefined : gaps[origin]!;
    if (gap === undefined || gap === first) out += position === 0 ? first.blank : separator;
    else out += out === "" ? first.blank : gap.blank;
    out += (gap?.attached ?? "") + body;
    const isFollowed = position < parts.length - 1 || cursor < gaps.length;
    if (isFollowed && !body.endsWith("\n")) out += eol;
    if (origin !== undefined) out += gaps[origin + 1]?.tail ?? "";
  }
  floatUpTo(gaps.length - 1);
  return out;
}

function splitGap(text: string, column: number): Gap {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const indentOf = (line: string | undefined) => line?.search(/\S/) ?? -1;
  let top = 0;
  while (indentOf(lines[top]) > column) top++;
  let attached = lines.length;
  while (attached > top && indentOf(lines[attached - 1]) === column) attached--;
  let blank = attached;
  while (blank > top && indentOf(lines[blank - 1]) < 0) blank--;
  const join = (start: number, end?: number) => lines.slice(start, end).join("");
  return {
    tail: join(0, top),
    floating: join(top, blank),
    blank: join(blank, attached),
    attached: join(attached),
  };
}

interface FlowPlace {
  readonly token: CST.FlowCollection;
  readonly entries: readonly Entry[];
  readonly eol: string;
}

/** The text of a flow collection, with its brackets. */
export function layOutFlow(parts: readonly Part[], text: string, { token, entries, eol }: FlowPlace): string {
  const closing = closingOf(token);
  const open = token.offset + 1;
  const opening = splitLine(text.slice(open, entries[0]!.at));
  const leads: string[] = [opening.rest];
  /** The text between each entry and its comma, and the text behind the comma on the same line. */
  const trails: { readonly before: string; readonly after: string }[] = [];
  for (const [index, { comma, at }] of entries.slice(1).entries()) {
    const { line, rest } = splitLine(text.slice(comma! + 1, at));
    trails.push({ before: text.slice(entries[index]!.end, comma), after: line });
    leads.push(rest);
  }
  const end = entries.at(-1)!.end;
  const last = splitLine(text.slice(closing.comma === undefined ? end : closing.comma + 1, closing.at));
  trails.push({ before: text.slice(end, closing.comma ?? end), after: last.line });

  const separator = separatorOf(leads);
  let out = text.slice(token.offset, open);
  let comment = opening.line;
  for (const [position, { origin, body }] of parts.entries()) {
    const trail = origin === undefined ? undefined : trails[origin];
    const comma = position < parts.length - 1 || closing.comma !== undefined ? "," : "";
    out += endLine(comment, leadOf(leads, origin, position, separator), eol) + body + (trail?.before ?? "") + comma;
    comment = trail?.after ?? "";
  }
  return out + endLine(comment, last.rest, eol) + text.slice(closing.at, closing.at + 1);
}

/** The text before a part: its own white space, unless the part became the first one or is no longer the first one. */
function leadOf(leads: readonly string[], origin: number | undefined, position: number, separator: string): string {
  const own = origin === undefined ? undefined : leads[origin]!;
  if (own?.includes("#") === true) return own;
  if (position === 0) return origin === 0 ? own! : spaceOf(leads[0]!);
  return origin === undefined || origin === 0 ? separator : own!;
}

/** Adds a line break after a comment, which takes the rest of its line, unless `next` begins with one. */
function endLine(comment: string, next: string, eol: string): string {
  return comment === "" || /^\r?\n/.test(next) ? comment + next : comment + eol + next;
}

/** The white space before a part that has none of its own: that before the second entry, else the line break before the first one. */
export function separatorOf(leads: readonly string[]): string {
  const [first, ...others] = leads.map(spaceOf);
  const space = others[0] ?? (first!.includes("\n") ? first! : " ");
  return space.length <= MAX_SPACE ? space : " ";
}

/** The text behind a comma or a bracket in two parts: a comment on the same line, and the rest. */
function splitLine(text: string): { readonly line: string; readonly rest: string } {
  const line = /^[ \t]*#[^\r\n]*/.exec(text)?.[0] ?? "";
  return { line, rest: text.slice(line.length) };
}

function spaceOf(lead: string): string {
  return lead.slice(lead.trimEnd().length);
}

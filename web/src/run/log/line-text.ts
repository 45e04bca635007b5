/**
 * The text of a line as a terminal would show it, in pieces with colours. Nothing in a line becomes markup: the pieces
 * are texts, and control characters that could move or hide text are shown as symbols. Pure.
 */
/* oxlint-disable no-control-regex -- the patterns of this file are about control characters */
import Anser from "anser";
import { type AnnotationLevel, LINE_LEVELS, readLogCommand } from "../../../../src/domain/notes/log-commands.ts";
import { shownPart } from "../../../../src/domain/notes/overwritten.ts";

/** Characters of the line that are shown alike. */
export interface Piece {
  readonly text: string;
  /** Position of the text in the content of the line, in UTF-16 units. */
  readonly at: number;
  /** Class names: `ansi-red`, `ansi-bold`. */
  readonly classes: string;
  /** `r, g, b` where the line names a colour by its parts. */
  readonly color: string | null;
  readonly background: string | null;
}

export interface LineText {
  readonly pieces: readonly Piece[];
  /** How often a carriage return has begun the line again, as a progress bar does. Only the last text is shown. */
  readonly overwritten: number;
}

/** SGR sequences colour text. Every other sequence of a terminal moves or clears something, and is left out. */
const SEQUENCE =
  /\u001b\[[0-9;:]*m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b[ -/]*[0-~]?|\u009b[0-?]*[ -/]*[@-~]/g;
const SGR = /^\u001b\[[0-9;:]*m$/;
/** C0 and C1 controls, and characters that change the direction of text. A tab stays. */
const CONTROL =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff\u2028\u2029]/g;

const ANY_CONTROL = new RegExp(CONTROL.source);

/** What a line annotates with, and where its message begins in its content, in UTF-16 units. */
export interface AnnotationMark {
  readonly kind: AnnotationLevel;
  readonly messageAt: number;
}

/** Null for a line that is no annotation. `level`: that of the line in the log. */
export function annotationMark(content: string, level: string): AnnotationMark | null {
  const command = readLogCommand(content);
  // While commands are stopped, a line with such a text has the level of its stream, and annotates nothing.
  if (command?.level === undefined || LINE_LEVELS[command.level] !== level) return null;
  return { kind: command.level, messageAt: content.length - command.text.length };
}

const plainPiece = (text: string, at: number): Piece => ({ text, at, classes: "", color: null, background: null });

/** `from`: where the text begins that is shown, in UTF-16 units of the content. */
export function lineText(content: string, from = 0): LineText {
  // A log that runs quickly has some thousand lines a second, and nearly all of them are plain.
  if (!ANY_CONTROL.test(content)) {
    return { pieces: from === content.length ? [] : [plainPiece(content.slice(from), from)], overwritten: 0 };
  }
  const { start, end } = shownPart(content, from);
  const overwritten = content.slice(from, start).split("\r").length - 1;
  // What was set before the last carriage return still colours what follows it.
  const painter = new Anser();
  const pieces: Piece[] = [];
  let at = 0;
  let sgr = "";
  const add = (text: string, place: number): void => {
    const [cut, stop] = [Math.max(0, start - place), Math.min(text.length, end - place)];
    if (cut < stop) pieces.push(...painted(painter, sgr, text.slice(cut, stop), place + cut));
    else if (sgr !== "") painter.ansiToJson(`${sgr} `, { use_classes: true, json: true });
    sgr = "";
  };
  for (const match of content.matchAll(SEQUENCE)) {
    if (match.index > at) add(content.slice(at, match.index), at);
    if (SGR.test(match[0])) sgr += match[0].replaceAll(":", ";");
    at = match.index + match[0].length;
  }
  if (at < content.length) add(content.slice(at), at);
  return { pieces, overwritten };
}

/** The line as plain text, as {@link lineText} shows it. */
export function plainText(content: string, from = 0): string {
  return lineText(content, from)
    .pieces.map(({ text }) => text)
    .join("");
}

function painted(painter: Anser, sgr: string, text: string, at: number): Piece[] {
  let place = at;
  return painter
    .ansiToJson(sgr + text, { use_classes: true, json: true, remove_empty: true })
    .map(({ content, fg, bg, fg_truecolor, bg_truecolor, decorations }) => {
      const piece = {
        text: content.replaceAll(CONTROL, symbolOf),
        at: place,
        classes: [colorClass(fg), colorClass(bg, "-bg"), ...decorations.map((word) => `ansi-${word}`)]
          .filter((one) => one !== "")
          .join(" "),
        color: partsOf(fg, fg_truecolor),
        background: partsOf(bg, bg_truecolor),
      };
      place += content.length;
      return piece;
    });
}

function symbolOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function colorClass(color: string | null, suffix = ""): string {
  return color === null || color === "ansi-truecolor" || color.startsWith("ansi-palette-") ? "" : `${color}${suffix}`;
}

function partsOf(color: string | null, parts: string | null): string | null {
  if (color === "ansi-truecolor") return parts;
  const number = color?.startsWith("ansi-palette-") === true ? Number(color.slice("ansi-palette-".length)) : null;
  return number === null ? null : paletteColor(number);
}

/** The colours 16 to 255 of a terminal: a cube of 6 steps, and 24 greys. */
function paletteColor(number: number): string {
  if (number >= 232) return Array.from({ length: 3 }, () => 8 + (number - 232) * 10).join(", ");
  const steps = [0, 95, 135, 175, 215, 255];
  const place = number - 16;
  return [Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((step) => steps[step] ?? 0).join(", ");
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The pieces cut at the ends of ranges of the content; `isMatch` says whether a piece lies in one. */
export function markRanges(
  pieces: readonly Piece[],
  ranges: readonly Range[],
): readonly (Piece & { readonly isMatch: boolean })[] {
  if (ranges.length === 0) return pieces.map((piece) => ({ ...piece, isMatch: false }));
  return pieces.flatMap((piece) => {
    const end = piece.at + piece.text.length;
    const cuts = new Set([piece.at, end]);
    for (const { from, to } of ranges) for (const cut of [from, to]) if (cut > piece.at && cut < end) cuts.add(cut);
    const places = [...cuts].toSorted((a, b) => a - b);
    return places.slice(0, -1).map((from, index) => ({
      ...piece,
      text: piece.text.slice(from - piece.at, places[index + 1]! - piece.at),
      at: from,
      isMatch: ranges.some((range) => range.from <= from && from < range.to),
    }));
  });
}

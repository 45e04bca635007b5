/** The output of a command: lines that stay, and on a terminal a block below them that is redrawn when something changes. */
import { stripVTControlCharacters, styleText } from "node:util";
import { SYMBOLS, type Status, type TreeLine } from "./run-tree.ts";

/** A stream for output; only terminals have `columns` and `rows`. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "gray" | "bold";
export type Paint = (colour: Colour, text: string) => string;

export const STATUS_COLOURS: Readonly<Record<Status, Colour>> = {
  pending: "gray",
  queued: "gray",
  running: "cyan",
  paused: "yellow",
  success: "green",
  partial: "yellow",
  failed: "red",
  timeout: "red",
  cancelled: "yellow",
  skipped: "gray",
};

/** Colours on a terminal, unless NO_COLOR is set (https://no-color.org) or the terminal is dumb. */
export function paintFor(output: Output, environment: NodeJS.ProcessEnv = process.env): Paint {
  const colours = output.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
  return colours ? (colour, text) => styleText(colour, text, { validateStream: false }) : (_, text) => text;
}

export class Screen {
  readonly paint: Paint;
  /** True on a terminal, where a block can be redrawn. */
  readonly live: boolean;
  readonly #output: Output;
  #block: readonly string[] = [];

  constructor(output: Output, environment: NodeJS.ProcessEnv = process.env) {
    this.#output = output;
    this.paint = paintFor(output, environment);
    this.live = output.isTTY === true && environment["TERM"] !== "dumb";
  }

  /** The most lines that a block may have so that it can be redrawn. One line of the terminal is left for the cursor. */
  get rows(): number {
    return Math.max((this.#output.rows ?? 24) - 1, 1);
  }

  /** Prints lines that stay, above the block. */
  print(...lines: readonly string[]): void {
    this.#output.write(`${this.#eraseBlock()}${toText(lines)}${toText(this.#block)}`);
  }

  /** Prints the lines of a tree, which stay. */
  printTree(lines: readonly TreeLine[]): void {
    this.print(...lines.map((line) => this.#renderLine(line, this.#output.columns ?? Infinity)));
  }

  /** Redraws the block. Does nothing without a terminal. */
  draw(lines: readonly TreeLine[]): void {
    if (!this.live) return;
    const erase = this.#eraseBlock();
    this.#block = lines.map((line) => this.#renderLine(line));
    this.#output.write(`${erase}${toText(this.#block)}`);
  }

  /** Leaves the block as it is. Later lines are printed below it. */
  settle(): void {
    this.#block = [];
  }

  #renderLine({ indent, status, text }: TreeLine, columns = this.#output.columns ?? 80): string {
    const margin = "  ".repeat(indent);
    // Lines are cut, because the terminal would wrap a long line into two, of which only one would be erased.
    const room = Math.max(columns - 1 - margin.length - (status === null ? 0 : 2), 1);
    const shown = cut(printable(text), room);
    if (status === null) return `${margin}${this.paint("bold", shown)}`;
    return `${margin}${this.paint(STATUS_COLOURS[status], SYMBOLS[status])} ${shown}`;
  }

  #eraseBlock(): string {
    // Moves to the first column and up to the block's first line, and clears from there to the end of the screen.
    return this.#block.length === 0 ? "" : `\r\u001b[${this.#block.length}A\u001b[J`;
  }
}

/** A text without the control characters that could move the cursor or change the terminal. Tabs stay. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, "");
}

/** The text, cut to `room` characters with `…` at its end when it is longer. */
export function cut(text: string, room: number): string {
  const characters = Array.from(text);
  return characters.length <= room ? text : `${characters.slice(0, room - 1).join("")}…`;
}

const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

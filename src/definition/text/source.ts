/** The text of a definition: from characters to a plain value, and back from a path in that value to line and column. */
import { isMap, isNode, isScalar, LineCounter, type Node, type Range } from "yaml";
import type { TextSpan } from "../../expressions/template.ts";
import { toPointer } from "../../domain/json-pointer.ts";
import type { Diagnostic, DiagnosticCode } from "./diagnostics.ts";
import { ParsedTexts } from "./parsed-texts.ts";
import { LIMITS } from "../schema/limits.ts";
import { findDuplicateKeys, findInexactNumbers, measure } from "./node-checks.ts";
import type { Finding } from "./finding.ts";
import { type Format, readText } from "./read-text.ts";

export type Path = readonly PropertyKey[];

/** A part of the text that is a value, after the `mark` by which it is found in the source; without one, the text itself is looked for. */
export interface TextSpot extends TextSpan {
  readonly text: string;
  readonly mark: string;
}

/** Where a diagnostic points: the value at the path, the key that leads to it, or a part of the value's text. */
export type Spot = "value" | "key" | TextSpot;

export interface ReportOptions {
  readonly severity?: "error" | "warning";
  readonly spot?: Spot;
  readonly hint?: string;
}

export class Source {
  /** The text as a plain value; undefined when it could not be read. */
  readonly value: unknown;
  readonly parsed = new ParsedTexts();
  readonly #text: string;
  readonly #lines = new LineCounter();
  readonly #root: Node | null;
  readonly #found = { error: [] as Diagnostic[], warning: [] as Diagnostic[] };
  #isCut = false;

  constructor(text: string, format: Format) {
    this.#text = text;
    const { root, value, findings } = readText(text, format, this.#lines);
    this.#root = root;
    this.#addAll("error", findings);
    if (this.hasErrors) return;
    this.#addAll("error", findDuplicateKeys(root));
    this.#addAll("warning", findInexactNumbers(root));
    const excess = measure(value);
    if (excess !== undefined) this.report(excess.code, [], excess.message);
    else this.value = value;
  }

  get hasErrors(): boolean {
    return this.#found.error.length > 0;
  }

  /** What was reported, by position; where there was more than may be told, the last one says so. */
  get diagnostics(): readonly Diagnostic[] {
    const all = [...this.#found.error, ...this.#found.warning].toSorted(
      (a, b) => a.line - b.line || a.column - b.column,
    );
    if (!this.#isCut) return all;
    const message = `only the first ${LIMITS.diagnostics} problems are told; there are more`;
    return [...all, this.#diagnose("diagnostic-limit", "error", [], message, [0, 0])];
  }

  report(code: DiagnosticCode, path: Path, message: string, options: ReportOptions = {}): void {
    const { severity = "error", spot = "value", hint } = options;
    // Finding a place costs a search: not for what will not be told.
    if (this.#isFull(severity)) this.#isCut ||= severity === "error";
    else this.#found[severity].push(this.#diagnose(code, severity, path, message, this.#rangeOf(path, spot), hint));
  }

  /** The first of these paths that leads to something in the text. */
  find(paths: readonly Path[]): Path | undefined {
    return paths.find((path) => this.#has(path));
  }

  /** A diagnostic of this text that is not kept: for what is only found when a run is planned. */
  locate(
    code: DiagnosticCode,
    severity: "error" | "warning",
    path: Path,
    message: string,
    spot: Spot = "value",
  ): Diagnostic {
    return this.#diagnose(code, severity, path, message, this.#rangeOf(path, spot));
  }

  #has(path: Path): boolean {
    let value = this.value;
    for (const part of path) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return false;
      value = (value as Readonly<Record<PropertyKey, unknown>>)[part];
    }
    return true;
  }

  #addAll(severity: "error" | "warning", findings: readonly Finding[]): void {
    for (const { code, message, range, path, hint } of findings) {
      if (this.#isFull(severity)) this.#isCut ||= severity === "error";
      else this.#found[severity].push(this.#diagnose(code, severity, path, message, range, hint));
    }
  }

  #isFull(severity: "error" | "warning"): boolean {
    return this.#found[severity].length >= LIMITS.diagnostics;
  }

  #diagnose(
    code: DiagnosticCode,
    severity: "error" | "warning",
    path: Path,
    message: string,
    [start, end]: readonly [number, number],
    hint?: string,
  ): Diagnostic {
    const from = this.#position(start);
    const to = this.#position(Math.max(start, end));
    return {
      code,
      severity,
      message,
      pointer: toPointer(path),
      line: from.line,
      column: from.col,
      endLine: to.line,
      endColumn: to.col,
      ...(hint === undefined ? {} : { hint }),
    };
  }

  #position(offset: number): { line: number; col: number } {
    // What is missing at the end of a text is missed behind it.
    const position = this.#lines.linePos(Math.min(offset, this.#text.length));
    return position.line === 0 ? { line: 1, col: 1 } : position;
  }

  /** The range of a node; of the nearest one above it that exists, when the path leads nowhere. */
  #rangeOf(path: Path, spot: Spot): readonly [number, number] {
    let node: unknown = this.#root;
    let range = rangeOf(node) ?? [0, 0];
    for (const [depth, part] of path.entries()) {
      const pair = isMap(node) ? node.items.find(({ key }) => keyOf(key) === String(part)) : undefined;
      const isLast = depth === path.length - 1;
      if (pair !== undefined && isLast && spot === "key") return rangeOf(pair.key) ?? range;
      node = pair === undefined ? childAt(node, part) : pair.value;
      const found = rangeOf(node) ?? (pair && rangeOf(pair.key));
      if (found === undefined) return range;
      range = found;
    }
    return typeof spot === "object" ? this.#rangeWithin(range, spot) : range;
  }

  /**
   * Quotes, escapes and indents shift what a text holds against its source, but the nth mark of the one is the nth
   * mark of the other.
   */
  #rangeWithin([start, end]: readonly [number, number], spot: TextSpot): readonly [number, number] {
    const { text, mark, offset, length } = spot;
    const raw = this.#text.slice(start, end);
    if (mark === "") {
      const whole = raw.indexOf(text);
      return whole < 0 ? [start, end] : [start + whole + offset, start + whole + offset + length];
    }
    const anchor = text.lastIndexOf(mark, offset);
    let at = raw.indexOf(mark);
    for (let seen = text.indexOf(mark); seen < anchor && at >= 0; seen = text.indexOf(mark, seen + mark.length)) {
      at = raw.indexOf(mark, at + mark.length);
    }
    if (anchor < 0 || at < 0) return [start, end];
    const isVerbatim = raw.startsWith(text.slice(anchor, offset + length), at);
    const from = start + at + (isVerbatim ? offset - anchor : 0);
    return [from, from + (isVerbatim ? length : mark.length)];
  }
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : "";
}

function childAt(node: unknown, part: PropertyKey): unknown {
  if (typeof node !== "object" || node === null || !("items" in node) || typeof part !== "number") return undefined;
  return (node.items as readonly unknown[])[part];
}

function rangeOf(node: unknown): readonly [number, number] | undefined {
  const range: Range | null | undefined = isNode(node) ? node.range : undefined;
  return range ? [range[0], range[1]] : undefined;
}

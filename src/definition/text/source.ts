/** The text of a definition: read as a plain value, with the way back from a path in that value to a line and a column. */
import { isMap, isNode, isScalar, LineCounter, type Node, type Range } from "yaml";
import type { TextSpan } from "../../expressions/template.ts";
import { toPointer } from "../../domain/json-pointer.ts";
import type { Diagnostic, DiagnosticCode } from "./diagnostics.ts";
import { ParsedTexts } from "./parsed-texts.ts";
import { LIMITS } from "../schema/limits.ts";
import { findDuplicateKeys, findInexactNumbers, findReservedKeys, measure } from "./node-checks.ts";
import type { Finding } from "./finding.ts";
import { type Format, readText } from "./read-text.ts";

/** Keys and indices from the root of the definition to a value. */
export type Path = readonly PropertyKey[];

/** A part of a value that is a text; `offset` and `length` count within the value. */
export interface TextSpot extends TextSpan {
  /** The whole value. */
  readonly text: string;
  /** Characters by which the part is found in the written text, such as `${{`; empty to look for the whole value. */
  readonly mark: string;
}

/** Where a diagnostic points: the value at the path, the key that leads to it, or a part of the value's text. */
export type Spot = "value" | "key" | TextSpot;

export interface ReportOptions {
  /** Default: error. */
  readonly severity?: "error" | "warning";
  /** Default: the value. */
  readonly spot?: Spot;
  readonly hint?: string;
}

/** Where a value of a merged definition was written: in which file, and at which path there. */
export interface Origin {
  readonly source: Source;
  readonly path: Path;
}

/** A definition's text, its value, and the diagnostics that checks report about it. */
export class Source {
  readonly parsed = new ParsedTexts();
  #value: unknown;
  /** The path of an included file; null for the definition itself. */
  readonly #file: string | null;
  /** The files whose values are merged into the value, in their order. */
  #included: readonly Source[] = [];
  /** By the JSON pointers of the merged value; what has none here is of this text, at the same path. */
  #origins: ReadonlyMap<string, Origin> = new Map();
  /** Misspelt keys as they are written, by the JSON pointers that their corrected keys have. */
  #written: ReadonlyMap<string, string> = new Map();
  readonly #text: string;
  readonly #lines = new LineCounter();
  readonly #root: Node | null;
  readonly #found = { error: [] as Diagnostic[], warning: [] as Diagnostic[] };
  #isCut = false;

  constructor(text: string, format: Format, file: string | null = null) {
    this.#file = file;
    this.#text = text;
    const { root, value, findings } = readText(text, format, this.#lines);
    this.#root = root;
    this.#addAll("error", findings);
    if (this.hasErrors) return;
    this.#addAll("error", findDuplicateKeys(root));
    this.#addAll("error", findReservedKeys(root));
    this.#addAll("warning", findInexactNumbers(root));
    const excess = measure(value);
    if (excess !== undefined) this.report(excess.code, [], excess.message);
    else this.#value = value;
  }

  /** The text as a plain value, with what it includes once {@link merge} was called; undefined when it could not be read. */
  get value(): unknown {
    return this.#value;
  }

  get hasErrors(): boolean {
    return this.#found.error.length > 0 || this.#included.some(({ hasErrors }) => hasErrors);
  }

  /**
   * All diagnostics: those of the definition itself, then those of the included files, each by position. When there are more
   * than the limit, the last one says that there are more.
   */
  get diagnostics(): readonly Diagnostic[] {
    const files = [null, ...this.#included.map((each) => each.#file)];
    const found = [this, ...this.#included].flatMap((each) => [...each.#found.error, ...each.#found.warning]);
    const sorted = found.toSorted(
      (a, b) => files.indexOf(a.file ?? null) - files.indexOf(b.file ?? null) || a.line - b.line || a.column - b.column,
    );
    const all = sorted.slice(0, 2 * LIMITS.diagnostics);
    if (!this.#isCut && all.length === sorted.length) return all;
    const message = `only the first ${LIMITS.diagnostics} problems are listed; there are more`;
    return [...all, this.#diagnose("diagnostic-limit", "error", [], message, [0, 0])];
  }

  /** Notes the files that the definition includes: their problems are problems of the definition. */
  addIncluded(files: readonly Source[]): void {
    this.#included = files;
  }

  /**
   * Makes `value`, with corrected keys, the value of the text. `written` are the keys as they are written, by the JSON pointers of
   * the corrected ones; diagnostics name the written ones.
   */
  correct(value: unknown, written: ReadonlyMap<string, string>): void {
    this.#value = value;
    this.#written = written;
  }

  /** Makes `value` the value of the definition: from now on, paths are paths in it. */
  merge(value: unknown, origins: ReadonlyMap<string, Origin>): void {
    this.#value = value;
    this.#origins = origins;
    const excess = measure(value);
    if (excess !== undefined) this.report(excess.code, [], excess.message);
  }

  /** Adds a diagnostic about the value at `path`; beyond the limit it only notes that there are more errors. */
  report(code: DiagnosticCode, path: Path, message: string, options: ReportOptions = {}): void {
    const { severity = "error", spot = "value", hint } = options;
    // Finding a place costs a search, so nothing is searched for a diagnostic that is not kept.
    if (this.#isFull(severity)) this.#isCut ||= severity === "error";
    else this.#found[severity].push(this.#diagnoseAt(code, severity, path, message, spot, hint));
  }

  /** The first of these paths at which the definition has a value. */
  find(paths: readonly Path[]): Path | undefined {
    return paths.find((path) => this.#has(path));
  }

  /** A diagnostic that this object does not keep: for problems that are found only when a run is planned. */
  locate(
    code: DiagnosticCode,
    severity: "error" | "warning",
    path: Path,
    message: string,
    spot: Spot = "value",
  ): Diagnostic {
    return this.#diagnoseAt(code, severity, path, message, spot);
  }

  #diagnoseAt(
    code: DiagnosticCode,
    severity: "error" | "warning",
    path: Path,
    message: string,
    spot: Spot,
    hint?: string,
  ): Diagnostic {
    const { source, path: at } = this.#originOf(path);
    const written = source.#asWritten(at);
    return source.#diagnose(code, severity, written, message, source.#rangeOf(written, spot), hint);
  }

  /** The innermost part around a value that was taken from a file says where the value was written. */
  #originOf(path: Path): Origin {
    for (let length = this.#origins.size === 0 ? 0 : path.length; length > 0; length--) {
      const origin = this.#origins.get(toPointer(path.slice(0, length)));
      if (origin !== undefined) return { source: origin.source, path: [...origin.path, ...path.slice(length)] };
    }
    return { source: this, path };
  }

  #asWritten(path: Path): Path {
    if (this.#written.size === 0) return path;
    return path.map((part, at) => this.#written.get(toPointer(path.slice(0, at + 1))) ?? part);
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
      ...(this.#file === null ? {} : { file: this.#file }),
    };
  }

  #position(offset: number): { line: number; col: number } {
    // The place of something that is missing at the end of a text is behind its last character.
    const position = this.#lines.linePos(Math.min(offset, this.#text.length));
    return position.line === 0 ? { line: 1, col: 1 } : position;
  }

  /** The range of the node at a path; when there is none, that of the nearest node above it. */
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
   * Quotes, escapes and indentation make the written text differ from the value, so an offset in the value says nothing about
   * the text. But the nth mark in the value is the nth mark in the written text.
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

/** The text of a definition: from characters to a plain value, and back from a path in that value to line and column. */
import { Alias, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument, type Range } from "yaml";
import { type Diagnostic, type DiagnosticCode, toPointer } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";

export type Format = "yaml" | "json";
export type Path = readonly PropertyKey[];

/** Where a diagnostic points: the value at the path, or the key that leads to it. */
export type Spot = "value" | "key";

export class Source {
  /** The text as a plain value; undefined when it could not be read. */
  readonly value: unknown;
  readonly diagnostics: Diagnostic[] = [];
  readonly #lines = new LineCounter();
  readonly #root: Node | null;

  constructor(text: string, format: Format) {
    if (Buffer.byteLength(text) > LIMITS.textBytes) {
      this.#root = null;
      this.report("size-limit", [], `a definition may have ${LIMITS.textBytes} bytes; this one is larger`);
      return;
    }
    const document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      version: "1.2",
      schema: "core",
      merge: false,
      uniqueKeys: true,
      stringKeys: true,
    });
    this.#root = document.contents;
    if (format === "json") this.#checkJson(text);
    for (const { code, message, pos } of document.errors) {
      if (format === "json" && this.diagnostics.length > 0) break;
      this.#reportAt(code === "DUPLICATE_KEY" ? "duplicate-key" : "syntax", "error", [], message, pos);
    }
    if (this.diagnostics.length > 0) return;
    if (depthOf(this.#root) > LIMITS.depth) {
      this.report("depth-limit", [], `maps and lists may be nested ${LIMITS.depth} deep; these are deeper`);
      return;
    }
    try {
      this.value = document.toJS({ maxAliasCount: LIMITS.aliases });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isLimit = message.includes("Excessive alias count");
      this.report(
        isLimit ? "alias-limit" : "syntax",
        [],
        isLimit ? `anchors may be used ${LIMITS.aliases} times in all` : message,
      );
    }
  }

  get hasErrors(): boolean {
    return this.diagnostics.some(({ severity }) => severity === "error");
  }

  report(
    code: DiagnosticCode,
    path: Path,
    message: string,
    options: { severity?: "error" | "warning"; spot?: Spot; hint?: string } = {},
  ): void {
    const { severity = "error", spot = "value", hint } = options;
    this.#reportAt(code, severity, path, message, this.#rangeOf(path, spot), hint);
  }

  #reportAt(
    code: DiagnosticCode,
    severity: "error" | "warning",
    path: Path,
    message: string,
    [start, end]: readonly [number, number],
    hint?: string,
  ): void {
    const from = this.#position(start);
    const to = this.#position(Math.max(start, end));
    this.diagnostics.push({
      code,
      severity,
      message,
      pointer: toPointer(path),
      line: from.line,
      column: from.col,
      endLine: to.line,
      endColumn: to.col,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  #position(offset: number): { line: number; col: number } {
    const position = this.#lines.linePos(offset);
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
    return range;
  }

  /** JSON is read as YAML for its positions; what JSON does not allow is found by its own parser. */
  #checkJson(text: string): void {
    const message = jsonError(text);
    if (message === undefined) return;
    const position = jsonErrorPosition(text);
    const words = message.replace(/ in JSON at position.*| at position.*|, (?:"|\.{3}).* is not valid JSON/s, "");
    this.#reportAt("syntax", "error", [], `this is not valid JSON: ${words}`, [position, position]);
  }
}

function jsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Where JSON stops being valid: the end of the longest beginning that only lacks its end. The parser's own messages
 * name the position in some cases only.
 */
function jsonErrorPosition(text: string): number {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (/end of JSON|Unterminated string/.test(jsonError(text.slice(0, middle)) ?? "end of JSON")) good = middle;
    else bad = middle;
  }
  return Math.min(good, text.length);
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

/** Depth of maps and lists; counts at most two levels above the limit, whatever the text holds. */
function depthOf(node: unknown, depth = 0): number {
  if (depth > LIMITS.depth + 1) return depth;
  if (isPair(node)) return Math.max(depthOf(node.key, depth), depthOf(node.value, depth));
  if (typeof node !== "object" || node === null || node instanceof Alias || !("items" in node)) return depth;
  let deepest = depth + 1;
  for (const item of node.items as readonly unknown[]) deepest = Math.max(deepest, depthOf(item, depth + 1));
  return deepest;
}

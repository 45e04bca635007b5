/** Walks over the nodes of a text and its new value together: parts that differ are rendered, the others are copied. */
import { type Alias, CST, isAlias, isCollection, isMap, isSeq, type Node } from "yaml";
import { alignLists } from "./edit-align.ts";
import { closingOf, type Collection, entriesOf, type Entry } from "./edit-entries.ts";
import { layOutBlock, layOutFlow, MAX_SPACE, type Part, separatorOf } from "./edit-layout.ts";
import { findIndents, findTargets, MAX_INDENT } from "./edit-survey.ts";
import type { Format } from "../text/read-text.ts";
import {
  type BlockStyle,
  renderFlow,
  renderItem,
  renderJson,
  renderPair,
  renderScalar,
  type ScalarStyle,
} from "./render.ts";
import { isSameValue } from "./same-value.ts";

export interface WrittenText {
  readonly text: string;
  readonly format: Format;
  /** The root node, read with source tokens. */
  readonly root: Node;
  readonly value: unknown;
}

export interface EditOptions {
  /** Collections at this depth, from 0 for the root, are replaced as a whole when they differ. */
  readonly depth: number;
  readonly blockScalars: boolean;
}

/**
 * The edited text for `spec`; undefined when the text cannot be edited. New text can change the meaning of the text around it, so
 * the caller has to check that the answer has the value `spec`.
 */
export function editNodes(written: WrittenText, spec: unknown, options: EditOptions): string | undefined {
  const edit = new NodeEdit(written, options).run(written, spec);
  return edit && written.text.slice(0, edit.from) + edit.body + written.text.slice(edit.to);
}

/** New text for a range of the old text. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly body: string;
}

interface Change {
  readonly old: unknown;
  readonly next: unknown;
  readonly depth: number;
  /** A line break with the indentation of the surrounding lines, for JSON. */
  readonly newline: string;
}

interface PartWriter {
  readonly kept: (entry: Entry, change: Change) => string;
  readonly added: (key: string, value: unknown) => string;
}

type Fields = Readonly<Record<string, unknown>>;

const BYTE_ORDER_MARK = "\ufeff";
const INLINE_STYLES: Readonly<Record<string, ScalarStyle>> = {
  scalar: "PLAIN",
  "single-quoted-scalar": "QUOTE_SINGLE",
  "double-quoted-scalar": "QUOTE_DOUBLE",
};

class NodeEdit {
  readonly #text: string;
  readonly #isJson: boolean;
  readonly #maxDepth: number;
  readonly #style: BlockStyle;
  readonly #eol: string;
  /** Indentation of one level of JSON; empty when the JSON is one line. */
  readonly #unit: string;
  readonly #targets: ReadonlyMap<Alias, Node>;
  /** The values of the anchors that are written already, which later aliases refer to. */
  readonly #anchored = new Map<Node, unknown>();

  constructor({ text, format, root }: WrittenText, { depth, blockScalars }: EditOptions) {
    this.#text = text;
    this.#isJson = format === "json";
    this.#maxDepth = depth;
    this.#style = { ...findIndents(root), blockScalars };
    this.#eol = text.includes("\r\n") ? "\r\n" : "\n";
    this.#unit = /^\s*[{[]\r?\n([ \t]*)/.exec(text)?.[1]?.slice(0, MAX_INDENT) ?? "";
    this.#targets = findTargets(root);
  }

  run({ root, value }: WrittenText, spec: unknown): Edit | undefined {
    return this.#collection(root, 0, { old: value, next: spec, depth: 0, newline: this.#eol });
  }

  /** Undefined when the collection must be replaced as a whole. `headEnd` is the `headEnd` of its entry, 0 for the root. */
  #collection(node: Node, headEnd: number, change: Change): Edit | undefined {
    const { old, next, depth } = change;
    const entries = isCollection(node) ? entriesOf(node as Collection) : undefined;
    if (entries === undefined || entries.length === 0 || !isOfKind(node, old) || !isOfKind(node, next))
      return undefined;
    if (Object.keys(next).length === 0 || (depth >= this.#maxDepth && !isSameValue(old, next))) return undefined;
    const token = node.srcToken;
    if (token?.type === "flow-collection") return this.#flow(node as Collection, token, entries, change);
    const [first] = entries as [Entry];
    if (this.#column(first) > MAX_SPACE) return undefined;
    // Comments above the first key of the root are about the whole text and stay.
    const bodyStart = depth === 0 ? this.#lineStart(first.at) : Math.min(this.#lineEnd(headEnd), first.at);
    return this.#block(node as Collection, entries, bodyStart, change);
  }

  #block(collection: Collection, entries: readonly Entry[], from: number, change: Change): Edit {
    const first = entries[0]!;
    const lineStart = this.#lineStart(first.at);
    const column = this.#column(first);
    const sharesLine = lineStart < from;
    const gaps = entries.map(({ at }, index) => {
      if (index > 0) return this.#text.slice(this.#lineEnd(entries[index - 1]!.end), this.#lineStart(at));
      return sharesLine ? "" : this.#text.slice(from, lineStart);
    });
    const parts = this.#parts(collection, entries, change, {
      kept: (entry, inner) => " ".repeat(this.#column(entry)) + this.#blockEntry(entry, column, inner),
      added: (key, value) => {
        const lines = isMap(collection) ? renderPair(key, value, this.#style) : renderItem(value, this.#style);
        return this.#indented(lines, column);
      },
    });
    const body = layOutBlock(parts, gaps, { column, eol: this.#eol });
    const to = this.#lineEnd(entries.at(-1)!.end);
    if (!sharesLine) return { from, to, body };
    return { from, to, body: body.startsWith(" ".repeat(column)) ? body.slice(column) : this.#eol + body };
  }

  /** The text of an entry of a block, to the end of its last line. */
  #blockEntry(entry: Entry, column: number, change: Change): string {
    const lineEnd = this.#lineEnd(entry.end);
    const edit = this.#value(entry, change);
    if (edit !== undefined) {
      return this.#text.slice(entry.at, edit.from) + edit.body + this.#text.slice(edit.to, lineEnd);
    }
    const { next } = change;
    const style = { ...this.#style, ...this.#blockScalarIndent(entry, column, next) };
    if (entry.slotAt === undefined) {
      return this.#indented(renderPair(entry.key, next, style), column).slice(column);
    }
    const scalar = blockScalarStyle(entry.token);
    const isItem = entry.keyNode === undefined;
    const [head, ...rest] = isItem ? renderItem(next, style, scalar) : renderPair("k", next, style, scalar);
    const inline = head!.slice(isItem ? "- ".length : "k: ".length);
    const line = [this.#text.slice(entry.at, entry.slotAt), inline, entry.comment ?? ""].filter((word) => word !== "");
    const isUnended = rest.length === 0 && this.#text[lineEnd - 1] !== "\n";
    return line.join(" ") + (isUnended ? "" : this.#eol) + this.#indented(rest, column);
  }

  #flow(collection: Collection, token: CST.FlowCollection, entries: readonly Entry[], change: Change): Edit {
    const leads = entries.map(({ at }, index) =>
      this.#text.slice(index === 0 ? token.offset + 1 : entries[index - 1]!.end, at),
    );
    const newline = /\r?\n[ \t]*$/.exec(separatorOf(leads))?.[0] ?? change.newline;
    const parts = this.#parts(
      collection,
      entries,
      { ...change, newline },
      {
        kept: (entry, inner) => this.#flowEntry(entry, inner),
        added: (key, value) =>
          isMap(collection) ? this.#freshPair(key, value, newline) : this.#freshValue(value, newline),
      },
    );
    const body = layOutFlow(parts, this.#text, { token, entries, eol: this.#eol });
    return { from: token.offset, to: closingOf(token).at + 1, body };
  }

  #flowEntry(entry: Entry, change: Change): string {
    const { at, end, slotAt, token } = entry;
    const { next, newline } = change;
    const edit = this.#value(entry, change);
    if (edit !== undefined) return this.#text.slice(at, edit.from) + edit.body + this.#text.slice(edit.to, end);
    if (slotAt === undefined) return this.#freshPair(entry.key, next, newline);
    const space = token === undefined ? " " : /^\s*/.exec(this.#text.slice(slotAt, token.offset))![0];
    return this.#text.slice(at, slotAt) + space + this.#freshValue(next, newline);
  }

  #freshPair(key: string, value: unknown, newline: string): string {
    const colon = this.#isJson && this.#unit === "" ? ":" : ": ";
    return this.#freshValue(key, newline) + colon + this.#freshValue(value, newline);
  }

  #freshValue(value: unknown, newline: string): string {
    return this.#isJson ? renderJson(value, this.#unit, newline) : renderFlow(value);
  }

  /** The parts of a collection, made in the order of the text, so that an anchor is written before its aliases. */
  #parts(
    collection: Collection,
    entries: readonly Entry[],
    { old, next, depth, newline }: Change,
    { kept, added }: PartWriter,
  ): readonly Part[] {
    if (isSeq(collection)) {
      const [olds, nexts] = [old as readonly unknown[], next as readonly unknown[]];
      return alignLists(olds, nexts).map((origin, index) => ({
        origin,
        body:
          origin === undefined
            ? added("", nexts[index])
            : kept(entries[origin]!, { old: olds[origin], next: nexts[index], depth: depth + 1, newline }),
      }));
    }
    const [olds, nexts] = [old as Fields, next as Fields];
    const newKeys = groupNewKeys(entries, nexts);
    const parts: Part[] = [];
    const addAfter = (place: string | undefined): void => {
      for (const key of newKeys.get(place) ?? []) parts.push({ origin: undefined, body: added(key, nexts[key]) });
      newKeys.delete(place);
    };
    for (const [origin, entry] of entries.entries()) {
      const { key, keyNode } = entry;
      if (!Object.hasOwn(nexts, key)) continue;
      if (keyNode !== undefined) this.#anchored.set(keyNode, key);
      parts.push({ origin, body: kept(entry, { old: olds[key], next: nexts[key], depth: depth + 1, newline }) });
      addAfter(key);
    }
    addAfter(undefined);
    return parts;
  }

  /** Undefined when the entry must be rendered again after its dash or colon. */
  #value(entry: Entry, change: Change): Edit | undefined {
    const { at, end, node } = entry;
    const { old, next } = change;
    const unchanged = { from: at, to: end, body: this.#text.slice(at, end) };
    if (isAlias(node)) {
      const target = this.#targets.get(node);
      const hasSameTarget = target && this.#anchored.has(target) && isSameValue(this.#anchored.get(target), next);
      return hasSameTarget ? unchanged : undefined;
    }
    const isSame = isSameValue(old, next);
    // The anchor of an alias within an unchanged collection may have changed, so such a collection is walked too.
    const isCopied = isSame && (this.#targets.size === 0 || !isCollection(node));
    const edit = (isCopied ? undefined : this.#edited(entry, change)) ?? (isSame ? unchanged : undefined);
    // A value that is rendered again loses its anchor.
    if (node !== null && edit !== undefined) this.#anchored.set(node, next);
    return edit;
  }

  #edited(entry: Entry, change: Change): Edit | undefined {
    const { node, isPair, headEnd } = entry;
    if (!isCollection(node)) return this.#scalar(entry, change.next);
    return isPair ? undefined : this.#collection(node, headEnd, change);
  }

  /** Replaces a scalar on one line, in the same style; undefined where that is not possible. */
  #scalar({ token, end, hasTag, inFlow }: Entry, next: unknown): Edit | undefined {
    const style = token && INLINE_STYLES[token.type];
    if (style === undefined || hasTag || (typeof next === "object" && next !== null)) return undefined;
    const isBetterAsBlock = typeof next === "string" && next.includes("\n") && style === "PLAIN";
    if (isBetterAsBlock && !inFlow && this.#style.blockScalars) return undefined;
    const write = inFlow ? renderFlow : renderScalar;
    return { from: token!.offset, to: end, body: this.#isJson ? renderJson(next, "", "") : write(next, style) };
  }

  /** The indentation of a block of text, which its new text keeps. */
  #blockScalarIndent({ token }: Entry, column: number, next: unknown): Partial<BlockStyle> {
    const body = token?.type === "block-scalar" && typeof next === "string" ? /^ *(?=[^\s])/m.exec(token.source) : null;
    const indent = (body?.[0].length ?? 0) - column;
    return indent > 0 && indent <= MAX_SPACE ? { indent } : {};
  }

  #indented(lines: readonly string[], column: number): string {
    const pad = " ".repeat(column);
    return lines.map((line) => (line === "" ? "" : pad + line) + this.#eol).join("");
  }

  #column({ at }: Entry): number {
    return at - this.#lineStart(at);
  }

  #lineStart(offset: number): number {
    return Math.max(this.#text.lastIndexOf("\n", offset - 1) + 1, this.#text.startsWith(BYTE_ORDER_MARK) ? 1 : 0);
  }

  /** The offset behind the line break of the line on which a token ends. The token of a block of text includes its line break. */
  #lineEnd(end: number): number {
    const at = this.#text.indexOf("\n", Math.max(end - 1, 0));
    return at < 0 ? this.#text.length : at + 1;
  }
}

/** New keys by the key of the text that they follow in `fields`; under undefined, the new keys before all of these. */
function groupNewKeys(entries: readonly Entry[], fields: Fields): Map<string | undefined, string[]> {
  const known = new Set(entries.map(({ key }) => key));
  const groups = new Map<string | undefined, string[]>();
  let place: string | undefined;
  for (const key of Object.keys(fields)) {
    if (known.has(key)) place = key;
    else if (groups.has(place)) groups.get(place)!.push(key);
    else groups.set(place, [key]);
  }
  return groups;
}

function isOfKind(node: Node, value: unknown): value is object {
  return typeof value === "object" && value !== null && Array.isArray(value) === isSeq(node);
}

function blockScalarStyle(token: CST.Token | undefined): ScalarStyle | undefined {
  if (token?.type !== "block-scalar") return undefined;
  const isFolded = token.props.some((prop) => prop.type === "block-scalar-header" && prop.source.startsWith(">"));
  return isFolded ? "BLOCK_FOLDED" : "BLOCK_LITERAL";
}

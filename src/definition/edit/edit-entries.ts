/** Finds the parts of a collection in the text: the offsets of each item of a list and of each pair of a map. */
import { CST, isMap, isScalar, type Node, type YAMLMap, type YAMLSeq } from "yaml";

export type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node>;

/** One item of a list, or one pair of a map. */
export interface Entry {
  /** The key of a pair; empty for an item. */
  readonly key: string;
  readonly keyNode: Node | undefined;
  /** The value; null for a key without one. */
  readonly node: Node | null;
  /** The value's token, without its anchor and tag. */
  readonly token: CST.Token | undefined;
  /** Start of the dash, of the key, or of an item in brackets. */
  readonly at: number;
  /** End of the dash or the colon; undefined for a key without a colon. */
  readonly slotAt: number | undefined;
  /** End of the last sign before the value: dash, colon, anchor or tag. */
  readonly headEnd: number;
  /** End of the value, without what follows on its line. */
  readonly end: number;
  /** The comment on the line of the dash, of the colon, or of a value that has one line. */
  readonly comment: string | undefined;
  readonly hasTag: boolean;
  /** True within brackets or braces. */
  readonly inFlow: boolean;
  /** True for an item in brackets that is a pair, `[a: 1]`: it can only be replaced as a whole. */
  readonly isPair: boolean;
  /** Offset of the comma before the entry, within brackets or braces. */
  readonly comma: number | undefined;
}

/** The entries of a collection in the order of the text; undefined when its nodes have no source tokens. */
export function entriesOf(collection: Collection): readonly Entry[] | undefined {
  const token = collection.srcToken;
  if (!CST.isCollection(token)) return undefined;
  const items = (token.items as readonly CST.CollectionItem[]).filter(hasContent);
  if (items.length !== collection.items.length) return undefined;
  if (isMap(collection)) {
    return collection.items.map(({ key, value }, index) => entryOf(items[index]!, token, key, value));
  }
  return collection.items.map((node, index) => entryOf(items[index]!, token, undefined, node));
}

/** The offsets of the closing bracket of a flow collection, and of the comma before it if there is one. */
export function closingOf({ end, items }: CST.FlowCollection): { readonly at: number; readonly comma?: number } {
  const at = end.find(({ type }) => type === "flow-map-end" || type === "flow-seq-end")!.offset;
  const last = items.at(-1);
  const comma = last && !hasContent(last) ? offsetOf(last.start, "comma") : undefined;
  return comma === undefined ? { at } : { at, comma };
}

function entryOf(item: CST.CollectionItem, parent: CST.Token, key: Node | undefined, node: Node | null): Entry {
  const { start, sep = [], value } = item;
  const head = [...start, ...(item.key ? [item.key] : []), ...sep];
  const signs = head.filter(isSign);
  const at = signs[0]?.offset ?? value!.offset;
  const inFlow = parent.type === "flow-collection";
  const isPair = inFlow && key === undefined && sep.length > 0;
  const indicator = key === undefined ? offsetOf(start, "seq-item-ind") : offsetOf(sep, "map-value-ind");
  const slotAt = inFlow && key === undefined ? at : indicator && indicator + 1;
  const headEnd = signs.length === 0 ? at : endOf(signs.at(-1)!);
  const behind = [...head, ...trailOf(value)].filter(({ offset }) => slotAt !== undefined && offset >= slotAt);
  return {
    key: isScalar(key) ? String(key.value) : "",
    keyNode: key,
    node,
    token: value,
    at,
    slotAt,
    headEnd,
    end: value === undefined ? headEnd : endOf(value),
    comment: behind.find((token): token is CST.SourceToken => token.type === "comment")?.source.trimEnd(),
    hasTag: behind.some(({ type }) => type === "tag"),
    inFlow,
    isPair,
    comma: offsetOf(start, "comma"),
  };
}

/** The end of a token, without the comments behind it. */
function endOf(token: CST.Token): number {
  switch (token.type) {
    case "block-scalar":
      return endOf(token.props.at(-1)!) + token.source.length;
    case "flow-collection":
      return closingOf(token).at + 1;
    case "block-map":
    case "block-seq": {
      const { start, key, sep = [], value } = (token.items as readonly CST.CollectionItem[]).findLast(hasContent)!;
      if (value !== undefined) return endOf(value);
      return endOf([...start, ...(key ? [key] : []), ...sep].findLast(isSign)!);
    }
    default:
      return token.offset + ("source" in token ? token.source.length : 0);
  }
}

/** The tokens behind a value, among which a comment on its first line can be. */
function trailOf(value: CST.Token | undefined): readonly CST.Token[] {
  if (value === undefined) return [];
  if (value.type === "block-scalar") return value.props;
  return "end" in value ? (value.end ?? []) : [];
}

function hasContent({ start, key, sep, value }: CST.CollectionItem): boolean {
  return Boolean(key) || value !== undefined || (sep?.length ?? 0) > 0 || start.some(isSign);
}

function isSign({ type }: CST.Token): boolean {
  return type !== "space" && type !== "newline" && type !== "comment" && type !== "comma";
}

function offsetOf(tokens: readonly CST.SourceToken[], type: CST.SourceToken["type"]): number | undefined {
  return tokens.find((token) => token.type === type)?.offset;
}

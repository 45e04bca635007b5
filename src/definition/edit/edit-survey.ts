/** Reads what an edit needs to know about a text as a whole: its aliases and its indentation. */
import { type Alias, isCollection, type Node, visit } from "yaml";
import type { BlockStyle } from "./render.ts";

/** New lines follow the indentation of the text up to this many columns for each level. */
export const MAX_INDENT = 8;

/** The anchored value of each alias. An alias whose anchor does not exist is absent. */
export function findTargets(root: Node): ReadonlyMap<Alias, Node> {
  const byName = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(root, {
    Value(_, node) {
      if (node.anchor !== undefined) byName.set(node.anchor, node);
    },
    Alias(_, node) {
      const target = byName.get(node.source);
      if (target !== undefined) targets.set(node, target);
    },
  });
  return targets;
}

/** The indentation of the text: that of the first map and the first list that are values of a map. */
export function findIndents(root: Node): Pick<BlockStyle, "indent" | "indentSeq"> {
  let ofMaps: number | undefined;
  let ofLists: number | undefined;
  visit(root, {
    Map(_, map) {
      const { srcToken: outer } = map;
      if (outer?.type !== "block-map") return undefined;
      for (const { value } of map.items) {
        const inner = isCollection(value) ? value.srcToken : undefined;
        if (inner?.type === "block-map") ofMaps ??= inner.indent - outer.indent;
        if (inner?.type === "block-seq") ofLists ??= inner.indent - outer.indent;
      }
      return ofMaps === undefined || ofLists === undefined ? undefined : visit.BREAK;
    },
  });
  return { indent: Math.min(ofMaps ?? (ofLists || 2), MAX_INDENT), indentSeq: ofLists !== 0 };
}

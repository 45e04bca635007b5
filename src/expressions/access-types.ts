/** The types of accesses to fields (`a.b`), to items (`a[0]`) and to all items (`a.*`). */
import type { Expr } from "@actions/expressions";
import { IndexAccess, Literal, Star } from "@actions/expressions/ast";
import { didYouMean } from "./nearest.ts";
import { ungroup } from "./print.ts";
import { clipQuote, listWords, quote, type Report } from "./type-problem.ts";
import { ANY, isComposite, membersOf, nameOf, type ObjectType, unionOf, type ValueType } from "./types.ts";

/** The type of the access `node`, whose parts have the types `base` and `index`. For `.*`, `index` is ignored. */
export function accessType(node: IndexAccess, base: ValueType, index: ValueType, report: Report): ValueType {
  if (node.index instanceof Star) return everyItem(node, base, report);
  if (membersOf(index).every((member) => !["any", "string", "number"].includes(member.kind))) {
    const message = `${quote(node.index)} is ${nameOf(index)}; an index must be a text or a number`;
    report(node.index, "type-mismatch", message);
    return ANY;
  }
  return fieldOf(node, base, index, report);
}

/** The type of a field; of a union, that of the members that have the field. A field that all members lack is a problem. */
function fieldOf(node: IndexAccess, base: ValueType, index: ValueType, report: Report): ValueType {
  const refusals: Parameters<Report>[] = [];
  const types = membersOf(base).flatMap((member) => {
    const count = refusals.length;
    const type = memberField(node, member, index, (...refusal) => refusals.push(refusal));
    return refusals.length === count ? [type] : [];
  });
  if (types.length > 0) return unionOf(...types);
  // The problem of an object lists its fields, so it helps most.
  const refusal = refusals.find(([, kind]) => kind === "unknown-property") ?? refusals[0];
  if (refusal !== undefined) report(...refusal);
  return ANY;
}

function memberField(node: IndexAccess, base: ValueType, index: ValueType, report: Report): ValueType {
  switch (base.kind) {
    case "any":
      return ANY;
    case "object":
      return objectField(node.index, base, index, report);
    case "array":
      if (base.filtered) return { kind: "array", items: fieldOf(node, base.items, index, report), filtered: true };
      return listItem(node, base.items, index, report);
    default:
      report(node.index, "type-mismatch", `${subjectOf(node)} is ${nameOf(base)}; it has no field ${nameIndex(node)}`);
      return ANY;
  }
}

function objectField(at: Expr, base: ObjectType, index: ValueType, report: Report): ValueType {
  if (index.kind !== "string" || index.words === undefined) return anyFieldOf(base);
  const [word] = index.words;
  if (word === undefined) return ANY;
  const types = index.words.map((name) => base.fields.get(name) ?? base.others);
  const known = types.filter((type) => type !== null);
  if (known.length > 0) return unionOf(...known);
  const names = [...base.fields.keys()];
  report(
    at,
    "unknown-property",
    `${base.noun} has no field "${clipQuote(word)}"${didYouMean(word, names)}`,
    base.hint ?? (names.length === 0 ? "it has no fields" : `its fields: ${listWords(names)}`),
  );
  return ANY;
}

function listItem(node: IndexAccess, items: ValueType, index: ValueType, report: Report): ValueType {
  const isName = index.kind === "string" && index.words?.every((word) => Number.isNaN(Number(word)));
  if (isName !== true) return items;
  const message = `${subjectOf(node)} is a list; it has no field ${nameIndex(node)}`;
  report(
    node.index,
    "type-mismatch",
    message,
    "write `.*` before the field to read it of every item, or `[0]` to read it of one item",
  );
  return ANY;
}

function everyItem(node: IndexAccess, base: ValueType, report: Report): ValueType {
  const items = membersOf(base).flatMap((member) => {
    if (member.kind !== "array" || !member.filtered) return itemsOf(member);
    return membersOf(member.items).flatMap(itemsOf);
  });
  if (items.length > 0) return { kind: "array", items: unionOf(...items), filtered: true };
  const subject = base.kind === "array" ? `each item of ${quote(node.expr)}` : quote(node.expr);
  const found = nameOf(base.kind === "array" ? base.items : base);
  report(node, "type-mismatch", `\`.*\` gives the items of a list or an object; ${subject} is ${found}`);
  return ANY;
}

/** The types of the items of a value; empty for a value without items. */
function itemsOf(type: ValueType): readonly ValueType[] {
  if (type.kind === "any") return [ANY];
  if (!isComposite(type)) return [];
  return [type.kind === "array" ? type.items : anyFieldOf(type)];
}

function anyFieldOf({ fields, others }: ObjectType): ValueType {
  const types = [...fields.values(), ...(others === null ? [] : [others])];
  return types.length === 0 ? ANY : unionOf(...types);
}

/** What messages call the value that is accessed: after `.*` it is every item. */
function subjectOf({ expr }: IndexAccess): string {
  const list = ungroup(expr);
  return list instanceof IndexAccess && isFiltered(list) ? `every item of ${quote(list)}` : quote(list);
}

function isFiltered({ expr, index }: IndexAccess): boolean {
  const base = ungroup(expr);
  return index instanceof Star || (base instanceof IndexAccess && isFiltered(base));
}

function nameIndex({ index }: IndexAccess): string {
  return index instanceof Literal ? `"${clipQuote(index.literal.coerceString())}"` : quote(index);
}

/**
 * Which index of MongoDB serves a query, by the definitions of the indexes: first the fields that the query compares with
 * values, then those of its order, then one with a range. Pure.
 */
import type { Document } from "mongodb";
import type { Asked } from "./mongo-commands.ts";

/**
 * How a field is compared: with one value or some, with values of which one may be missing, with a range, or in a way that
 * leads to no place of an index.
 */
type Comparison = "=" | "=?" | "<>" | "~";

type Direction = 1 | -1;
type Fields = readonly (readonly [field: string, direction: Direction])[];
type Branch = ReadonlyMap<string, Comparison>;

/** A query without its values. */
export interface Query {
  readonly collection: string;
  readonly command: string;
  /** The comparisons that each document of the answer fits; each alternative of an `$or` by itself. */
  readonly branches: readonly Branch[];
  readonly sort: Fields;
  /** The index that the query names. */
  readonly hint?: string;
  readonly isLimited: boolean;
}

export interface Index {
  readonly key: Fields;
  /** Fields without which a document is not in the index. */
  readonly needs: readonly string[];
}

/** `reads`: names of the indexes, by their fields. `lacks`: null when they lead to the documents of the answer in its order. */
export interface Service {
  readonly reads: string;
  readonly lacks: "an index" | "the order" | null;
}

const ID: Index = { key: [["_id", 1]], needs: [] };

export function queryOf(collection: string, command: string, { filter, sort, hint, isLimited }: Asked): Query {
  return {
    collection,
    command,
    branches: branchesOf(filter),
    sort: fieldsOf(sort),
    ...(hint !== undefined && { hint: nameOf(fieldsOf(hint)) }),
    isLimited,
  };
}

/** The index that `createIndexes` asks for. */
export function indexOf({ key, sparse, partialFilterExpression }: Document): Index {
  const fields = fieldsOf(key as Document);
  const needs = sparse === true ? fields.map(([field]) => field) : Object.keys(partialFilterExpression ?? {});
  return { key: fields, needs };
}

/** `runId, -number`. */
function nameOf(fields: Fields): string {
  return fields.map(([field, direction]) => `${direction === 1 ? "" : "-"}${field}`).join(", ");
}

/** `find runId= number<> sort number limit`; alternatives of an `$or` are separated by `|`. */
export function textOf({ command, branches, sort, isLimited }: Query): string {
  const texts = branches.map((branch) =>
    [...branch]
      .map(([field, comparison]) => `${field}${comparison}`)
      .toSorted()
      .join(" "),
  );
  const filter = [...new Set(texts)].toSorted().join(" | ") || "everything";
  return [
    command,
    filter,
    ...(sort.length === 0 ? [] : [`sort ${nameOf(sort)}`]),
    ...(isLimited && command !== "findAndModify" ? ["limit"] : []),
  ].join(" ");
}

/** How the indexes of its collection, besides that of the ids, serve the query: each alternative of an `$or` by the best one. */
export function serviceOf(query: Query, indexes: readonly Index[]): Service {
  const { hint } = query;
  const allowed = [ID, ...indexes].filter(({ key }) => hint === undefined || nameOf(key) === hint);
  const services = query.branches.map((branch) => serviceOfBranch(branch, query, allowed));
  // The server reads all documents when one alternative needs it.
  if (services.some(({ lacks }) => lacks === "an index")) return { reads: "", lacks: "an index" };
  const reads = [...new Set(services.map((service) => service.reads))].join(" or ");
  return { reads, lacks: services.find(({ lacks }) => lacks !== null)?.lacks ?? null };
}

function serviceOfBranch(branch: Branch, query: Query, indexes: readonly Index[]): Service {
  const useful = indexes.flatMap((index) => {
    if (index.needs.some((field) => !isPresent(branch.get(field)))) return [];
    const [placed, inOrder] = [placedBy(index.key, branch), isInOrder(index.key, branch, query.sort)];
    // An index that leads to no place may still be read in its order until some documents are found.
    const isRead = placed > 0 || (inOrder && query.isLimited && query.sort.length > 0);
    return isRead ? [{ name: nameOf(index.key), placed, inOrder }] : [];
  });
  const [best] = useful.toSorted(
    (one, other) => Number(other.inOrder) - Number(one.inOrder) || other.placed - one.placed,
  );
  if (best === undefined) return { reads: "", lacks: "an index" };
  return { reads: best.name, lacks: best.inOrder ? null : "the order" };
}

/** How many fields of the index lead to the documents. */
function placedBy(key: Fields, branch: Branch): number {
  const equal = equalPrefix(key, branch);
  return equal + (branch.get(key[equal]?.[0] ?? "") === "<>" ? 1 : 0);
}

/** True when the index, read at one place, has the documents in the order of the query. */
function isInOrder(key: Fields, branch: Branch, sort: Fields): boolean {
  // Of ids there are a few at most, and one value needs no order.
  if (isEqual(branch.get("_id"))) return true;
  const wanted = sort.filter(([field]) => !isEqual(branch.get(field)));
  const given = key.slice(equalPrefix(key, branch)).filter(([field]) => !isEqual(branch.get(field)));
  const turn = (wanted[0]?.[1] ?? 1) * (given[0]?.[1] ?? 1);
  return wanted.every(([field, direction], at) => given[at]?.[0] === field && given[at][1] * turn === direction);
}

function equalPrefix(key: Fields, branch: Branch): number {
  const end = key.findIndex(([field]) => !isEqual(branch.get(field)));
  return end === -1 ? key.length : end;
}

function isEqual(comparison: Comparison | undefined): boolean {
  return comparison === "=" || comparison === "=?";
}

function isPresent(comparison: Comparison | undefined): boolean {
  return comparison === "=" || comparison === "<>";
}

function fieldsOf(given: Document | ReadonlyMap<string, unknown>): Fields {
  const entries = given instanceof Map ? [...(given as ReadonlyMap<string, unknown>)] : Object.entries(given);
  return entries.map(([field, direction]) => [field, direction === -1 ? -1 : 1] as const);
}

function branchesOf(filter: Document): readonly Branch[] {
  let branches: readonly Branch[] = [new Map()];
  const both = (added: readonly Branch[]): void => {
    branches = branches.flatMap((one) => added.map((other) => joined(one, other)));
  };
  for (const [field, value] of Object.entries(filter) as [string, unknown][]) {
    if (field === "$and") for (const part of value as Document[]) both(branchesOf(part));
    else if (field === "$or") both((value as Document[]).flatMap(branchesOf));
    else if (!field.startsWith("$")) both([new Map([[field, comparisonOf(value)]])]);
  }
  return branches;
}

const STRENGTH: readonly (Comparison | undefined)[] = [undefined, "~", "<>", "=?", "="];

function joined(one: Branch, other: Branch): Branch {
  const both = new Map(one);
  for (const [field, comparison] of other) {
    if (STRENGTH.indexOf(comparison) > STRENGTH.indexOf(both.get(field))) both.set(field, comparison);
  }
  return both;
}

function comparisonOf(value: unknown): Comparison {
  if (value === null) return "=?";
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return "=";
  const operators = value as Document;
  if (!Object.keys(operators).some((name) => name.startsWith("$"))) return "=";
  if ("$eq" in operators) return comparisonOf(operators["$eq"]);
  if ("$in" in operators) return (operators["$in"] as unknown[]).includes(null) ? "=?" : "=";
  return ["$gt", "$gte", "$lt", "$lte"].some((name) => name in operators) || operators["$exists"] === true ? "<>" : "~";
}

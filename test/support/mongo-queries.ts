/** Watches the commands of MongoDB clients, and tells for each kind of query which index leads to its documents. */
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";

/** How a field is compared: with one value or some, or with a range. */
type Comparison = "=" | "<>";

/** A query without its values. */
export interface Query {
  readonly collection: string;
  readonly command: string;
  /** The fields that every document of the answer matches, as comparisons; each branch of an `$or` by itself. */
  readonly branches: readonly ReadonlyMap<string, Comparison>[];
  readonly sort: readonly string[];
}

/** The fields of an index in their order. */
export type IndexKey = readonly string[];

export interface QueryWatch {
  /** Each kind of query once, by its text. */
  readonly seen: ReadonlyMap<string, Query>;
  /** Forgets what was seen until now, and watches no further clients. */
  begin(): void;
}

/** Watches all clients that connect from now on, in this database. */
export function watchQueries(database: string): QueryWatch {
  const seen = new Map<string, Query>();
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its client
  const { connect } = MongoClient.prototype;
  MongoClient.prototype.connect = function (this: MongoClient) {
    (this as unknown as { monitorCommands: boolean }).monitorCommands = true;
    this.on("commandStarted", (event) => {
      if (event.databaseName !== database) return;
      for (const query of queriesOf(event)) seen.set(textOf(query), query);
    });
    return Reflect.apply(connect, this, []) as Promise<MongoClient>;
  };
  return {
    seen,
    begin() {
      MongoClient.prototype.connect = connect;
      seen.clear();
    },
  };
}

/** `events find runId= number<> sort number`; the branches of an `$or` are separated by `|`. */
export function textOf({ collection, command, branches, sort }: Query): string {
  const filter = branches.map((branch) => [...branch].map(([field, comparison]) => `${field}${comparison}`).sort().join(" "));
  const order = sort.length === 0 ? [] : [`sort ${sort.join(" ")}`];
  return [collection, command, filter.sort().join(" | ") || "everything", ...order].join(" ");
}

/**
 * The index whose first fields the query compares, most of them first; undefined when no index leads to the documents: then
 * the server reads the whole collection. Of an `$or` each branch needs an index. A query without comparisons may read an index
 * in its order.
 */
export function indexFor({ branches, sort }: Query, indexes: readonly IndexKey[]): IndexKey | undefined {
  const best = branches.map((branch) => {
    const scored = indexes.map((key) => ({ key, score: usedFields(key, branch, sort) }));
    return scored.toSorted((one, other) => other.score - one.score)[0];
  });
  return best.every((found) => found !== undefined && found.score > 0) ? best[0]?.key : undefined;
}

/** How many fields of the index the server uses: those compared with values, then a range or the order. */
function usedFields(key: IndexKey, branch: ReadonlyMap<string, Comparison>, sort: readonly string[]): number {
  let used = 0;
  while (used < key.length && branch.get(key[used]!) === "=") used++;
  const ranged = used < key.length && branch.has(key[used]!) ? 1 : 0;
  const ordered = sort.filter((field, at) => key[used + at] === field).length;
  return used + Math.max(ranged, ordered);
}

function queriesOf({ commandName, command }: CommandStartedEvent): readonly Query[] {
  const collection = String(command[commandName]);
  return filtersOf(commandName, command).map(([filter, sort]) => ({
    collection,
    command: commandName,
    branches: branchesOf(filter),
    // The driver makes a map of the order, because the order of its fields counts.
    sort: sort instanceof Map ? [...(sort.keys() as Iterable<string>)] : Object.keys(sort),
  }));
}

function filtersOf(commandName: string, command: Document): readonly (readonly [filter: Document, sort: Document])[] {
  switch (commandName) {
    case "find":
      return [[(command["filter"] ?? {}) as Document, (command["sort"] ?? {}) as Document]];
    case "distinct":
    case "count":
    case "findAndModify":
      return [[(command["query"] ?? {}) as Document, (command["sort"] ?? {}) as Document]];
    case "update":
      return (command["updates"] as Document[]).map(({ q }) => [q as Document, {}] as const);
    case "delete":
      return (command["deletes"] as Document[]).map(({ q }) => [q as Document, {}] as const);
    case "aggregate": {
      const [first, second] = command["pipeline"] as Document[];
      return [[(first?.["$match"] ?? {}) as Document, (second?.["$sort"] ?? {}) as Document]];
    }
    default:
      return [];
  }
}

function branchesOf(filter: Document): readonly ReadonlyMap<string, Comparison>[] {
  let branches: readonly ReadonlyMap<string, Comparison>[] = [new Map()];
  const all = (added: readonly ReadonlyMap<string, Comparison>[]) => {
    branches = branches.flatMap((one) => added.map((other) => joined(one, other)));
  };
  for (const [field, value] of Object.entries(filter) as [string, unknown][]) {
    if (field === "$and") for (const part of value as Document[]) all(branchesOf(part));
    else if (field === "$or") all((value as Document[]).flatMap(branchesOf));
    else if (!field.startsWith("$")) all([new Map([[field, comparisonOf(value)]])]);
  }
  return branches;
}

function joined(one: ReadonlyMap<string, Comparison>, other: ReadonlyMap<string, Comparison>): ReadonlyMap<string, Comparison> {
  const both = new Map(one);
  for (const [field, comparison] of other) if (both.get(field) !== "=") both.set(field, comparison);
  return both;
}

function comparisonOf(value: unknown): Comparison {
  if (typeof value !== "object" || value === null) return "=";
  const operators = Object.keys(value).filter((key) => key.startsWith("$"));
  return operators.length === 0 || operators.includes("$eq") || operators.includes("$in") ? "=" : "<>";
}

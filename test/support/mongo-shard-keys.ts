/**
 * Watches the queries that the stores send to MongoDB: one that would go to all shards of a sharded cluster must stand in
 * the list of such queries.
 */
import type { CommandStartedEvent, Document } from "mongodb";
import { shardKeyOf, SHARD_KEYS, TO_ALL_SHARDS } from "../../src/stores/mongo/cluster/sharding.ts";
import { askedBy, watchCommands } from "./mongo-commands.ts";

/** Queries that are not in the list, and the fields that they name. */
const unlisted = new Set<string>();

/** Watches the stores that this process opens from now on. Clients that tests make by themselves are not watched. */
export function watchShardKeys(): void {
  watchCommands(note);
}

/** The queries that were sent to all shards since the last call without being in the list. */
export function takeUnlisted(): readonly string[] {
  const found = [...unlisted];
  unlisted.clear();
  return found;
}

function note({ commandName, command }: CommandStartedEvent): void {
  const collection = String(command[commandName]);
  if (!(collection in SHARD_KEYS)) return;
  for (const { filter } of askedBy(commandName, command)) {
    if (namesKey(filter, shardKeyOf(collection))) continue;
    const fields = fieldsOf(filter);
    const isListed = TO_ALL_SHARDS.some(
      (query) => query.collection === collection && (query.by === null ? fields.size === 0 : fields.has(query.by)),
    );
    if (isListed) continue;
    unlisted.add(`${collection}: ${commandName} by ${[...fields].toSorted().join(", ") || "nothing"}`);
  }
}

/** True when each document that fits has one of the named values of the key: a hash cannot be taken of a range. */
export function namesKey(filter: Document, key: string): boolean {
  return Object.entries(filter).some(([name, condition]: [string, unknown]) => {
    if (name === "$and") return (condition as Document[]).some((part) => namesKey(part, key));
    if (name === "$or") return (condition as Document[]).every((part) => namesKey(part, key));
    if (name !== key) return false;
    if (typeof condition !== "object" || condition === null) return true;
    return "$eq" in condition || "$in" in condition;
  });
}

function fieldsOf(filter: Document): ReadonlySet<string> {
  const names = Object.entries(filter).flatMap(([name, condition]: [string, unknown]) =>
    name === "$and" || name === "$or" ? (condition as Document[]).flatMap((part) => [...fieldsOf(part)]) : [name],
  );
  return new Set(names.filter((name) => !name.startsWith("$")));
}

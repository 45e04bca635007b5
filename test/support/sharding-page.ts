/** The tables of docs/operations.md about MongoDB; `npm run generate` writes them from the code. */
import { SHARD_KEYS, TO_ALL_SHARDS, UNSHARDED } from "../../src/stores/mongo/cluster/sharding.ts";
import { UNINDEXED } from "../contracts/mongo/unindexed.ts";
import { renderTable } from "./markdown-table.ts";

const code = (text: string): string => `\`${text}\``;

const TABLES: Readonly<Record<string, () => string>> = {
  "shard keys": () =>
    renderTable([
      ["Divided by the hash of", "Collections"],
      ...[...new Set(Object.values(SHARD_KEYS))].map((key) => [code(key), collectionsBy(key)]),
    ]),
  unsharded: () =>
    renderTable([
      ["Collection", "Why it stays on one shard"],
      ...Object.entries(UNSHARDED).map(([name, why]) => [code(name), why]),
    ]),
  "without an index": () =>
    renderTable([
      ["Collection", "Query", "What is read"],
      ...UNINDEXED.map(({ collection, query, reason }) => [code(collection), code(query), reason]),
    ]),
  "to all shards": () =>
    renderTable([
      ["Collection", "By", "What is asked", "How often"],
      ...TO_ALL_SHARDS.map(({ collection, by, asks, often }) => [
        code(collection),
        by === null ? "" : code(by),
        asks,
        often,
      ]),
    ]),
};

/** The page, with each table between its `<!-- sharding: name -->` or `<!-- mongodb: name -->` and `<!-- end -->`. */
export function deriveShardingTables(page: string): string {
  return page.replaceAll(
    /(<!-- (?:sharding|mongodb): ([\w ]+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, name: string, end: string) => `${begin}\n${TABLES[name]!()}\n\n${end}`,
  );
}

function collectionsBy(key: string): string {
  const names = Object.entries(SHARD_KEYS).flatMap(([name, of]) => (of === key ? [code(name)] : []));
  return names.join(", ");
}

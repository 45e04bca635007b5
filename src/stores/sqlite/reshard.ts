/** Moves the records of an SQLite store to other shards, some aggregates in each transaction. */
import type { Reshard } from "../ports/reshard.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { Command } from "../ports/inbox.ts";
import type { Database, Row } from "./database.ts";

/** Rows of one transaction; an aggregate counts as one, with all its actors. */
const PAGE = 50;
/**
 * The identity of no existing Redis. The next owner of a shard sees that its Redis is another one, and writes everything
 * to it again.
 */
const NO_REDIS = JSON.stringify({ generation: "moved", redisRunId: "" });

export function reshard(db: Database): Reshard {
  return async (shards, shardOf) => {
    const isAway = (row: Row): boolean => row["shard"] !== shardOf(row["root_id"] as string);
    const aggregates = await inPages(
      db,
      "SELECT root_id AS id, root_id, shard FROM aggregates WHERE root_id > ? ORDER BY root_id LIMIT ?",
      (rows) => {
        const away = rows.filter(isAway);
        for (const { root_id: rootId } of away) {
          const shard = shardOf(rootId as string);
          db.runNow("UPDATE aggregates SET shard = ? WHERE root_id = ?", shard, rootId!);
          db.runNow("UPDATE actors SET shard = ? WHERE root_id = ?", shard, rootId!);
        }
        return away.length;
      },
    );
    const commands = await inPages(
      db,
      "SELECT seq AS id, root_id, shard, body FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?",
      (rows) => {
        const away = rows.filter(isAway);
        for (const { id, root_id: rootId, body } of away) {
          const shard = shardOf(rootId as string);
          const command: Command = { ...(JSON.parse(body as string) as Command), shard };
          db.runNow("UPDATE inbox SET shard = ?, body = ? WHERE seq = ?", shard, JSON.stringify(command), id!);
        }
        return away.length;
      },
      0,
    );
    const deadLetters = await inPages(
      db,
      "SELECT id, body FROM dead_letters WHERE id > ? ORDER BY id LIMIT ?",
      (rows) => {
        const letters = rows.map(({ body }) => JSON.parse(body as string) as DeadLetter);
        const away = letters.filter(({ rootId, shard }) => shard !== shardOf(rootId));
        for (const letter of away) {
          const body = JSON.stringify({ ...letter, shard: shardOf(letter.rootId) });
          db.runNow("UPDATE dead_letters SET body = ? WHERE id = ?", body, letter.id);
        }
        return away.length;
      },
    );
    await db.transaction(() => {
      for (let shard = 0; shard < shards; shard++) {
        db.runNow(
          `INSERT INTO shards VALUES (?1, 0, ?2) ON CONFLICT (shard) DO UPDATE SET redis_identity = ?2`,
          shard,
          NO_REDIS,
        );
      }
    });
    return { aggregates, commands, deadLetters };
  };
}

/** Calls `move` for each page within a transaction, and answers how many rows were moved in all. */
async function inPages(
  db: Database,
  select: string,
  move: (rows: readonly Row[]) => number,
  first: string | number = "",
): Promise<number> {
  let moved = 0;
  for (let after: string | number | null = first; after !== null;) {
    const from: string | number = after;
    const page: { readonly moved: number; readonly last: string | number | null } = await db.transaction(() => {
      const rows = db.allNow(select, from, PAGE);
      return { moved: move(rows), last: rows.length < PAGE ? null : rows.at(-1)!["id"]! };
    });
    moved += page.moved;
    after = page.last;
  }
  return moved;
}

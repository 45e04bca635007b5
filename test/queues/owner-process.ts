/**
 * An owner of shards in a process of its own, which tests kill or stop: it receives envelopes and never settles them.
 */
import { randomUUID } from "node:crypto";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { silentLog } from "../support/kernel-ports.ts";

const [redisUrl, storePath, shards] = process.argv.slice(2) as [string, string, string];
const stores = await openSqliteStores({ path: storePath });
const say = (word: string): void => void process.stdout.write(`${word}\n`);
const owner = new ShardOwner({
  witness: "{elsewhere}:generation",
  redis: { url: redisUrl },
  nodeId: randomUUID(),
  shards: Number(shards),
  handler: {
    open: (shard) => Promise.resolve(say(`opened ${shard}`)),
    redisLost: () => Promise.resolve(),
    receive: (_, messages) => {
      for (const { rootId } of messages) say(`received ${rootId}`);
      return new Promise(() => undefined);
    },
    drain: () => Promise.resolve(),
    close: (shard) => say(`closed ${shard}`),
  },
  epochs: stores.shards,
  log: silentLog,
});
await owner.start();
process.stdin.resume().on("end", () => process.exit());

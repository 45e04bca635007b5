/** Faults of a Redis that answers, and refuses: it cannot store its data, is full, or has become a replica. */
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { until } from "../../support/until.ts";
import type { Fault } from "./fault.ts";
import { measure } from "./servers.ts";

const REFUSING_MS = 10_000;
/** A port on which no server listens. */
const NO_MASTER = ["127.0.0.1", "1"] as const;

/** A folder stands where the snapshot belongs, so that no snapshot can be stored, by root neither. */
export const cannotSave = refusal("MISCONF", {
  async begin(redis) {
    await mkdir(await snapshotOf(redis), { recursive: true });
    await redis.config("SET", "save", "3600 1");
    await saved(redis, "err");
  },
  async end(redis) {
    await rmdir(await snapshotOf(redis));
    await saved(redis, "ok");
    await redis.config("SET", "save", "");
  },
});

export const outOfMemory = refusal("OOM", {
  begin: (redis) => redis.config("SET", "maxmemory", "1"),
  end: (redis) => redis.config("SET", "maxmemory", "0"),
});

/** The server becomes the replica of a master that cannot be reached: it reads, publishes, and refuses writes. */
export const readOnly = refusal("READONLY", {
  begin: (redis) => redis.replicaof(...NO_MASTER),
  end: (redis) => redis.replicaof("NO", "ONE"),
});

interface Refusal {
  readonly begin: (redis: Redis) => Promise<unknown>;
  readonly end: (redis: Redis) => Promise<unknown>;
}

function refusal(word: string, { begin, end }: Refusal): Fault {
  return {
    name: `Redis answers ${word} for 10 s`,
    lastsMs: 15_000,
    target: "redis",
    async inject(context) {
      const { installation, record } = context;
      const redis = new Redis(installation.redis!.url);
      try {
        record.addKill("the writes of Redis");
        await record.whileOut(async () => {
          await begin(redis);
          const answer = await redis.set("refused", "?").catch((error: unknown) => (error as Error).message);
          if (answer?.startsWith(word) !== true)
            record.addViolation("wrong", `Redis answered ${answer} instead of ${word}: the scenario showed nothing`);
          await sleep(REFUSING_MS);
          await end(redis);
        });
      } finally {
        redis.disconnect();
      }
      await measure(context, `after ${word}`);
    },
  };
}

async function snapshotOf(redis: Redis): Promise<string> {
  const setting = async (name: string) => ((await redis.config("GET", name)) as [string, string])[1];
  return join(await setting("dir"), await setting("dbfilename"));
}

/** Lets the server save a snapshot, and resolves when it has this result. */
async function saved(redis: Redis, result: "ok" | "err"): Promise<void> {
  await until(`a snapshot ends with ${result}`, async () => {
    await redis.bgsave().catch(() => {}); // One is being saved.
    return (await redis.info("persistence")).includes(`rdb_last_bgsave_status:${result}`);
  });
}

/** Lua scripts on Redis: each runs atomically. On a cluster, the keys of one call share a hash tag. */
import { createHash } from "node:crypto";

/** The part of an ioredis client, single or cluster, that runs scripts, and that the board and presence use. */
export interface BoardRedis {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  hlen(key: string): Promise<number>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
}

export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * Runs a script by its digest. The text is sent only when the server does not know the script, for instance after a
 * restart.
 */
export async function runScript(
  redis: BoardRedis,
  script: RedisScript,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha1, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(script.text, keys.length, ...keys, ...values);
  }
}

/**
 * A look into mailboxes without fetching: how many envelopes wait, and when the next delayed one is due. A look takes
 * the marker away, which BullMQ sets whenever an envelope may wait; so the reader must fetch what a look finds.
 */
import { QueueKeys } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";
import { mailboxName, shardTag } from "./mailbox.ts";

export interface Look {
  readonly waiting: number;
  /** When the next delayed envelope is due, Unix milliseconds; Infinity when none is known. */
  readonly dueAt: number;
}

/*
 * KEYS    the marker of each mailbox; the names of its other keys differ only in their last word. Then the wake-up key of
 *         the node, if ARGV[2] is 1
 * ARGV[1] 1: look into every mailbox; 0: only into those with a marker
 * Answers two numbers for each mailbox: waiting envelopes (-1: without a marker, not looked at), and when the next
 * delayed envelope is due, or 0. BullMQ keeps times of delayed jobs multiplied by 4096. Then the words of the wake-up
 * key, which it takes; but "look" is for the command that waits, or will wait in a moment.
 */
const LOOK = redisScript(`
local answer = {}
local mailboxes = #KEYS - ARGV[2]
for i = 1, mailboxes do
  local waiting, due = -1, 0
  if redis.call("DEL", KEYS[i]) == 1 or ARGV[1] == "1" then
    local prefix = string.sub(KEYS[i], 1, -7)
    waiting = redis.call("LLEN", prefix .. "wait")
    local first = redis.call("ZRANGE", prefix .. "delayed", 0, 0, "WITHSCORES")
    if first[2] then due = math.floor(tonumber(first[2]) / 4096) end
  end
  answer[#answer + 1] = waiting
  answer[#answer + 1] = due
end
if mailboxes < #KEYS then
  for _, word in ipairs(redis.call("ZRANGE", KEYS[#KEYS], 0, -1)) do
    if word ~= "look" then
      answer[#answer + 1] = word
      redis.call("ZREM", KEYS[#KEYS], word)
    end
  end
end
return answer`);

/** The key of a shard's marker. */
export function markerKey(shard: number): string {
  return new QueueKeys(shardTag(shard)).toKey(mailboxName(shard), "marker");
}

export interface Looks {
  /** By mailbox; undefined for one without a marker, which is not looked into unless `deep` is set. */
  readonly found: readonly (Look | undefined)[];
  /** What other nodes told this one. */
  readonly words: readonly string[];
}

/**
 * Looks into the mailboxes with these markers in one call, and takes the words of the wake-up key unless it is null. On
 * a cluster it must be one mailbox and no wake-up key.
 */
export async function look(
  redis: RedisClient,
  markers: readonly string[],
  { deep, wakeKey }: { readonly deep: boolean; readonly wakeKey: string | null },
): Promise<Looks> {
  const keys = wakeKey === null ? markers : [...markers, wakeKey];
  const answer = await runScript(redis, LOOK, keys, [deep ? 1 : 0, wakeKey === null ? 0 : 1]);
  const [numbers, words] = [answer as readonly number[], (answer as readonly string[]).slice(2 * markers.length)];
  const found = markers.map((_, at) => {
    const [waiting, dueAt] = [numbers[2 * at]!, numbers[2 * at + 1]!];
    return waiting < 0 ? undefined : { waiting, dueAt: dueAt === 0 ? Infinity : dueAt };
  });
  return { found, words };
}

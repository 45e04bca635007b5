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
 * KEYS[1] the wake-up key of the node if ARGV[2] is 1, else the marker of the one mailbox
 * ARGV[1] 1: look into every mailbox; 0: only into those with a marker
 * ARGV[3] the markers of the mailboxes, with a space behind each; the names of a mailbox's other keys differ only in their last
 *         word. An argument for each marker would cost more than the look
 * Answers how many mailboxes have something to tell: those with envelopes, and those that had a marker. Then three numbers
 * for each of them: its place, from 0; waiting envelopes; and when the next delayed envelope is due, or 0. BullMQ keeps
 * times of delayed jobs multiplied by 4096. Then the words of the wake-up key, which it takes; but "look" is for the command
 * that waits, or will wait in a moment.
 */
const LOOK = redisScript(`
local answer = { 0 }
local markers = {}
for marker in string.gmatch(ARGV[3], "%S+") do markers[#markers + 1] = marker end
local isAnyMarked = redis.call("EXISTS", unpack(markers)) > 0
for i, marker in ipairs(markers) do
  local isMarked = isAnyMarked and redis.call("DEL", marker) == 1
  if isMarked or ARGV[1] == "1" then
    local prefix = string.sub(marker, 1, -7)
    local waiting, due = redis.call("LLEN", prefix .. "wait"), 0
    local first = redis.call("ZRANGE", prefix .. "delayed", 0, 0, "WITHSCORES")
    if first[2] then due = math.floor(tonumber(first[2]) / 4096) end
    if isMarked or waiting > 0 or due > 0 then
      answer[1] = answer[1] + 1
      answer[#answer + 1] = i - 1
      answer[#answer + 1] = waiting
      answer[#answer + 1] = due
    end
  end
end
if ARGV[2] == "1" then
  for _, word in ipairs(redis.call("ZRANGE", KEYS[1], 0, -1)) do
    if word ~= "look" then
      answer[#answer + 1] = word
      redis.call("ZREM", KEYS[1], word)
    end
  end
end
return answer`);

const EMPTY: Look = { waiting: 0, dueAt: Infinity };

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
  let list = "";
  for (const marker of markers) list += `${marker} `;
  const values = [deep ? 1 : 0, wakeKey === null ? 0 : 1, list];
  const answer = (await runScript(redis, LOOK, [wakeKey ?? markers[0]!], values)) as readonly (number | string)[];
  const found = markers.map((): Look | undefined => (deep ? EMPTY : undefined));
  const wordsAt = 1 + 3 * Number(answer[0]);
  for (let at = 1; at < wordsAt; at += 3) {
    const [place, waiting, dueAt] = answer.slice(at, at + 3) as [number, number, number];
    found[place] = { waiting, dueAt: dueAt === 0 ? Infinity : dueAt };
  }
  return { found, words: answer.slice(wordsAt) as string[] };
}

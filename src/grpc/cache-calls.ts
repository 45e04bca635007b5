/** gateway.v1, caches: agents fetch cache entries for `cache` steps, and send the entries of jobs that have succeeded. */
import { z } from "zod";
import type {
  GatewayServer,
  PullCacheRequest,
  PullCacheResponse,
  PushCacheRequest,
  PushCacheResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { callingAgent } from "../gateway/registration.ts";
import { findCache, readCache } from "../gateway/handout/cache-handout.ts";
import { CacheIngest } from "../gateway/ingest/cache-ingest.ts";
import type { AppContext } from "../app/context.ts";
import { CACHE_KEY_LENGTH } from "../domain/caches.ts";
import { stepGrant } from "./artifact-calls.ts";
import { type Duplex, duplex, type StreamContext } from "./calls.ts";
import { unexpectedMessage, receiveContent } from "./content-calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

const MOST_TEXTS = 1_000;

const key = z.string().min(1).max(CACHE_KEY_LENGTH);
const paths = z.array(z.string().max(10_000)).min(1).max(MOST_TEXTS);
const findMessage = z.object({ ...stepGrant, key, restoreKeys: z.array(key).max(MOST_TEXTS), paths });
const beginMessage = z.object({
  ...stepGrant,
  key,
  paths,
  sizeBytes: z.bigint().positive().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal digits"),
});
const takeMessage = z.object({
  offset: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
});

export function cacheCalls(context: StreamContext): Pick<GatewayServer, "pushCache" | "pullCache"> {
  return {
    pushCache: duplex(context, (call) => pushCache(context, call)),
    pullCache: duplex(context, (call) => pullCache(context, call)),
  };
}

async function pushCache(context: AppContext, call: Duplex<PushCacheRequest, PushCacheResponse>): Promise<void> {
  const agentId = callingAgent(call.caller);
  const cacheId = await receiveContent(call, (begin) =>
    CacheIngest.begin(context, agentId, parseMessage(beginMessage, begin)),
  );
  if (cacheId !== undefined) await call.write({ message: { $case: "cacheId", value: cacheId } });
}

async function pullCache(
  context: AppContext,
  { caller, requests, write }: Duplex<PullCacheRequest, PullCacheResponse>,
): Promise<void> {
  const agentId = callingAgent(caller);
  const find = (await requests.next()).value?.message;
  if (find?.$case !== "find") throw unexpectedMessage("find, take");
  const entry = await findCache(context, agentId, parseMessage(findMessage, find.value));
  if (entry === undefined) return write({ message: { $case: "missed", value: {} } });
  const { cacheId, sha256 } = entry;
  const ageMs = BigInt(Math.max(0, context.clock.now() - entry.createdAt));
  const found = { cacheId, key: entry.key, sizeBytes: BigInt(entry.sizeBytes), sha256, ageMs };
  await write({ message: { $case: "found", value: found } });
  const take = (await requests.next()).value?.message;
  if (take === undefined) return;
  if (take.$case !== "take") throw unexpectedMessage("find, take");
  const { offset } = parseMessage(takeMessage, take.value);
  if (offset >= entry.sizeBytes) return;
  for await (const piece of readCache(context, entry, offset)) {
    await write({ message: { $case: "data", value: Buffer.from(piece.buffer, piece.byteOffset, piece.length) } });
  }
}

/**
 * The builtin `cache`: it restores the entry that an earlier job kept under the key. If there was no entry of exactly
 * that key, it keeps the same paths of this job after the job has succeeded.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type {
  CacheEntry,
  FindCache,
  PushCacheRequest,
  PushCacheResponse,
} from "../../../../proto/generated/gateway/v1/gateway.ts";
import { formatDuration } from "../../../domain/durations.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { piecesOf } from "../artifact/artifact-files.ts";
import type { BuiltinCall } from "../builtin-call.ts";
import { type CacheArgs, keyOf, readCacheArgs } from "./cache-args.ts";
import { downloadCache } from "./cache-download.ts";
import { packCache } from "./cache-pack.ts";
import { unpackCache } from "./cache-unpack.ts";
import { sendContent } from "../../connection/content-upload.ts";
import { callWithRetries } from "../../connection/gateway-call.ts";

/**
 * Runs the step. An entry that cannot be downloaded counts as a miss; one that cannot be unpacked is an error. Rejects
 * with an error whose message is for users.
 */
export async function useCache(call: BuiltinCall): Promise<void> {
  const args = readCacheArgs(call.args);
  const { stepRunId, token } = call.step;
  for (const text of [args.key, ...args.restoreKeys]) {
    // The control plane stores keys and shows them to users.
    if (call.mask(text) !== text) throw new MillraceError("malformed_request", "cache takes no secret in a key");
  }
  const key = await keyOf(args, call.workspace, call.signal);
  const request = { stepRunId, token, key, restoreKeys: [...args.restoreKeys], paths: [...args.paths] };
  const found = await restore(call, args, request);
  const isHit = found?.key === key;
  call.output("hit", String(isHit));
  call.output("key", key);
  call.output("restored", found?.key ?? "");
  if (!isHit) call.whenJobSucceeded((signal) => keep(call, args, key, signal));
}

async function restore(call: BuiltinCall, args: CacheArgs, request: FindCache): Promise<CacheEntry | undefined> {
  const { workspace, say, signal } = call;
  const file = scratchFile(call);
  const startedAt = performance.now();
  try {
    const entry = await download(call, request, file);
    if (entry === undefined) return undefined;
    const { key, sizeBytes, ageMs } = entry;
    const count = await unpackCache(file, workspace, args.patterns, signal).catch((error: Error) => {
      signal.throwIfAborted();
      const text = `the cache ${quoted(key)} cannot be restored, and a part of it may be here: ${error.message}`;
      throw new MillraceError("conflict", text);
    });
    const tookMs = performance.now() - startedAt;
    const what = key === request.key ? quoted(key) : `${quoted(key)} in place of ${quoted(request.key)}`;
    const age = `made ${formatDuration(Number(ageMs))} ago`;
    say(`the cache ${what} is here: ${sizeOf(count, sizeBytes)}, ${age}, in ${formatDuration(tookMs)}`);
    return entry;
  } finally {
    await rm(file, { force: true });
  }
}

/** Returns undefined on any error of the download, so that the job continues without the cache. */
async function download(call: BuiltinCall, request: FindCache, file: string): Promise<CacheEntry | undefined> {
  const { gateway, say, signal } = call;
  try {
    const entry = await downloadCache(request, file, gateway, signal);
    const others = request.restoreKeys.length === 0 ? "" : ", and none begins with one of its restoreKeys";
    if (entry === undefined) say(`no cache is kept under ${quoted(request.key)}${others}`);
    return entry;
  } catch (error) {
    signal.throwIfAborted();
    say(`warning: no cache is restored for ${quoted(request.key)}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Packs and uploads the entry after the job has succeeded. Never rejects: the log of the step says how it went. */
async function keep(call: BuiltinCall, args: CacheArgs, key: string, signal: AbortSignal): Promise<void> {
  const { workspace, gateway, sayAfterEnd } = call;
  const { stepRunId, token, contentLimits } = call.step;
  const file = scratchFile(call);
  const startedAt = performance.now();
  try {
    const mostBytes = contentLimits === undefined ? Number.POSITIVE_INFINITY : Number(contentLimits.cacheBytes);
    const { archive, count } = await packCache(workspace, args.patterns, file, { signal, mostBytes });
    if (count === 0) throw new MillraceError("not_found", "there is no file in its paths");
    const { sizeBytes, sha256 } = archive;
    const begin = { stepRunId, token, key, paths: [...args.paths], sizeBytes: BigInt(sizeBytes), sha256 };
    await callWithRetries<PushCacheRequest, PushCacheResponse, void>(
      gateway,
      (client, metadata) => client.pushCache(metadata),
      (attempt) => sendContent(attempt, begin, (offset) => piecesOf([archive], offset)),
      signal,
    );
    const took = formatDuration(performance.now() - startedAt);
    sayAfterEnd(`the cache ${quoted(key)} is kept: ${sizeOf(count, sizeBytes)}, in ${took}`);
  } catch (error) {
    const { message } = (signal.aborted ? signal.reason : error) as Error;
    sayAfterEnd(`warning: the cache ${quoted(key)} is not kept: ${message}`);
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

function scratchFile({ scratchDir }: BuiltinCall): string {
  return join(scratchDir, `cache-${randomUUID()}`);
}

function sizeOf(count: number, packedBytes: bigint | number): string {
  return `${count} ${count === 1 ? "file" : "files"} of ${packedBytes} bytes packed`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Downloads the cache entry for a `cache` step into a file. */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type {
  CacheEntry,
  FindCache,
  PullCacheRequest,
  PullCacheResponse,
} from "../../../../proto/generated/gateway/v1/gateway.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { type Attempt, callWithRetries, type GatewayAccess } from "../../connection/gateway-call.ts";

/**
 * Returns undefined when the control plane has no matching entry. After a broken call, the download continues where it
 * stopped, or starts again when the control plane finds another entry. Rejects as {@link callWithRetries}, with errors
 * of the disk, and with `conflict` when the content does not match its checksum.
 */
export async function downloadCache(
  find: FindCache,
  file: string,
  gateway: GatewayAccess,
  signal: AbortSignal,
): Promise<CacheEntry | undefined> {
  const download = new Download(find, await open(file, "wx", 0o600));
  try {
    return await callWithRetries<PullCacheRequest, PullCacheResponse, CacheEntry | undefined>(
      gateway,
      (client, metadata) => client.pullCache(metadata),
      (attempt) => download.run(attempt),
      signal,
    );
  } finally {
    await download.close();
  }
}

class Download {
  readonly #find: FindCache;
  readonly #handle: FileHandle;
  #sha256 = "";
  #hash: Hash = createHash("sha256");
  #written = 0;

  constructor(find: FindCache, handle: FileHandle) {
    this.#find = find;
    this.#handle = handle;
  }

  async run(attempt: Attempt<PullCacheRequest, PullCacheResponse>): Promise<CacheEntry | undefined> {
    const { write, next, onProgress } = attempt;
    write({ message: { $case: "find", value: this.#find } });
    const { message } = await next();
    if (message?.$case === "missed") return undefined;
    if (message?.$case !== "found") throw unknownAnswer();
    onProgress();
    const entry = message.value;
    if (entry.sha256 !== this.#sha256) await this.#begin(entry);
    const sizeBytes = Number(entry.sizeBytes);
    write({ message: { $case: "take", value: { offset: BigInt(this.#written) } } });
    while (this.#written < sizeBytes) {
      const { message: part } = await next();
      if (part?.$case !== "data") throw unknownAnswer();
      await this.#take(part.value);
      onProgress();
    }
    if (this.#hash.digest("hex") !== entry.sha256) {
      throw new MillraceError("conflict", "the downloaded content does not match its checksum");
    }
    return entry;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #begin({ sha256 }: CacheEntry): Promise<void> {
    this.#sha256 = sha256;
    this.#hash = createHash("sha256");
    this.#written = 0;
    await this.#handle.truncate(0);
  }

  async #take(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += (await this.#handle.write(bytes, done, undefined, this.#written + done)).bytesWritten;
    }
    this.#hash.update(bytes);
    this.#written += bytes.length;
  }
}

function unknownAnswer(): Error {
  return new Error("the control plane sent an answer that this agent does not know");
}

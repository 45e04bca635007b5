/** Cache entries: an entry is identified by its project, its key and the paths that it holds. */
import { createHash } from "node:crypto";

/** An installation's bounds on caches. */
export interface CacheRules {
  /** One entry, as it is stored. */
  readonly maxEntryBytes: number;
  /** All entries of a project together; when they are more, the least recently used ones are removed. */
  readonly maxProjectBytes: number;
  /** An entry is removed when no step has used it for this long, milliseconds. */
  readonly retentionMs: number;
}

/** Greatest length of a key, in characters. */
export const CACHE_KEY_LENGTH = 512;

/** How long after the end of its job an agent may still send a cache entry, milliseconds. */
export const KEEP_CACHE_MS = 900_000;

/**
 * A digest of the patterns of a cache entry and of the way it is packed. Entries of another version hold other files,
 * or cannot be unpacked, so a step never gets them.
 */
export function cacheVersion(paths: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["tar.gz", paths]))
    .digest("hex");
}

/** True for a pattern that can match paths inside the workspace only. */
export function isInnerPattern(pattern: string): boolean {
  const path = pattern.replace(/^!/, "");
  return !/^[/~]|\\/.test(path) && !path.split("/").includes("..");
}

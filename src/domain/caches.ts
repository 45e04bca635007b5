/** What a cache entry is known by: its project, its key, and what paths it holds. */
import { createHash } from "node:crypto";

/** What an installation lets projects keep in caches. */
export interface CacheRules {
  /** Of one entry, as it is stored. */
  readonly maxEntryBytes: number;
  /** Of all entries of a project; the least recently used go when there are more. */
  readonly maxProjectBytes: number;
  /** How long an entry stays that nobody uses, milliseconds. */
  readonly retentionMs: number;
}

export const CACHE_KEY_LENGTH = 512;

/** How long after the end of its job an entry may still come, milliseconds. */
export const KEEP_CACHE_MS = 900_000;

/**
 * Stands for the patterns that an entry was made of, and for how it is packed: an entry under another one would put other files
 * into a workspace, or could not be unpacked.
 */
export function cacheVersion(paths: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["tar.gz", paths]))
    .digest("hex");
}

/** True for a pattern whose paths are within the workspace, whatever they are. */
export function isInnerPattern(pattern: string): boolean {
  const path = pattern.replace(/^!/, "");
  return !/^[/~]|\\/.test(path) && !path.split("/").includes("..");
}

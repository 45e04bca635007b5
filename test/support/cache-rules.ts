/** Bounds of caches for tests; small, so that a test can reach each of them. */
import type { CacheRules } from "../../src/domain/caches.ts";

export const CACHE_RULES: CacheRules = { maxEntryBytes: 600_000, maxProjectBytes: 1_000_000, retentionMs: 3_600_000 };

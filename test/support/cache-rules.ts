/** Bounds of caches for tests: small, so that each can be met. */
import type { CacheRules } from "../../src/domain/caches.ts";

export const CACHE_RULES: CacheRules = { maxEntryBytes: 600_000, maxProjectBytes: 1_000_000, retentionMs: 3_600_000 };

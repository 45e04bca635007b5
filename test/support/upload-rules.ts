/** Bounds of uploads for tests; small, so that a test can reach each of them. */
import type { UploadRules } from "../../src/domain/artifacts.ts";

export const UPLOAD_RULES: UploadRules = {
  maxBytes: 3_000_000,
  maxProjectBytes: 8_000_000,
  retentionMs: 7_200_000,
  unfinishedMs: 3_600_000,
};

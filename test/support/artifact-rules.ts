/** Bounds of artifacts for tests; small, so that a test can reach each of them. */
import type { ArtifactRules } from "../../src/domain/artifacts.ts";

export const ARTIFACT_RULES: ArtifactRules = {
  maxFileBytes: 1_000_000,
  maxArtifactBytes: 1_500_000,
  maxRunBytes: 2_000_000,
  retentionMs: 86_400_000,
};

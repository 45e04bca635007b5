/** How the benchmark learns that a run of an installation has ended. */
import type { RunId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/status.ts";

export const END_TIMEOUT_MS = 60_000;

export interface RunEnds {
  /** Resolves when the ends of all runs that are triggered afterwards will be known. Idempotent. */
  follow(): Promise<void>;
  /**
   * Resolves with the status in which the run ends. The run must have been triggered behind {@link follow}. Rejects when
   * the run does not end within {@link END_TIMEOUT_MS}, and when the node dies.
   */
  of(runId: RunId, pipelineId: string): Promise<RunStatus>;
}

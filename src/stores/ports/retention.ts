/**
 * What the sweeper of retention reads and takes away. Every call may be repeated and may be cut off at any moment: the
 * next one goes on. What is dropped of a run is marked first, so that readers say so instead of showing a part of it.
 */
import type { AgedRun, KeptPart, RunKey } from "../../domain/retention.ts";
import type { GroupId, PipelineId, ProjectId, RunId, StepRunId } from "../../domain/ids.ts";
import type { RunOrigin } from "./aggregates.ts";

export interface KeptRun extends AgedRun {
  readonly projectId: ProjectId;
  readonly origin: Pick<RunOrigin, "attempt" | "firstRunId" | "retryOf">;
}

/** What went before the run itself did. */
export interface DroppedParts {
  readonly logs: boolean;
  readonly artifacts: boolean;
  readonly events: boolean;
}

export interface StoredGroup {
  readonly groupId: GroupId;
  readonly version: number;
  /** Nobody is in it, and it owes nothing. */
  readonly isIdle: boolean;
}

export interface RunPage {
  /** By creation, inclusive, Unix milliseconds. */
  readonly upTo: number;
  readonly after: RunKey | null;
  readonly limit: number;
}

export interface RetentionStore {
  /** Of the pipelines that have runs, also of one that was deleted, the first one (by id) after `after`. */
  nextPipeline(after: string): Promise<PipelineId | undefined>;
  /** The run with `newer` runs of the same pipeline or project after it, from 0; undefined when there are not as many. */
  newestBut(
    newer: number,
    of: { readonly pipelineId: PipelineId } | { readonly projectId: ProjectId },
  ): Promise<(RunKey & { readonly projectId: ProjectId }) | undefined>;
  /** Runs of a pipeline that have the part, oldest first. */
  pageRuns(pipelineId: PipelineId, part: KeptPart, page: RunPage): Promise<readonly KeptRun[]>;
  /** Undefined when there is no such run. */
  dropped(runId: RunId): Promise<DroppedParts | undefined>;
  /** Takes the lines; the number of the last one stays known. */
  dropLogs(runId: RunId, stepRunIds: readonly StepRunId[]): Promise<void>;
  dropEvents(runId: RunId): Promise<void>;
  /** Notes that the run has no artifacts any more; call when they are gone. */
  noteNoArtifacts(runId: RunId): Promise<void>;

  /** By id, after `after`. */
  pageGroups(after: string, limit: number): Promise<readonly StoredGroup[]>;
  /**
   * Removes a group in whose inbox there is nothing any more, unless it has been saved since. Whoever enters it next
   * makes it anew.
   */
  removeGroup(group: Pick<StoredGroup, "groupId" | "version">): Promise<boolean>;
}

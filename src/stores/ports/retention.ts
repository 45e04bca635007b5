/**
 * The port of the retention pruner: what it reads and what it removes. Every call may be repeated. A call may be cut
 * off at any moment; its repeat finishes the work. A part of a run is marked as dropped before it is removed, so that
 * readers report that it is gone instead of showing what is left of it.
 */
import type { AgedRun, KeptPart, RunKey } from "../../domain/retention.ts";
import type { GroupId, PipelineId, ProjectId, RunId, StepRunId } from "../../domain/ids.ts";
import type { RunOrigin } from "./aggregates.ts";

export interface KeptRun extends AgedRun {
  readonly projectId: ProjectId;
  readonly origin: Pick<RunOrigin, "attempt" | "firstRunId" | "retryOf">;
}

/** The parts that were dropped, wholly or in part, before the run itself. */
export interface DroppedParts {
  readonly logs: boolean;
  readonly artifacts: boolean;
  readonly events: boolean;
}

export interface StoredGroup {
  readonly groupId: GroupId;
  readonly version: number;
  /** True when the group has no member and owes no effect. */
  readonly isIdle: boolean;
}

export interface RunPage {
  /** The newest time of creation, inclusive, Unix milliseconds. */
  readonly upTo: number;
  readonly after: RunKey | null;
  readonly limit: number;
}

export interface RetentionStore {
  /**
   * The first pipeline (by id, after `after`) that has runs; a deleted pipeline counts too. Undefined when there is
   * none.
   */
  nextPipeline(after: string): Promise<PipelineId | undefined>;
  /**
   * The run that has exactly `newer` newer runs in its pipeline or project: with 0 the newest run. Undefined when there
   * are not that many runs.
   */
  nthNewest(
    newer: number,
    of: { readonly pipelineId: PipelineId } | { readonly projectId: ProjectId },
  ): Promise<(RunKey & { readonly projectId: ProjectId }) | undefined>;
  /** The newest runs that were created after `since`, Unix milliseconds; newest first. */
  newestRuns(
    since: number,
    limit: number,
  ): Promise<readonly { readonly pipelineId: PipelineId; readonly projectId: ProjectId }[]>;
  /** Runs of a pipeline whose part is not fully removed, oldest first. */
  pageRuns(pipelineId: PipelineId, part: KeptPart, page: RunPage): Promise<readonly KeptRun[]>;
  /** The parts of a run that are marked as dropped. Undefined when there is no such run. */
  dropped(runId: RunId): Promise<DroppedParts | undefined>;
  /**
   * Removes the log lines of these steps of the run. `LogStore.storedThrough` still answers the number of the last
   * line.
   */
  dropLogs(runId: RunId, stepRunIds: readonly StepRunId[]): Promise<void>;
  /** Removes all events of the run, with what agents have pushed about its steps. */
  dropEvents(runId: RunId): Promise<void>;
  /** Marks the artifacts of the run as removed. The caller removes them before. */
  noteNoArtifacts(runId: RunId): Promise<void>;

  /** Concurrency groups by id, ascending, after `after`. */
  pageGroups(after: string, limit: number): Promise<readonly StoredGroup[]>;
  /**
   * Removes an idle group whose inbox is empty, unless a save has changed its version. The next run or job that enters
   * the group creates it again. False when the group stays.
   */
  removeGroup(group: Pick<StoredGroup, "groupId" | "version">): Promise<boolean>;
}

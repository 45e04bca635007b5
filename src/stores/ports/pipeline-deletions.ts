/**
 * The port of deletions of pipelines: a record that is stored before anything of a pipeline is deleted. While the record
 * is decided, the pipeline takes no trigger. It stays for a time after the pipeline, so that a run that was stored at the
 * same moment is found and stopped.
 */
import type { PipelineId } from "../../domain/ids.ts";

export interface PipelineDeletion {
  readonly pipelineId: PipelineId;
  /** Unix milliseconds. */
  readonly at: number;
  /** Name of the user who deletes the pipeline. */
  readonly by: string;
  /** False while a live run of the pipeline still ends the deletion: see {@link PipelineDeletionStore.withdraw}. */
  readonly decided: boolean;
}

export interface PipelineDeletionStore {
  /** Stores the record. With an earlier record, only `decided` may change, from false to true. */
  note(deletion: PipelineDeletion): Promise<void>;
  /** Decides a deletion. True when its record is decided now, also by an earlier call; false when there is none. */
  decide(pipelineId: PipelineId): Promise<boolean>;
  /** Removes a record that is not decided. True when no deletion is decided, false when one is. */
  withdraw(pipelineId: PipelineId): Promise<boolean>;
  find(pipelineId: PipelineId): Promise<PipelineDeletion | undefined>;
  /** Records by the id of the pipeline, ascending, after `after`. */
  page(after: string, limit: number): Promise<readonly PipelineDeletion[]>;
  /** Removes a record, decided or not. Changes nothing when it is missing. */
  drop(pipelineId: PipelineId): Promise<void>;
}

/**
 * The ports of deletions: records that are stored before anything is deleted, of a pipeline, and of a project or a tenant
 * with everything in it. A record stays for a time after its object, so that what was stored at the same moment is found.
 */
import type { PipelineId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import type { DocumentOwner } from "./documents.ts";

/** While it is decided, the pipeline takes no trigger. */
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

/** The decision to delete a project or a tenant with everything in it. */
export interface AreaDeletion {
  readonly area: Area;
  readonly name: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Name of the user who deletes it. */
  readonly by: string;
  /** Since when nothing is left of it, Unix milliseconds; null while something may be. */
  readonly emptiedAt: number | null;
}

export interface AreaDeletionStore {
  /** Stores the record, unless the area has one. */
  note(deletion: AreaDeletion): Promise<void>;
  /** Records by {@link ownerOf} their areas, ascending, after `after`. */
  page(after: DocumentOwner | "", limit: number): Promise<readonly AreaDeletion[]>;
  /** Says whether something is left of the area. Changes nothing when the record is missing. */
  setEmptied(area: Area, emptiedAt: number | null): Promise<void>;
  /** Changes nothing when the record is missing. */
  drop(area: Area): Promise<void>;
}

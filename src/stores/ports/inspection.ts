/**
 * The port of verification: what the store holds, as it is stored. Its reads repair nothing, unlike `load`, and its
 * pages are bounded, so that a live store of any size can be read beside its nodes.
 */
import type { RootId, RunId } from "../../domain/ids.ts";
import type { AggregateHead, StoredActor } from "./aggregates.ts";

/** A row that look-ups and lists read instead of the snapshot. */
export interface LookUpRow {
  readonly actor: StoredActor;
  readonly rootId: RootId;
  readonly shard: number;
  /** The version of the aggregate that the row was written for. */
  readonly version: number;
}

export interface InspectedAggregate {
  readonly head: AggregateHead<RootId>;
  /** The copy of "owes an effect" that the sweeps of owners read. */
  readonly owes: boolean;
  readonly actors: readonly StoredActor[];
  /** Ids of those actors that are stored apart from the snapshot. */
  readonly apart: readonly string[];
  /** The rows under the ids of the actors; a missing row is absent. */
  readonly rows: readonly LookUpRow[];
  /** True when retention has removed the run's events, or is removing them. */
  readonly eventsGone: boolean;
}

/**
 * Records that belong to an aggregate. `logs` are counted by steps, `events` by runs; `commands` are the unanswered ones;
 * `attempts` are the actors that are stored apart from their snapshot.
 */
export const RECORD_KINDS = ["rows", "events", "commands", "outputs", "notes", "logs", "attempts"] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** The owner that records name. */
export interface RecordOwner {
  /** Orders the pages. */
  readonly key: string;
  /** Null where a record names only the actor. */
  readonly rootId: RootId | null;
  /** Null where a record names only the root. */
  readonly actorId: string | null;
}

export interface InspectionStore {
  /** A setting that all nodes share; undefined when none is stored. */
  setting(name: string): Promise<string | undefined>;
  /** Ids of all aggregates, ascending, after `after`. */
  pageRoots(after: string, limit: number): Promise<readonly RootId[]>;
  /** Head and actors are of one version; rows may be read a moment later. Undefined when there is no such aggregate. */
  read(rootId: RootId): Promise<InspectedAggregate | undefined>;
  /** Numbers of the stored events of a run, ascending, above `after`. */
  eventNumbers(runId: RunId, after: number, limit: number): Promise<readonly number[]>;
  /** The owners that records of one kind name, by `key`, ascending, after `after`. */
  pageOwners(kind: RecordKind, after: string, limit: number): Promise<readonly RecordOwner[]>;
  /** Those of the owners that do not exist. */
  missingOwners(owners: readonly RecordOwner[]): Promise<readonly RecordOwner[]>;
}

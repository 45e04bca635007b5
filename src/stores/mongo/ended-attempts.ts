/**
 * Ended attempts in MongoDB: actors that have left the snapshot of their run, each a document of its own. The document
 * is written before the update of the snapshot that leaves the actor out. A crash between the two leaves both; then the
 * snapshot counts. A document never changes, because the state of an ended attempt is final.
 */
import type { Collection } from "mongodb";
import { DEFAULT_TENANT, type JobRunId, type ProjectId, type RootId, type TenantId } from "../../domain/ids.ts";
import type { ActorIndex, AggregateHead, JobInBrief, StoredActor } from "../ports/aggregates.ts";
import { type Connection, insertAbsent, type Keyed } from "./connection.ts";

interface EndedDocument {
  readonly _id: string;
  readonly tenantId: TenantId;
  readonly projectId: ProjectId;
  readonly rootId: RootId;
  /** A version of the run whose snapshot had the actor in this state. */
  readonly version: number;
  readonly kind: StoredActor["kind"];
  readonly state: unknown;
  readonly index: ActorIndex;
}

interface EndedJob {
  readonly _id: JobRunId;
  readonly index: Pick<ActorIndex, "position" | "attempt">;
  readonly state: Partial<Pick<JobInBrief, "cell" | "endedAt">>;
}

/** How many documents one call names or writes. */
const AT_ONCE = 1_000;

export class EndedAttempts {
  readonly #documents: Collection<EndedDocument>;

  constructor(connection: Connection) {
    this.#documents = connection.collection("ended_attempts");
  }

  /** `version`: a stored version of the run, whose snapshot has the actors as they are here. Idempotent. */
  async keep(
    { rootId, summary }: AggregateHead<RootId>,
    version: number,
    actors: readonly StoredActor[],
  ): Promise<void> {
    const documents = actors.map(({ id, kind, state, index }): EndedDocument => {
      const owner = { tenantId: DEFAULT_TENANT, projectId: summary.projectId, rootId };
      return { _id: id, ...owner, version, kind, state, index };
    });
    for (let at = 0; at < documents.length; at += AT_ONCE) {
      await insertAbsent(this.#documents as unknown as Collection<Keyed>, documents.slice(at, at + AT_ONCE) as never);
    }
  }

  /** Those that had left the snapshot by `version`, and perhaps some that are still in it. */
  async load(rootId: RootId, version: number): Promise<readonly StoredActor[]> {
    // Another node may have moved out attempts that began after this version.
    return this.#documents
      .find({ rootId, version: { $lt: version } })
      .map(toActor)
      .toArray();
  }

  /** How many documents the run has, counted up to `atMost`. */
  count(rootId: RootId, atMost: number): Promise<number> {
    return this.#documents.countDocuments({ rootId }, { limit: atMost });
  }

  /** Those of the named actors that had left the snapshot by `version`. */
  async find(rootId: RootId, version: number, ids: readonly string[]): Promise<readonly StoredActor[]> {
    const found: StoredActor[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const page = this.#documents.find({
        _id: { $in: ids.slice(at, at + AT_ONCE) },
        rootId,
        version: { $lt: version },
      });
      found.push(...(await page.map(toActor).toArray()));
    }
    return found;
  }

  /** Of those that had left the snapshot by `version`: what is asked for of each job. */
  jobsInBrief(rootId: RootId, version: number): Promise<readonly JobInBrief[]> {
    return this.#documents
      .find<EndedJob>(
        { rootId, kind: "job", version: { $lt: version } },
        { projection: { "index.position": 1, "index.attempt": 1, "state.cell": 1, "state.endedAt": 1 } },
      )
      .map(({ _id, index, state: { cell = null, endedAt = null } }) => {
        return { jobId: _id, index: index.position, attempt: index.attempt, cell, endedAt };
      })
      .toArray();
  }

  /** Of those that had left the snapshot by `version`: these jobs, and the steps of these jobs. */
  ofJobs(rootId: RootId, version: number, jobIds: readonly JobRunId[]): Promise<readonly StoredActor[]> {
    const chosen = { $in: [...jobIds] };
    return this.#documents
      .find({ rootId, version: { $lt: version }, $or: [{ _id: chosen }, { "index.jobId": chosen }] })
      .map(toActor)
      .toArray();
  }

  /** Removes those that a snapshot of `version` still has, or that began after it. Answers how many. */
  async dropFrom(rootId: RootId, version: number): Promise<number> {
    return (await this.#documents.deleteMany({ rootId, version: { $gte: version } })).deletedCount;
  }
}

function toActor({ _id, kind, state, index }: EndedDocument): StoredActor {
  return { kind, id: _id, state, index };
}

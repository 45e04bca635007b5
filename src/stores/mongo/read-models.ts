/**
 * Read models in MongoDB: job runs, step runs and approvals as documents of their own, for look-ups by id and by agent
 * and for lists. They are projections of the snapshots, written after the save and guarded by its version.
 */
import type { AnyBulkWriteOperation, Collection, Filter, FindOptions } from "mongodb";
import type { AgentId, JobRunId, RootId, RunId, StepRunId } from "../../domain/ids.ts";
import type {
  ActorIndex,
  AggregateHead,
  ApprovalFilter,
  ApprovalLocation,
  JobLocation,
  StepLocation,
  StoredActor,
} from "../ports/aggregates.ts";
import type { Page, PlacedPageRequest } from "../ports/pages.ts";
import { type Connection, isDuplicateKey } from "./connection.ts";
import { readPage } from "./pages.ts";
import { SharedReads } from "./cluster/shared-reads.ts";

export interface Row extends ActorIndex {
  readonly _id: string;
  readonly rootId: RootId;
  readonly shard: number;
  /** The version of the aggregate whose save changed the actor last. */
  readonly version: number;
  readonly bound: boolean;
  readonly state: unknown;
}

type Version = Pick<AggregateHead<RootId>, "rootId" | "shard" | "version">;

/** How many rows are written in one round trip. */
const ROWS_AT_ONCE = 1_000;

export class ReadModels {
  readonly #jobs: Collection<Row>;
  readonly #steps: Collection<Row>;
  readonly #approvals: Collection<Row>;
  /** Every heartbeat of an agent asks for what the agent holds: most agents hold nothing, and a gateway has thousands of them. */
  readonly #heldJobs: SharedReads<AgentId, Row>;
  readonly #heldSteps: SharedReads<AgentId, Row>;

  constructor(connection: Connection) {
    this.#jobs = connection.collection("job_runs");
    this.#steps = connection.collection("step_runs");
    this.#approvals = connection.collection("approvals");
    this.#heldJobs = new SharedReads((agentIds) => heldBy(this.#jobs, agentIds));
    this.#heldSteps = new SharedReads((agentIds) => heldBy(this.#steps, agentIds));
  }

  /** Writes the rows of actors as of `version`. Rows of the same or a newer version do not change. Idempotent. */
  async write(version: Version, actors: readonly StoredActor[]): Promise<void> {
    for (const [rows, kind] of this.#byKind) {
      const ofKind = actors.filter((actor) => actor.kind === kind);
      for (let start = 0; start < ofKind.length; start += ROWS_AT_ONCE) {
        await writeRows(rows, version, ofKind.slice(start, start + ROWS_AT_ONCE));
      }
    }
  }

  /**
   * Writes the rows of actors that are older than `version`. There are such rows only when the save of that version was
   * cut off.
   */
  async repair(version: Version, actors: readonly StoredActor[]): Promise<void> {
    const current = new Set<string>();
    for (const [rows, kind] of this.#byKind) {
      const ids = actors.flatMap((actor) => (actor.kind === kind ? [actor.id] : []));
      if (ids.length === 0) continue;
      const found = rows.find({ _id: { $in: ids }, version: { $gte: version.version } }, { projection: { _id: 1 } });
      for await (const { _id } of found) current.add(_id);
    }
    await this.write(
      version,
      actors.filter(({ id }) => !current.has(id)),
    );
  }

  async findJob(jobId: JobRunId): Promise<JobLocation | undefined> {
    const row = await this.#jobs.findOne({ _id: jobId });
    return row === null ? undefined : toJobLocation(row);
  }

  async findStep(stepRunId: StepRunId, options: FindOptions = {}): Promise<StepLocation | undefined> {
    const row = await this.#steps.findOne({ _id: stepRunId }, options);
    return row === null ? undefined : toStepLocation(row);
  }

  async jobsHeldBy(agentId: AgentId, limit?: number): Promise<readonly JobLocation[]> {
    return (await this.#heldJobs.of(agentId)).slice(0, limit).map(toJobLocation);
  }

  async stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]> {
    return (await this.#heldSteps.of(agentId)).map(toStepLocation);
  }

  pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    return this.#pageJobs({ shard, bound: true, _id: { $gt: after } }, limit);
  }

  pageQueuedJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    return this.#pageJobs({ shard, status: "queued", _id: { $gt: after } }, limit);
  }

  #pageJobs(filter: Filter<Row>, limit: number): Promise<readonly JobLocation[]> {
    return this.#jobs.find(filter).sort({ _id: 1 }).limit(limit).map(toJobLocation).toArray();
  }

  async listApprovals(
    { status, pipelineId, projectId, projectIds }: ApprovalFilter,
    request: PlacedPageRequest,
  ): Promise<Page<ApprovalLocation>> {
    const filter: Filter<Row> = { status };
    if (pipelineId !== undefined) filter["approval.pipelineId"] = pipelineId;
    if (projectId !== undefined) filter["approval.projectId"] = projectId;
    if (projectIds !== undefined) filter.$and = [{ "approval.projectId": { $in: [...projectIds] } }];
    const approvals = { collection: this.#approvals, filter, order: ["approval.requestedAt", "_id"] };
    const { documents, total } = await readPage(approvals, request);
    const list = documents.map((row) => ({ runId: row.rootId as RunId, actor: toActor("approval", row) }));
    return { list, total };
  }

  get #byKind(): readonly (readonly [Collection<Row>, "job" | "step" | "approval"])[] {
    return [
      [this.#jobs, "job"],
      [this.#steps, "step"],
      [this.#approvals, "approval"],
    ];
  }
}

async function writeRows(
  rows: Collection<Row>,
  { rootId, shard, version }: Version,
  actors: readonly StoredActor[],
): Promise<void> {
  const operations = (upsert: boolean): AnyBulkWriteOperation<Row>[] =>
    actors.map(({ id, state, index }) => ({
      updateOne: {
        filter: { _id: id, version: { $lt: version } },
        update: { $set: { rootId, shard, version, ...index, bound: index.agentId !== null, state } },
        upsert,
      },
    }));
  try {
    await rows.bulkWrite(operations(true), { ordered: false });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // An upsert that finds no older row inserts one, and fails when there is a row. Mostly that row has this or a newer
    // version. It has an older one when it was inserted between the look and the insert: the plain update handles that
    // case.
    await rows.bulkWrite(operations(false), { ordered: false });
  }
}

/** The rows that each of these agents holds, by id, ascending. */
async function heldBy(
  rows: Collection<Row>,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<AgentId, readonly Row[]>> {
  const byAgent = new Map<AgentId, Row[]>();
  for await (const row of rows.find({ agentId: { $in: [...agentIds] } }).sort({ _id: 1 })) {
    const agentId = row.agentId!;
    if (byAgent.get(agentId)?.push(row) === undefined) byAgent.set(agentId, [row]);
  }
  return byAgent;
}

function toJobLocation(row: Row): JobLocation {
  return { runId: row.rootId as RunId, jobId: row._id as JobRunId, actor: toActor("job", row) };
}

function toStepLocation(row: Row): StepLocation {
  return {
    runId: row.rootId as RunId,
    jobId: row.jobId!,
    stepRunId: row._id as StepRunId,
    actor: toActor("step", row),
  };
}

export function toActor(kind: StoredActor["kind"], row: Row): StoredActor {
  const { _id, position, jobId, status, attempt, agentId, approval, deployment, state } = row;
  const index = {
    position,
    jobId,
    status,
    attempt,
    agentId,
    ...(approval !== undefined && { approval }),
    ...(deployment !== undefined && { deployment }),
  };
  return { kind, id: _id, state, index };
}

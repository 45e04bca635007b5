/**
 * Reads what the store holds, with the driver of the database alone. The stores of the program would repair projections
 * while they read, and so hide a projection that was left behind.
 */
import { type Binary, MongoClient } from "mongodb";
import type { RunEvent } from "../../../src/domain/events.ts";
import type { RunId } from "../../../src/domain/ids.ts";
import { eventsIn } from "../../../src/stores/format/packed-events.ts";
import { unpackPlan } from "../../../src/stores/format/packed-plans.ts";
import { stateText } from "../../../src/stores/format/packed-states.ts";
import type { Installation } from "../world/installation.ts";
import type { ProjectionRow } from "./evidence.ts";
import { SqliteConnection } from "../../../src/sqlite/connection.ts";

export interface RawActor {
  readonly kind: string;
  readonly id: string;
  /** As it is stored; `fromStored` converts it. */
  readonly state: unknown;
}

export interface RawRun {
  readonly runId: string;
  readonly status: string;
  readonly settled: boolean;
  readonly eventNumber: number;
  /** Number of effects that the head lists as owed. */
  readonly owed: number;
  readonly actors: readonly RawActor[];
  /** In the order of their numbers. */
  readonly events: readonly unknown[];
  /** As they are stored; `fromStored` converts them. */
  readonly plan: unknown;
  readonly specs: readonly unknown[];
}

export interface RawStore {
  /** Every run of the pipelines. */
  runs(pipelineIds: readonly string[]): Promise<readonly RawRun[]>;
  /** Ids of the pipelines of all runs, also of pipelines that are deleted. */
  pipelineIds(): Promise<readonly string[]>;
  /** What look-ups and lists know of the actors of a run. */
  rowsOf(runId: string): Promise<readonly ProjectionRow[]>;
  close(): Promise<void>;
}

export function openRawStore({
  mongoDatabase,
  storeFile,
}: Pick<Installation, "mongoDatabase" | "storeFile">): RawStore {
  return mongoDatabase === null ? rawSqlite(storeFile) : rawMongo(mongoDatabase);
}

function toPlan(packed: Uint8Array): Pick<RawRun, "plan" | "specs"> {
  const { graph, jobs } = unpackPlan(packed);
  return { plan: graph, specs: jobs };
}

function bytesIn({ buffer, position }: Binary): Uint8Array {
  return buffer.subarray(0, position);
}

/** Each event once: records may overlap. */
function inOrder(events: readonly RunEvent[]): readonly RunEvent[] {
  const byNumber = new Map(events.toReversed().map((event) => [event.number, event]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

function rawSqlite(file: string): RawStore {
  const db = new SqliteConnection(file);
  const all = (sql: string, ...values: readonly string[]) =>
    db.prepare(sql).all(...values) as readonly Record<string, never>[];
  const bodies = (sql: string, runId: string) => all(sql, runId).map(({ body }) => JSON.parse(body!) as unknown);
  const stateOf = (row: Record<string, unknown>) =>
    JSON.parse(
      stateText(row["state"] as string | Uint8Array, {
        rootId: row["root_id"] as string,
        id: row["id"] as string,
        jobId: row["job_id"] as string | null,
      }),
    ) as unknown;
  const planOf = (runId: string): Pick<RawRun, "plan" | "specs"> => {
    const [body] = all("SELECT body FROM plans WHERE run_id = ?", runId).map((row) => row["body"] as unknown);
    if (body instanceof Uint8Array) return toPlan(body);
    return {
      plan: body === undefined ? undefined : (JSON.parse(body as string) as unknown),
      specs: bodies("SELECT body FROM job_specs WHERE run_id = ? ORDER BY job_index", runId),
    };
  };
  const eventsOf = (runId: string): readonly unknown[] =>
    inOrder(
      all("SELECT number, body FROM events WHERE run_id = ? ORDER BY number", runId).flatMap(({ number, body }) => {
        const record = (body as unknown) instanceof Uint8Array ? body! : (JSON.parse(body!) as never);
        return eventsIn(runId as RunId, { number: number!, body: record });
      }),
    );
  const runOf = (head: Record<string, never>): RawRun => {
    const runId = head["root_id"] as unknown as string;
    const actors = all(
      "SELECT kind, id, root_id, job_id, state FROM actors WHERE root_id = ? ORDER BY rank, id",
      runId,
    );
    return {
      runId,
      status: head["status"]!,
      settled: head["settled"] === 1,
      eventNumber: head["event_number"]!,
      owed: (JSON.parse(head["owed"]!) as readonly unknown[]).length,
      actors: actors.map((row) => ({ kind: row["kind"]!, id: row["id"]!, state: stateOf(row) })),
      events: eventsOf(runId),
      ...planOf(runId),
    };
  };
  return {
    runs: (pipelineIds) =>
      Promise.resolve(
        pipelineIds
          .flatMap((id) => all("SELECT * FROM aggregates WHERE pipeline_id = ? ORDER BY root_id", id))
          .map(runOf),
      ),
    pipelineIds: () =>
      Promise.resolve(
        all("SELECT DISTINCT pipeline_id FROM aggregates WHERE pipeline_id <> ''").map((row) => row["pipeline_id"]!),
      ),
    rowsOf: (runId) =>
      Promise.resolve(
        all("SELECT * FROM actors WHERE root_id = ? AND kind <> 'run'", runId).map((row): ProjectionRow => ({
          kind: row["kind"]!,
          id: row["id"]!,
          status: row["status"]!,
          attempt: row["attempt"]!,
          position: row["position"]!,
          jobId: row["job_id"]!,
          agentId: row["agent_id"]!,
          state: stateOf(row),
        })),
      ),
    close: () => Promise.resolve(db.close()),
  };
}

interface RawAggregate {
  readonly _id: string;
  readonly summary: { readonly status: string };
  readonly settled: boolean;
  readonly eventNumber: number;
  readonly owed: readonly unknown[];
  readonly actors: Readonly<Record<string, RawActor>>;
}

/** The collections of projections, by the kind of actor that they hold. */
const PROJECTIONS = { job: "job_runs", step: "step_runs", approval: "approvals" } as const;

function rawMongo({ url, name }: { readonly url: string; readonly name: string }): RawStore {
  const client = new MongoClient(url);
  const db = client.db(name);
  const byId = <T extends { readonly _id: string }>(collection: string) => db.collection<T>(collection);
  const runOf = async ({ _id, summary, settled, eventNumber, owed, actors }: RawAggregate): Promise<RawRun> => {
    const texts = byId<{ _id: string; text: string; packed?: Binary }>;
    const [apart, events, plan] = await Promise.all([
      byId<RawActor & { readonly _id: string }>("ended_attempts").find({ rootId: _id }).toArray(),
      db.collection("events").find({ runId: _id }).sort({ number: 1 }).toArray(),
      texts("plans").findOne({ _id }),
    ]);
    const stored = async (): Promise<Pick<RawRun, "plan" | "specs">> => {
      if (plan?.packed !== undefined) return toPlan(bytesIn(plan.packed));
      const graph = JSON.parse(plan?.text ?? '{ "jobs": [] }') as { readonly jobs: readonly unknown[] };
      const specs = await Promise.all(
        graph.jobs.map((_, index) => texts("job_specs").findOne({ _id: `${_id}:${index}` })),
      );
      return { plan: graph, specs: specs.map((spec) => JSON.parse(spec!.text) as unknown) };
    };
    return {
      runId: _id,
      status: summary.status,
      settled,
      eventNumber,
      owed: owed.length,
      // An actor that is in both places has not left the snapshot yet.
      actors: [
        ...Object.values(actors),
        ...apart.flatMap(({ _id: id, kind, state }) => (id in actors ? [] : [{ id, kind, state }])),
      ],
      events: inOrder(
        events.flatMap(({ number, body, packed }) =>
          eventsIn(_id as RunId, {
            number: number as number,
            body: packed ? bytesIn(packed as Binary) : (body as never),
          }),
        ),
      ),
      ...(await stored()),
    };
  };
  return {
    async runs(pipelineIds) {
      const filter = { "summary.pipelineId": { $in: [...pipelineIds] } };
      const found = db.collection<RawAggregate>("aggregates").find(filter).sort({ _id: 1 });
      const runs: RawRun[] = [];
      for await (const aggregate of found) runs.push(await runOf(aggregate as RawAggregate));
      return runs;
    },
    async pipelineIds() {
      const found = db.collection<RawAggregate>("aggregates").find({ "summary.pipelineId": { $type: "string" } });
      const ids = await found.map((head) => (head.summary as { readonly pipelineId?: string }).pipelineId!).toArray();
      // Groups belong to no pipeline.
      return [...new Set(ids)].filter((id) => id !== "");
    },
    async rowsOf(runId) {
      const lists = Object.entries(PROJECTIONS).map(async ([kind, collection]) => {
        const found = db.collection<Omit<ProjectionRow, "kind" | "id"> & { _id: string }>(collection);
        const rows = await found.find({ rootId: runId }).sort({ _id: 1 }).toArray();
        return rows.map(({ _id, status, attempt, position, jobId, agentId, state }): ProjectionRow => {
          return { kind, id: _id, status, attempt, position, jobId, agentId, state };
        });
      });
      return (await Promise.all(lists)).flat();
    },
    close: () => client.close(),
  };
}

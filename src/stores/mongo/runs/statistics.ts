/**
 * The store of statistics in MongoDB: one document for each pipeline, job and day. An addition changes several documents,
 * so it is stored first, as the one addition that is under way, and is then carried out. Each document remembers the
 * additions that it has had, and each run the one that has counted it: a node that finds an addition under way can carry it
 * out again.
 */
import { randomUUID } from "node:crypto";
import type { AnyBulkWriteOperation, Collection } from "mongodb";
import type { PipelineId, RunId } from "../../../domain/ids.ts";
import type { Addition, CountedOf, Counters, DayCounters, StatisticsStore } from "../../ports/statistics.ts";
import { type Connection, insertIfAbsent, isDuplicateKey, type Keyed } from "../connection.ts";

interface CounterDocument extends CountedOf {
  readonly _id: string;
  readonly day: number;
  readonly counters: Counters;
  /** The newest additions to this document. */
  readonly additions: readonly string[];
}

interface FailingDocument extends CountedOf {
  readonly _id: string;
  readonly revisions: readonly string[];
}

interface UnderWay extends Addition {
  readonly _id: typeof UNDER_WAY;
  readonly addition: string;
}

interface CountedRun {
  readonly _id: RunId;
  /** The addition that has counted it. */
  readonly counted?: string | null;
}

const UNDER_WAY = "under way";
/** Only one addition is under way at a time, so that few are repeated. */
const REMEMBERED_ADDITIONS = 20;

export function statisticsStore(connection: Connection): StatisticsStore {
  const days = connection.collection<CounterDocument>("statistics");
  const failures = connection.collection<FailingDocument>("failing_revisions");
  const additions = connection.collection<UnderWay>("statistics_additions");
  const aggregates = connection.collection<CountedRun>("aggregates");

  /** False when another addition has counted one of the runs, and then nothing is added. */
  const carryOut = async ({ addition, runIds, counters, failing }: UnderWay): Promise<boolean> => {
    const foreign = await aggregates.findOne({ _id: { $in: [...runIds] }, counted: { $nin: [null, addition] } });
    if (foreign === null) {
      await addCounters(days, addition, counters);
      await putFailing(failures, failing);
      await aggregates.updateMany({ _id: { $in: [...runIds] } }, { $set: { counted: addition } });
    }
    await additions.deleteOne({ _id: UNDER_WAY, addition });
    return foreign === null;
  };

  return {
    async uncounted(limit) {
      const found = aggregates
        .find({ final: true, counted: null, "summary.endedAt": { $gt: 0 } }, { projection: { _id: 1 } })
        .sort({ "summary.endedAt": 1, _id: 1 })
        .limit(limit);
      return found.map(({ _id }) => _id).toArray();
    },
    async failing(of) {
      const found = await failures.find({ _id: { $in: of.map(failingId) } }).toArray();
      return found.map(({ pipelineId, job, revisions }) => ({ pipelineId, job, revisions }));
    },
    async add(addition) {
      const before = await additions.findOne({ _id: UNDER_WAY });
      if (before !== null) await carryOut(before);
      const document: UnderWay = { _id: UNDER_WAY, addition: randomUUID(), ...addition };
      const isFirst = await insertIfAbsent(additions as unknown as Collection<Keyed>, document as unknown as Keyed);
      return isFirst && carryOut(document);
    },
    async read(pipelineId, from, to) {
      const found = await days
        .find({ pipelineId, day: { $gte: from, $lte: to } })
        .sort({ day: 1, job: 1 })
        .toArray();
      return found.map(({ job, day, counters }): DayCounters => ({ pipelineId, job, day, counters }));
    },
    async forget(before, limit) {
      const old = await days
        .find({ day: { $lt: before } }, { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      return (await days.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } })).deletedCount;
    },
    async drop(pipelineId) {
      await days.deleteMany({ pipelineId });
      await failures.deleteMany({ pipelineId });
    },
  };
}

async function addCounters(
  days: Collection<CounterDocument>,
  addition: string,
  counters: readonly DayCounters[],
): Promise<void> {
  if (counters.length === 0) return;
  const operations = counters.map(
    ({ pipelineId, job, day, counters: added }): AnyBulkWriteOperation<CounterDocument> => {
      const increments = Object.entries(added).map(([name, count]) => [`counters.${name}`, count] as const);
      return {
        updateOne: {
          filter: { _id: `${pipelineId}/${day}/${job}`, additions: { $ne: addition } },
          update: {
            $setOnInsert: { pipelineId, job, day },
            $inc: Object.fromEntries(increments),
            $push: { additions: { $each: [addition], $slice: -REMEMBERED_ADDITIONS } },
          },
          upsert: true,
        },
      };
    },
  );
  try {
    await days.bulkWrite(operations, { ordered: false });
  } catch (error) {
    // The document exists, and has had the addition.
    if (!isDuplicateKey(error)) throw error;
  }
}

async function putFailing(failures: Collection<FailingDocument>, failing: Addition["failing"]): Promise<void> {
  if (failing.length === 0) return;
  await failures.bulkWrite(
    failing.map((one) => ({
      replaceOne: { filter: { _id: failingId(one) }, replacement: { ...one } as never, upsert: true },
    })),
  );
}

function failingId({ pipelineId, job }: { readonly pipelineId: PipelineId; readonly job: string }): string {
  return `${pipelineId}/${job}`;
}

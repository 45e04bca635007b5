/**
 * The store of deliveries in MongoDB. A save of a run with events marks the run as untold; the mark leaves it when its
 * newest event is told.
 */
import type { Collection, Filter } from "mongodb";
import type { DeliveryId, RunId } from "../../domain/ids.ts";
import type { AggregateHead } from "../ports/aggregates.ts";
import {
  ABOVE_NOTIFICATION_LANES,
  type Delivery,
  type DeliveryStore,
  NOTIFICATION_LANES,
  type UntoldRun,
} from "../ports/deliveries.ts";
import type { ListKey } from "../ports/pages.ts";
import { type Connection, insertAbsent, type Keyed } from "./connection.ts";

interface DeliveryDocument extends Omit<Delivery, "deliveryId"> {
  readonly _id: DeliveryId;
}

interface ToldDocument extends Pick<AggregateHead, "eventNumber" | "settled"> {
  readonly _id: RunId;
  readonly summary: Pick<AggregateHead["summary"], "projectId" | "endedAt">;
  readonly untold?: boolean;
  readonly told?: number;
}

export function deliveryStore(connection: Connection): DeliveryStore {
  const deliveries = connection.collection<DeliveryDocument>("deliveries");
  const runs = connection.collection<ToldDocument>("aggregates");
  return {
    async untold(projectIds, limit) {
      const found = await runs
        .find(
          { "summary.projectId": { $in: [...projectIds] }, untold: true },
          { projection: { eventNumber: 1, settled: 1, told: 1, "summary.projectId": 1, "summary.endedAt": 1 } },
        )
        .limit(limit)
        .toArray();
      return found.map(({ _id, eventNumber, settled, summary, told = 0 }): UntoldRun => {
        return { runId: _id, eventNumber, settled, told, projectId: summary.projectId, endedAt: summary.endedAt };
      });
    },
    async tell(owed, told) {
      const documents = owed.map(({ deliveryId, ...delivery }) => ({ _id: deliveryId as string, ...delivery }));
      await insertAbsent(deliveries as unknown as Collection<Keyed>, documents);
      const operations = told.flatMap(({ runId: _id, told: through }) => [
        { updateOne: { filter: { _id }, update: { $max: { told: through } } } },
        // A save that comes in between has another number, and the mark stays.
        { updateOne: { filter: { _id, eventNumber: { $lte: through } }, update: { $set: { untold: false } } } },
      ]);
      if (operations.length > 0) await runs.bulkWrite(operations, { ordered: true });
    },
    lanes: (now) => deliveries.distinct("lane", { state: "owed", dueAt: { $lte: now } }),
    async due(lane, now, limit) {
      const found = deliveries.find({ state: "owed", lane, dueAt: { $lte: now } });
      return (await found.sort({ dueAt: 1, runId: 1, number: 1 }).limit(limit).toArray()).map(toDelivery);
    },
    async firstOwed(lane, runId) {
      const found = await deliveries.findOne({ state: "owed", lane, runId }, { sort: { number: 1 } });
      return found === null ? undefined : toDelivery(found);
    },
    async reschedule(lane, runId, dueAt) {
      await deliveries.updateMany({ state: "owed", lane, runId }, { $set: { dueAt } });
    },
    async record({ deliveryId, attempts }, outcome) {
      const changed = await deliveries.updateOne(
        { _id: deliveryId, state: "owed", attempts },
        { $set: { ...outcome, tries: [...outcome.tries] } },
      );
      return changed.matchedCount > 0;
    },
    async owe(_id, now) {
      const changed = await deliveries.updateOne(
        { _id, state: { $ne: "owed" } },
        { $set: { state: "owed", dueAt: now, owedAt: now, failures: 0 } },
      );
      return changed.matchedCount > 0;
    },
    async find(_id) {
      const found = await deliveries.findOne({ _id });
      return found === null ? undefined : toDelivery(found);
    },
    async list(lane, { state, runId }, limit, after) {
      const filter: Filter<DeliveryDocument> = {
        lane,
        ...(state !== undefined && { state }),
        ...(runId !== undefined && { runId }),
        ...behind(after),
      };
      return (await deliveries.find(filter).sort({ createdAt: -1, _id: -1 }).limit(limit).toArray()).map(toDelivery);
    },
    async listNotifications(of, { state }, limit, after) {
      const filter: Filter<DeliveryDocument> = {
        ...of,
        lane: { $gte: NOTIFICATION_LANES, $lt: ABOVE_NOTIFICATION_LANES },
        ...(state !== undefined && { state }),
        ...behind(after),
      };
      return (await deliveries.find(filter).sort({ createdAt: -1, _id: -1 }).limit(limit).toArray()).map(toDelivery);
    },
    async listOfRun(runId, lanes, { state }, limit, after) {
      const filter: Filter<DeliveryDocument> = {
        runId,
        // `0` is the character behind `/`, in which the text ends.
        lane: { $gte: lanes, $lt: `${lanes.slice(0, -1)}0` },
        ...(state !== undefined && { state }),
        ...behind(after),
      };
      return (await deliveries.find(filter).sort({ createdAt: -1, _id: -1 }).limit(limit).toArray()).map(toDelivery);
    },
    prune: (now, limit) =>
      deleteSome(deliveries, { state: { $in: ["delivered", "failed"] }, dueAt: { $lte: now } }, limit),
    drop: (of, limit) => deleteSome(deliveries, "deliveryId" in of ? { _id: of.deliveryId } : { ...of }, limit),
  };
}

function behind(after: ListKey | undefined): Filter<DeliveryDocument> {
  if (after === undefined) return {};
  return {
    createdAt: { $lte: after.at },
    $or: [{ createdAt: { $lt: after.at } }, { _id: { $lt: after.id as DeliveryId } }],
  };
}

async function deleteSome(
  deliveries: Collection<DeliveryDocument>,
  filter: Filter<DeliveryDocument>,
  limit: number,
): Promise<number> {
  const some = await deliveries
    .find(filter, { projection: { _id: 1 } })
    .limit(limit)
    .toArray();
  if (some.length === 0) return 0;
  return (await deliveries.deleteMany({ ...filter, _id: { $in: some.map(({ _id }) => _id) } })).deletedCount;
}

function toDelivery({ _id, ...delivery }: DeliveryDocument): Delivery {
  return { deliveryId: _id, ...delivery };
}

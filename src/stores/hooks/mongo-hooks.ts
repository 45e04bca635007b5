/** The store of inbound hooks and their deliveries in MongoDB. */
import type { Filter } from "mongodb";
import type { DeliveryId, HookId } from "../../domain/ids.ts";
import type { Hook, HookStore, ReceivedDelivery } from "./hook-store.ts";
import { type Connection, insertIfAbsent, isDuplicateKey } from "../mongo/connection.ts";

interface HookDocument extends Omit<Hook, "hookId"> {
  readonly _id: HookId;
}

/** The record is JSON text: it holds what senders have chosen. */
interface DeliveryDocument extends Pick<
  ReceivedDelivery,
  "hookId" | "projectId" | "senderId" | "state" | "receivedAt" | "dueAt" | "version"
> {
  readonly _id: DeliveryId;
  readonly record: string;
  readonly body: string | null;
}

const WITHOUT_BODY = { projection: { body: 0 } } as const;
/** Attempts to take a delivery whose earlier record disappears each time. */
const TAKES = 3;

export function hookStore(connection: Connection): HookStore {
  const hooks = connection.collection<HookDocument>("hooks");
  const deliveries = connection.collection<DeliveryDocument>("hook_deliveries");
  const found = (filter: Filter<DeliveryDocument>) => deliveries.find(filter, WITHOUT_BODY);
  return {
    async create({ hookId: _id, ...hook }) {
      if (await insertIfAbsent(hooks, { _id, ...hook })) return "created";
      return (await hooks.findOne({ _id })) === null ? "nameTaken" : "created";
    },
    async find(_id) {
      const hook = await hooks.findOne({ _id });
      return hook === null ? undefined : toHook(hook);
    },
    list: async (projectId) => (await hooks.find({ projectId }).sort({ _id: 1 }).toArray()).map(toHook),
    async save({ hookId: _id, ...hook }) {
      try {
        const { matchedCount } = await hooks.updateOne({ _id, version: hook.version - 1 }, { $set: hook });
        return matchedCount > 0 ? "saved" : "moved";
      } catch (error) {
        if (isDuplicateKey(error)) return "nameTaken";
        throw error;
      }
    },
    delete: async (_id) => (await hooks.deleteOne({ _id })).deletedCount > 0,
    async deleteOfProject(projectId) {
      await hooks.deleteMany({ projectId });
    },

    async take(delivery, body) {
      const { hookId, senderId } = delivery;
      for (let attempt = 1; ; attempt++) {
        if (await insertIfAbsent(deliveries, { ...toDocument(delivery), body })) return delivery;
        const known = await deliveries.findOne({ hookId, senderId }, WITHOUT_BODY);
        if (known !== null) return toDelivery(known);
        if (attempt === TAKES) throw new Error(`delivery ${senderId} of hook ${hookId} is there and cannot be read`);
      }
    },
    async findDelivery(_id) {
      const known = await deliveries.findOne({ _id }, WITHOUT_BODY);
      return known === null ? undefined : toDelivery(known);
    },
    async bodyOf(_id) {
      return (await deliveries.findOne({ _id }, { projection: { body: 1 } }))?.body ?? null;
    },
    async saveDelivery(delivery) {
      const { _id, state, dueAt, version, record } = toDocument(delivery);
      const change = { $set: { state, dueAt, version, record } };
      return (await deliveries.updateOne({ _id, version: version - 1 }, change)).matchedCount > 0;
    },
    owing: () => deliveries.distinct("hookId", { state: "owed" }),
    async due(hookId, now, limit) {
      const owed = found({ state: "owed", hookId, dueAt: { $lte: now } });
      return (await owed.sort({ receivedAt: 1, _id: 1 }).limit(limit).toArray()).map(toDelivery);
    },
    async listDeliveries(hookId, { state }, limit, after) {
      const filter: Filter<DeliveryDocument> = {
        hookId,
        ...(state !== undefined && { state }),
        ...(after !== undefined && {
          receivedAt: { $lte: after.at },
          $or: [{ receivedAt: { $lt: after.at } }, { _id: { $lt: after.id as DeliveryId } }],
        }),
      };
      return (await found(filter).sort({ receivedAt: -1, _id: -1 }).limit(limit).toArray()).map(toDelivery);
    },
    async expired(now, limit) {
      const ended = found({ state: { $in: ["arriving", "done", "failed"] }, dueAt: { $lte: now } });
      return (await ended.sort({ dueAt: 1 }).limit(limit).toArray()).map(toDelivery);
    },
    someDeliveries: async (of, limit) =>
      (
        await found({ ...of })
          .limit(limit)
          .toArray()
      ).map(toDelivery),
    async removeDelivery(_id) {
      await deliveries.deleteOne({ _id });
    },
  };
}

function toHook({ _id, ...hook }: HookDocument): Hook {
  return { hookId: _id, ...hook };
}

function toDocument(delivery: ReceivedDelivery): Omit<DeliveryDocument, "body"> {
  const { deliveryId, hookId, projectId, senderId, state, receivedAt, dueAt, version, ...record } = delivery;
  const indexed = { hookId, projectId, senderId, state, receivedAt, dueAt, version };
  return { _id: deliveryId, ...indexed, record: JSON.stringify(record) };
}

function toDelivery({ _id, record, ...indexed }: Omit<DeliveryDocument, "body">): ReceivedDelivery {
  return { ...(JSON.parse(record) as ReceivedDelivery), deliveryId: _id, ...indexed };
}

/** The hooks and their deliveries in the simulated store: the data, and the port of one process. */
import type { DeliveryId, HookId } from "../../../src/domain/ids.ts";
import type { Hook, HookStore, ReceivedDelivery } from "../../../src/stores/hooks/hook-store.ts";
import type { Call } from "../engine/service.ts";
import { compare } from "./compare.ts";

interface Kept {
  readonly delivery: ReceivedDelivery;
  readonly body: string | null;
}

/** Each method is one operation of the database. */
export class HookData {
  readonly hooks = new Map<HookId, Hook>();
  readonly deliveries = new Map<DeliveryId, Kept>();

  /** The delivery that the hook has under the id of its sender, afterwards. */
  take(delivery: ReceivedDelivery, body: string | null): ReceivedDelivery {
    const { hookId, senderId, deliveryId } = delivery;
    const [known] = this.select((other) => other.hookId === hookId && other.senderId === senderId);
    if (known !== undefined) return known;
    this.deliveries.set(deliveryId, { delivery, body });
    return delivery;
  }

  /** False when the stored version is not the one before. */
  save(delivery: ReceivedDelivery): boolean {
    const kept = this.deliveries.get(delivery.deliveryId);
    if (kept?.delivery.version !== delivery.version - 1) return false;
    this.deliveries.set(delivery.deliveryId, { ...kept, delivery });
    return true;
  }

  /** The oldest first. */
  select(matches: (delivery: ReceivedDelivery) => boolean): readonly ReceivedDelivery[] {
    const found = [...this.deliveries.values()].map(({ delivery }) => delivery).filter(matches);
    return found.toSorted((a, b) => a.receivedAt - b.receivedAt || compare(a.deliveryId, b.deliveryId));
  }

  isNameTaken({ hookId, projectId, name }: Hook): boolean {
    return [...this.hooks.values()].some((other) => {
      return other.projectId === projectId && other.name === name && other.hookId !== hookId;
    });
  }
}

export function hooksOf(data: HookData, call: Call): HookStore {
  return {
    create: (hook) =>
      call(`create ${hook.hookId}`, () => {
        if (data.isNameTaken(hook)) return "nameTaken";
        if (!data.hooks.has(hook.hookId)) data.hooks.set(hook.hookId, hook);
        return "created";
      }),
    find: (hookId) => call(`find ${hookId}`, () => data.hooks.get(hookId)),
    list: (projectId) =>
      call("hooks", () => {
        const found = [...data.hooks.values()].filter((hook) => hook.projectId === projectId);
        return found.toSorted((a, b) => compare(a.hookId, b.hookId));
      }),
    save: (hook) =>
      call(`save ${hook.hookId}`, () => {
        if (data.isNameTaken(hook)) return "nameTaken";
        if (data.hooks.get(hook.hookId)?.version !== hook.version - 1) return "moved";
        data.hooks.set(hook.hookId, hook);
        return "saved";
      }),
    delete: (hookId) => call(`delete ${hookId}`, () => data.hooks.delete(hookId)),
    deleteOfProject: (projectId) =>
      call("delete hooks", () => {
        for (const hook of data.hooks.values()) if (hook.projectId === projectId) data.hooks.delete(hook.hookId);
      }),

    take: (delivery, body) => call(`take ${delivery.senderId}`, () => data.take(delivery, body)),
    findDelivery: (deliveryId) => call(`find ${deliveryId}`, () => data.deliveries.get(deliveryId)?.delivery),
    bodyOf: (deliveryId) => call(`body of ${deliveryId}`, () => data.deliveries.get(deliveryId)?.body ?? null),
    saveDelivery: (delivery) =>
      call(`save v${delivery.version} ${delivery.deliveryId} ${delivery.state}`, () => data.save(delivery)),
    owing: () =>
      call("hooks that owe", () => [...new Set(data.select(isOwed).map(({ hookId }) => hookId))].toSorted(compare)),
    due: (hookId, now, limit) =>
      call(`due of ${hookId}`, () => {
        return data.select((one) => isOwed(one) && one.hookId === hookId && one.dueAt <= now).slice(0, limit);
      }),
    listDeliveries: (hookId, { state }, limit, after) =>
      call(`deliveries of ${hookId}`, () => {
        const found = data.select((one) => one.hookId === hookId && (state ?? one.state) === one.state);
        const isBehind = ({ receivedAt: at, deliveryId: id }: ReceivedDelivery): boolean =>
          after === undefined || at < after.at || (at === after.at && id < after.id);
        return found.toReversed().filter(isBehind).slice(0, limit);
      }),
    expired: (now, limit) =>
      call("expired deliveries", () => data.select((one) => !isOwed(one) && one.dueAt <= now).slice(0, limit)),
    someDeliveries: (of, limit) =>
      call("some deliveries", () => {
        const isOf = (one: ReceivedDelivery) =>
          "hookId" in of ? one.hookId === of.hookId : one.projectId === of.projectId;
        return data.select(isOf).slice(0, limit);
      }),
    removeDelivery: (deliveryId) => call(`remove ${deliveryId}`, () => void data.deliveries.delete(deliveryId)),
  };
}

function isOwed({ state }: ReceivedDelivery): boolean {
  return state === "owed";
}

/** What others have to be told, in the simulated store: the deliveries, and up to which event each run is told. */
import type { DeliveryId, RootId, RunId } from "../../../src/domain/ids.ts";
import type { AggregateHead } from "../../../src/stores/ports/aggregates.ts";
import {
  type Delivery,
  type DeliveryOutcome,
  type DeliveryStore,
  NOTIFICATION_LANES,
  type UntoldRun,
} from "../../../src/stores/ports/deliveries.ts";
import type { ListKey } from "../../../src/stores/ports/pages.ts";
import type { Call } from "../engine/service.ts";
import { compare } from "./compare.ts";

/** Each method is one operation of the database. */
export class TellingData {
  readonly deliveries = new Map<DeliveryId, Delivery>();
  /** The number of the last event that is told, by run. */
  readonly told = new Map<RootId, number>();

  /** What is there stays. */
  owe(deliveries: readonly Delivery[]): void {
    for (const one of deliveries) if (!this.deliveries.has(one.deliveryId)) this.deliveries.set(one.deliveryId, one);
  }

  /** What is told never falls. */
  tell(runs: readonly Pick<UntoldRun, "runId" | "told">[]): void {
    for (const { runId, told } of runs) this.told.set(runId, Math.max(told, this.told.get(runId) ?? 0));
  }

  record(deliveryId: DeliveryId, attempts: number, outcome: DeliveryOutcome): boolean {
    const found = this.deliveries.get(deliveryId);
    if (found?.state !== "owed" || found.attempts !== attempts) return false;
    this.deliveries.set(deliveryId, { ...found, ...outcome });
    return true;
  }

  select(matches: (delivery: Delivery) => boolean): readonly Delivery[] {
    return [...this.deliveries.values()].filter(matches);
  }

  remove(found: readonly Delivery[], limit: number): number {
    const gone = found.slice(0, limit);
    for (const { deliveryId } of gone) this.deliveries.delete(deliveryId);
    return gone.length;
  }
}

/** The parts of the store that know what is untold. */
interface TellingServer {
  readonly documents: ReadonlyMap<RootId, { readonly head: AggregateHead<RootId> }>;
  readonly savesEventsAtOnce: boolean;
  readonly telling: TellingData;
}

export function deliveriesOf(server: TellingServer, call: Call): DeliveryStore {
  const { telling: data } = server;
  return {
    untold: (projectIds, limit) =>
      call("untold runs", () => {
        const runs = [...server.documents.values()].flatMap(({ head }): UntoldRun | readonly [] => {
          const { rootId, summary, eventNumber, settled } = head;
          const told = data.told.get(rootId) ?? 0;
          if (told >= eventNumber || !projectIds.includes(summary.projectId)) return [];
          const runId = rootId as RunId;
          return { runId, projectId: summary.projectId, told, eventNumber, settled, endedAt: summary.endedAt };
        });
        return runs.slice(0, limit);
      }),
    async tell(owed, runs) {
      // In SQLite, both are one transaction.
      if (server.savesEventsAtOnce) {
        await call("tell", () => {
          data.owe(owed);
          data.tell(runs);
        });
        return;
      }
      if (owed.length > 0) await call(`owe ${owed.length} deliveries`, () => data.owe(owed));
      if (runs.length > 0) await call("tell", () => data.tell(runs));
    },
    lanes: (now) =>
      call("lanes", () =>
        [...new Set(data.select((one) => isDue(one, now)).map(({ lane }) => lane))].toSorted(compare),
      ),
    due: (lane, now, limit) =>
      call(`due in ${lane}`, () => {
        const found = data.select((one) => one.lane === lane && isDue(one, now));
        const inOrder = found.toSorted((a, b) => a.dueAt - b.dueAt || compare(a.runId, b.runId) || a.number - b.number);
        return inOrder.slice(0, limit);
      }),
    firstOwed: (lane, runId) =>
      call(`first owed in ${lane}`, () => {
        const found = data.select((one) => isOwed(one) && one.lane === lane && one.runId === runId);
        return found.toSorted((a, b) => a.number - b.number)[0];
      }),
    reschedule: (lane, runId, dueAt) =>
      call(`reschedule ${lane}`, () => {
        for (const one of data.select((other) => isOwed(other) && other.lane === lane && other.runId === runId))
          data.deliveries.set(one.deliveryId, { ...one, dueAt });
      }),
    record: ({ deliveryId, attempts }, outcome) =>
      call(`record ${deliveryId} ${outcome.state}`, () => data.record(deliveryId, attempts, outcome)),
    owe: (deliveryId, now) =>
      call(`owe ${deliveryId}`, () => {
        const found = data.deliveries.get(deliveryId);
        if (found === undefined || isOwed(found)) return false;
        data.deliveries.set(deliveryId, { ...found, state: "owed", dueAt: now, owedAt: now, failures: 0 });
        return true;
      }),
    find: (deliveryId) => call(`find ${deliveryId}`, () => data.deliveries.get(deliveryId)),
    list: (lane, { state, runId }, limit, after) =>
      call(`list ${lane}`, () => {
        const isOf = (one: Delivery) =>
          one.lane === lane && (state ?? one.state) === one.state && (runId ?? one.runId) === one.runId;
        return newest(data.select(isOf), limit, after);
      }),
    listNotifications: (of, { state }, limit, after) =>
      call("notifications", () => {
        const isOf = (one: Delivery) =>
          one.lane.startsWith(NOTIFICATION_LANES) &&
          (state ?? one.state) === one.state &&
          ("runId" in of ? one.runId === of.runId : one.projectId === of.projectId);
        return newest(data.select(isOf), limit, after);
      }),
    listOfRun: (runId, lanes, { state }, limit, after) =>
      call(`deliveries of ${runId}`, () => {
        const isOf = (one: Delivery) =>
          one.runId === runId && one.lane.startsWith(lanes) && (state ?? one.state) === one.state;
        return newest(data.select(isOf), limit, after);
      }),
    prune: (now, limit) =>
      call("prune deliveries", () =>
        data.remove(
          data.select((one) => !isOwed(one) && one.dueAt <= now),
          limit,
        ),
      ),
    drop: (of, limit) =>
      call("drop deliveries", () => {
        const isOf = (one: Delivery) =>
          "deliveryId" in of
            ? one.deliveryId === of.deliveryId
            : "lane" in of
              ? one.lane === of.lane
              : one.projectId === of.projectId;
        return data.remove(data.select(isOf), limit);
      }),
  };
}

function isOwed({ state }: Delivery): boolean {
  return state === "owed";
}

function isDue(one: Delivery, now: number): boolean {
  return isOwed(one) && one.dueAt <= now;
}

function newest(found: readonly Delivery[], limit: number, after: ListKey | undefined): readonly Delivery[] {
  const isBehind = ({ createdAt: at, deliveryId: id }: Delivery): boolean =>
    after === undefined || at < after.at || (at === after.at && id < after.id);
  const sorted = found.toSorted((a, b) => b.createdAt - a.createdAt || compare(b.deliveryId, a.deliveryId));
  return sorted.filter(isBehind).slice(0, limit);
}

/** Stores for tests of a node that dies after a given number of writes. */
import type { Stores } from "../../src/stores/ports/stores.ts";

/** The same stores, but after `writes` calls that change something, every further call that changes something fails. */
export function failWritesAfter(stores: Stores, writes: number): Stores {
  let left = writes;
  const readCalls =
    /^(find|load|page|list|read|next|newest|nthNewest|dropped|pending|unfinished|verdict|of[RS]|storedBytes)/;
  const failing = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          if (!readCalls.test(String(name)) && left-- <= 0) throw new Error("the node died");
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  const removeRun = failing({ removeRun: stores.removeRun }).removeRun;
  const { aggregates, artifacts, blobs, idempotency, inbox, pipelines, removals, retention } = stores;
  return {
    ...stores,
    removeRun,
    aggregates: failing(aggregates),
    artifacts: failing(artifacts),
    blobs: failing(blobs),
    idempotency: failing(idempotency),
    inbox: failing(inbox),
    pipelines: failing(pipelines),
    removals: failing(removals),
    retention: failing(retention),
  };
}

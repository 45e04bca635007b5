/** Stores of a node that dies at a certain write. */
import type { Stores } from "../../src/stores/ports/stores.ts";

/** The same stores, of which every call fails that changes something, once `writes` of them were made. */
export function dyingAfter(stores: Stores, writes: number): Stores {
  let left = writes;
  const reading = /^(find|load|page|list|read|next|newest|dropped|pending|unfinished|verdict|of[RS]|storedBytes)/;
  const dying = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          if (!reading.test(String(name)) && left-- <= 0) throw new Error("the node died");
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  const removeRun = dying({ removeRun: stores.removeRun }).removeRun;
  const { aggregates, artifacts, blobs, idempotency, inbox, pipelines, removals, retention } = stores;
  return {
    ...stores,
    removeRun,
    aggregates: dying(aggregates),
    artifacts: dying(artifacts),
    blobs: dying(blobs),
    idempotency: dying(idempotency),
    inbox: dying(inbox),
    pipelines: dying(pipelines),
    removals: dying(removals),
    retention: dying(retention),
  };
}

/** What Redis says to a verification, which goes on without it. */
import type { BoardInspection } from "../../board/board-inspection.ts";

/** What Redis says. Each call rejects while Redis cannot be read. */
export interface Hints {
  readonly board: Pick<BoardInspection, "offers" | "findOffers" | "places" | "hasPlace">;
  /** The node that holds the lease of each shard; null without one. */
  owners(): Promise<ReadonlyMap<number, string | null>>;
  /** Ids of the living nodes. */
  nodes(): Promise<ReadonlySet<string>>;
}

/** Redis could not be read. `cause` is the error of its client. */
export class UnreadableHints extends Error {
  override readonly name = "UnreadableHints";
}

/** The same hints; each failure is an {@link UnreadableHints}, so that it is not taken for one of the store. */
export function readableHints(hints: Hints): Hints {
  const { board } = hints;
  return {
    board: {
      offers: () => pages(board.offers()),
      places: () => pages(board.places()),
      findOffers: (jobIds) => answer(board.findOffers(jobIds)),
      hasPlace: (quota, jobId) => answer(board.hasPlace(quota, jobId)),
    },
    owners: () => answer(hints.owners()),
    nodes: () => answer(hints.nodes()),
  };
}

/** Shards whose lease names a node that lives. */
export async function ownedShards(hints: Hints): Promise<ReadonlySet<number>> {
  const [owners, nodes] = await Promise.all([hints.owners(), hints.nodes()]);
  return new Set([...owners].flatMap(([shard, owner]) => (owner !== null && nodes.has(owner) ? [shard] : [])));
}

async function answer<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw new UnreadableHints("Redis cannot be read", { cause: error });
  }
}

async function* pages<T>(read: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const { done, value } = await answer(read.next());
    if (done === true) return;
    yield value as T;
  }
}

/**
 * Which node should own which shard, by rendezvous hashing with a bound for each node: every node gets its share, and
 * few shards move when a node comes or goes.
 */
import { hash32 } from "./shard-map.ts";

/** The last answer. Every owner asks twice a second, and the nodes change rarely. */
let last: { readonly key: string; readonly owners: readonly string[] } = { key: "", owners: [] };

/**
 * The owner of each shard, by shard number. Nodes get `shards / nodes` each, rounded down or up. The same nodes give
 * the same assignment, whatever their order; the answer is the same object as long as the nodes stay. Source: Thaler and Ravishankar 1998, with bounded loads.
 */
export function assignShards(nodes: readonly string[], shards: number): readonly string[] {
  if (nodes.length === 0) return [];
  const sorted = [...nodes].toSorted();
  const key = JSON.stringify([shards, ...sorted]);
  if (last.key !== key) last = { key, owners: computeOwners(sorted, shards) };
  return last.owners;
}

function computeOwners(sorted: readonly string[], shards: number): readonly string[] {
  const floor = Math.floor(shards / sorted.length);
  let roundedUp = shards % sorted.length;
  const loads = new Map(sorted.map((node) => [node, 0]));
  return Array.from({ length: shards }, (_, shard) => {
    const ranked = sorted
      .map((node) => ({ node, score: hash32(`${node}/${shard}`) }))
      .toSorted((a, b) => b.score - a.score || (a.node < b.node ? -1 : 1));
    const { node } = ranked.find((candidate) => loads.get(candidate.node)! < floor + (roundedUp > 0 ? 1 : 0))!;
    const load = loads.get(node)! + 1;
    loads.set(node, load);
    if (load > floor) roundedUp--;
    return node;
  });
}

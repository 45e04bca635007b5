/**
 * The shard of each root. Stored data relies on this map: with another map, no node would find the runs that are
 * stored.
 */

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The shard of a root, 0 to `shards - 1`; the same on every node and in every release. */
export function shardOf(rootId: string, shards: number): number {
  return hash32(rootId) % shards;
}

/** FNV-1a over UTF-16 units, then Murmur's finalizer, since the low bits of FNV alone follow the last characters. */
export function hash32(text: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

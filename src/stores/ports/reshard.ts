/** The port that moves every record to the shard that a new map gives to its root. */

/** How many records of each kind were moved. A record that is in its shard already does not count. */
export interface Moved {
  readonly aggregates: number;
  readonly commands: number;
  readonly deadLetters: number;
}

/**
 * Moves the records of all roots to the shards that `shardOf` gives, and lets the next owner of each shard from 0 to
 * `shards - 1` write everything to Redis again. It holds a bounded number of records in memory. A repeat finishes a move
 * that was cut off. No node may use the store meanwhile.
 */
export type Reshard = (shards: number, shardOf: (rootId: string) => number) => Promise<Moved>;

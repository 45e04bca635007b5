/**
 * The port of shards: their epochs, the Redis that their last owner saw, and the settings that all nodes of a
 * deployment share.
 */

/**
 * The Redis that an owner of a shard works on: the generation key that the nodes wrote to it, and the server's own
 * `run_id`.
 */
export interface RedisIdentity {
  readonly generation: string;
  readonly redisRunId: string;
}

export interface TakenEpoch {
  readonly epoch: number;
  /** What the previous owner recorded; null when no owner has recorded anything. */
  readonly previous: RedisIdentity | null;
}

export interface ShardStore {
  /** Issues the shard's next epoch: above all before, from 1, and at least `least`. No epoch is issued twice. */
  takeEpoch(shard: number, least?: number): Promise<TakenEpoch>;
  /**
   * Issues the next epoch of each of the shards, as `takeEpoch` does. The number of calls to the database does not grow
   * with the number of shards, unless others take epochs of them at the same time. The shards are distinct.
   */
  takeEpochs(shards: readonly number[], least?: number): Promise<ReadonlyMap<number, TakenEpoch>>;
  /** Records the Redis that the owner with `epoch` works on. Changes nothing when a later epoch has been issued. */
  recordRedis(shard: number, epoch: number, identity: RedisIdentity): Promise<void>;
  /**
   * Those of `shards` with work for their owner: an unanswered command, an aggregate that owes effects, or one whose
   * `nextDueAt` is at or before `dueAt`. The cost of the call grows with the shards, not with what is stored.
   */
  withWork(shards: readonly number[], dueAt: number): Promise<ReadonlySet<number>>;
  /** The newest epoch of each shard that ever had an owner. */
  epochs(): Promise<ReadonlyMap<number, number>>;
  /**
   * Stores the setting unless it is stored already; answers the stored value. Another value than `value` means that
   * this node is configured differently from the first node of the deployment.
   */
  fixSetting(name: string, value: string): Promise<string>;
  /** The stored value; undefined for a setting that was never stored. */
  readSetting(name: string): Promise<string | undefined>;
  /** Replaces the value `from` by `to`; false, and no change, when the stored value is another one. */
  swapSetting(name: string, from: string, to: string): Promise<boolean>;
  /** Raises a numeric setting to `least` when it is lower or missing; answers the stored value, which never falls. */
  raiseSetting(name: string, least: number): Promise<number>;
}

/** What the store knows of shards: epochs, the Redis that the last owner saw, and the deployment's fixed settings. */

/** Which Redis an owner worked on: a generation key that it wrote and the server's own `run_id`. */
export interface RedisIdentity {
  readonly generation: string;
  readonly redisRunId: string;
}

export interface ShardStore {
  /** Issues the shard's next epoch (from 1; never twice) and answers what the previous owner recorded, or null. */
  takeEpoch(shard: number): Promise<{ readonly epoch: number; readonly previous: RedisIdentity | null }>;
  /** Records the Redis that the owner with `epoch` works on; ignored when a later epoch has been issued. */
  recordRedis(shard: number, epoch: number, identity: RedisIdentity): Promise<void>;
  /** The newest epoch of each shard that ever had an owner. */
  epochs(): Promise<ReadonlyMap<number, number>>;
  /** Stores the setting on first use; answers the stored value, which is another one when deployments differ. */
  fixSetting(name: string, value: string): Promise<string>;
  /** Raises a setting that is a number to `least`, unless it is there already; answers the stored value, which never falls. */
  raiseSetting(name: string, least: number): Promise<number>;
}

/** The parts that the three processes of the floor share: two queues, and the channels for the ends of their jobs. */
import type { JobsOptions, QueueOptions, WorkerOptions } from "bullmq";
import { Redis } from "ioredis";
import type { RedisAddress } from "../../src/redis/connect.ts";
import { STEPS_AT_ONCE } from "../measure/workloads.ts";

/** The environment variable that passes the server's address, as JSON, to the two programs. */
const ADDRESS = "FLOOR_REDIS";

export function addressToEnv(address: RedisAddress): Readonly<Record<string, string>> {
  return { [ADDRESS]: JSON.stringify(address) };
}

export function addressFromEnv(): RedisAddress {
  return JSON.parse(process.env[ADDRESS]!) as RedisAddress;
}

export const RUNS = "parent";
export const STEPS = "child";

const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 };

export function connect(address: RedisAddress): Redis {
  return new Redis({ ...address, maxRetriesPerRequest: null });
}

export function queueOptions(connection: Redis): QueueOptions {
  return {
    connection,
    defaultJobOptions: JOB_OPTIONS,
    skipVersionCheck: true,
    skipMetasUpdate: true,
    streams: { events: { maxLen: 100 } },
  };
}

/** A worker takes as many jobs at a time as runs are in flight, which is also the limit of running steps. */
export function workerOptions(connection: Redis): WorkerOptions {
  return { connection, concurrency: STEPS_AT_ONCE, skipVersionCheck: true };
}

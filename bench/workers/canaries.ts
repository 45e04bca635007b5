/**
 * Canaries of the benchmark: empty envelopes in the mailboxes of shards. One that is gone shows that an owner has opened
 * the shard and reads its mailbox; a lease alone shows only that an owner wants to.
 */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { ENVELOPE_SCHEMA } from "../../queues/envelope.ts";
import { CANARY, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { until } from "../../test/support/until.ts";

/** Puts a canary into each mailbox. Resolves when an owner has taken every one. */
export async function canariesTaken(redis: Redis, shards: readonly number[], withinMs: number): Promise<void> {
  const queues = shards.map((shard) => new Queue(mailboxName(shard), mailboxOptions(redis, shard)));
  try {
    const jobs = await Promise.all(queues.map((queue) => queue.add(CANARY, { schema: ENVELOPE_SCHEMA, letters: [] })));
    const keys = jobs.map((job, at) => queues[at]!.toKey(job.id!));
    await until("every canary is taken", async () => (await redis.exists(...keys)) === 0, withinMs);
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
}

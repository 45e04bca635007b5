import { Queue } from "bullmq";
import { expect } from "chai";
import type { Envelope } from "../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { JointReader } from "../../queues/joint-reader.ts";
import { MailboxReader } from "../../queues/mailbox-reader.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";

const SHARD = 0;
const ROUNDS = 60;
const ENVELOPES = 6;

describe("the reader of a mailbox", () => {
  it("leaves no envelope active when it is closed during its work", async function () {
    this.timeout(40_000);
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "consumer", log: silentLog });
    const queue = new Queue<Envelope>(mailboxName(SHARD), mailboxOptions(client, SHARD));
    const blocking = connectRedis({ url: redis.url }, { role: "blocking", log: silentLog });
    const joint = new JointReader({ redis: client, blocking, nodeId: "only", onWord: () => {}, log: silentLog });
    const envelope: Envelope = { schema: 1, letters: [] };
    try {
      const left: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        let received = 0;
        for (let index = 0; index < ENVELOPES; index++) await queue.add(MESSAGES, envelope, { removeOnComplete: true });
        const enough = 1 + (round % ENVELOPES);
        const closed = new Promise<void>((resolve, reject) => {
          const receive = async (): Promise<void> => {
            // The reader fetches the next envelope while it settles this one.
            if (++received === enough) setImmediate(() => void reader.close().then(resolve, reject));
          };
          const reader = new MailboxReader({ shard: SHARD, queue, joint, receive, log: silentLog });
        });
        await closed;
        left.push(await queue.getActiveCount());
        await queue.drain();
      }
      expect(left).to.deep.equal(left.map(() => 0));
    } finally {
      joint.close();
      await queue.close();
      client.disconnect();
      await redis.stop();
    }
  });
});

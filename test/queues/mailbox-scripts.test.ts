import { readFile } from "node:fs/promises";
import { Job, Queue } from "bullmq";
import { expect } from "chai";
import type { Envelope } from "../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { MailboxInspection } from "../../queues/mailbox-inspection.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";

interface Backend {
  execCommand(client: unknown, name: string, args: unknown): unknown;
}

describe("the scripts of BullMQ that the program is made with", () => {
  it("are those behind the calls that mailboxes make", async () => {
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "consumer", log: silentLog });
    const other = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    const queue = new Queue<Envelope>(mailboxName(0), mailboxOptions(client, 0));
    const inspection = new MailboxInspection({ redis: other, shards: 1 });
    const backend = queue.getBackend();
    const called = new Set<string>();
    const prototype = Object.getPrototypeOf(backend) as Backend;
    const { execCommand } = prototype;
    prototype.execCommand = function (...args) {
      called.add(args[1]);
      return Reflect.apply(execCommand, this, args);
    };
    const envelope: Envelope = { schema: 1, letters: [] };
    const fetched = async (): Promise<Job<Envelope>> => {
      const [data, id] = await backend.moveToActive("0");
      return Job.fromJSON<Envelope>(queue, data, id!);
    };
    try {
      await queue.add(MESSAGES, envelope);
      await queue.add(MESSAGES, envelope, { delay: 60_000, jobId: "later" });
      await backend.moveJobFromActiveToWait((await fetched()).id!, "0");
      const unread = await fetched();
      await unread.moveToFailed(new Error("it cannot be read"), "0", false);
      expect(await inspection.retry(0, unread.id!)).to.equal(true);
      await (await fetched()).moveToCompleted(null as never, "0", false);
      await queue.retryJobs({ state: "failed" });
    } finally {
      prototype.execCommand = execCommand;
      await inspection.close();
      await queue.close();
      for (const connection of [client, other]) connection.disconnect();
      await redis.stop();
    }
    const listed = await readFile(new URL("../../scripts/mailbox-scripts.json", import.meta.url), "utf8");
    expect([...called].toSorted()).to.deep.equal(JSON.parse(listed));
  });
});

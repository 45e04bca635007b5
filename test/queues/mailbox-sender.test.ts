import { expect } from "chai";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describe("a mailbox sender", () => {
  it("that is first used while Redis is away sends once Redis is back", async function () {
    this.timeout(40_000);
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    const sender = new MailboxSender({ redis: client, shards: 1 });
    try {
      await client.ping();
      await redis.kill();
      const message = { rootId: "run_1", to: null, message: null };
      const trial = () => sender.sendAt(message, Date.now() + 60_000, "timer").then(() => "sent", String);
      const first = trial();
      await until("Redis does not answer", () =>
        client.ping().then(
          () => false,
          () => true,
        ),
      );
      await redis.restart();
      await first;
      expect(await until("a message is sent", async () => ((await trial()) === "sent" ? "sent" : undefined))).to.equal(
        "sent",
      );
    } finally {
      await sender.close();
      client.disconnect();
      await redis.stop();
    }
  });
});

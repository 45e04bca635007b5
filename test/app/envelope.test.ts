import { expect } from "chai";
import { publicError } from "../../src/app/envelope.ts";
import { connectRedis } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";

describe("the error that a user sees", () => {
  it("is unavailable while Redis cannot be reached, however long that lasts", async () => {
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    await client.ping();
    await redis.kill();
    const internal: unknown[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const refusal: unknown = await client.ping().catch((error: unknown) => error);
      expect(publicError(refusal, "", (error) => internal.push(error)).reason).to.equal("unavailable");
    }
    client.disconnect();
    const closed: unknown = await client.ping().catch((error: unknown) => error);
    expect(publicError(closed, "", (error) => internal.push(error)).reason).to.equal("unavailable");
    expect(internal).to.deep.equal([]);
    await redis.stop();
  });

  it("hides the text of an internal error, which goes to the log", () => {
    const internal: unknown[] = [];
    const cause = new Error("the secret is 42");
    const shown = publicError(cause, "tell an administrator", (error) => internal.push(error));
    expect(shown.reason).to.equal("internal");
    expect(shown.message).to.not.include("42");
    expect(internal).to.deep.equal([cause]);
  });
});

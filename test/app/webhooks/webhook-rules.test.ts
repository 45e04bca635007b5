import { expect } from "chai";
import {
  DELIVERY_MS,
  deliveryIdOf,
  matchesType,
  patternProblem,
  retryDelayMs,
  signedHeaders,
} from "../../../src/app/webhooks/webhook-rules.ts";

describe("patterns of event types", () => {
  it("match word by word; a `*` at the end matches all that follows", () => {
    for (const [pattern, type, expected] of [
      ["svc.pipeline.failed", "svc.pipeline.failed", true],
      ["svc.pipeline.failed", "svc.pipeline.failed.late", false],
      ["svc.pipeline.*", "svc.pipeline.failed", true],
      ["svc.pipeline.*", "svc.pipeline", false],
      ["svc.*", "svc.job.queued", true],
      ["*", "svc.job.queued", true],
      ["svc.*.failed", "svc.job.failed", true],
      ["svc.*.failed", "svc.job.queued", false],
      ["svc.*.failed", "svc.job.step.failed", false],
      ["svc.pipe*", "svc.pipeline", false],
    ] as const) {
      expect(matchesType(pattern, type), `${pattern} ${type}`).to.equal(expected);
    }
  });

  it("have words between dots", () => {
    for (const good of ["*", "svc.*", "my-svc.a_b.*"]) expect(patternProblem(good), good).to.equal(undefined);
    for (const bad of ["", ".", "svc.", "svc..a", "sv c", "a*", "**", "a.".repeat(10) + "a"])
      expect(patternProblem(bad), bad).to.be.a("string");
  });
});

describe("the signature of a delivery", () => {
  it("is that of Standard Webhooks", () => {
    // The example of the libraries at https://github.com/standard-webhooks/standard-webhooks.
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const headers = signedHeaders([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, '{"test": 2432232314}');
    expect(headers).to.deep.equal({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("is there once for each secret", () => {
    const one = signedHeaders(["a-secret"], "m", 1, "{}")["webhook-signature"]!;
    const other = signedHeaders(["whsec_AAAA"], "m", 1, "{}")["webhook-signature"]!;
    expect(signedHeaders(["a-secret", "whsec_AAAA"], "m", 1, "{}")["webhook-signature"]).to.equal(`${one} ${other}`);
    expect(signedHeaders([], "m", 1, "{}")).not.to.have.property("webhook-signature");
  });
});

describe("the tries of a delivery", () => {
  it("come at growing intervals, at least every five hours, and there are some dozen in three days", () => {
    const id = deliveryIdOf("whk_1", "run_1", "1");
    let sum = 0;
    let tries = 0;
    for (let before = 0; sum < DELIVERY_MS; tries++) {
      const delay = retryDelayMs(id, tries + 1);
      expect(delay).to.be.within(tries < 7 ? before : 0, 5 * 3_600_000);
      [before, sum] = [delay, sum + delay];
    }
    expect(tries).to.be.within(20, 30);
  });

  it("of two deliveries do not come at the same moments", () => {
    const delays = ["1", "2", "3"].map((number) => retryDelayMs(deliveryIdOf("whk_1", "run_1", number), 3));
    expect(new Set(delays)).to.have.property("size", 3);
  });
});

/** Deliveries whose edge or worker dies at any of its calls of the store, beside a worker that goes on. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import { hookToCall, receiveDelivery } from "../../src/app/hooks/receive.ts";
import type { HookId } from "../../src/domain/ids.ts";
import { dyingAt, withEveryDeath } from "../support/dying-stores.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const SECRET = "swordfish-and-more";
const LATER_MS = 10_000;

describe("a delivery", () => {
  let edge: TestEdge;
  let hookId: HookId;
  let pipelineId: string;
  let sent = 0;
  before(async () => {
    edge = await openTestEdge();
    const call = async (method: string, path: string, body?: unknown) =>
      (await edge.call(method, `/api/v1${path}`, { body })).body.detail;
    await call("POST", "/projects/default/secrets", { name: "HOOK_KEY", value: SECRET });
    ({ pipelineId } = await call("POST", "/pipelines", { name: "p" }));
    const event = ["first", "second"].map((name) => ({ name, provider: "generic", event: "push" }));
    const jobs = [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }];
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { triggers: { event }, jobs } });
    const given = { name: "code", kind: "generic", secret: "HOOK_KEY", perMinute: 20_000 };
    ({ hookId } = await call("POST", "/projects/default/hooks", given));
  });
  after(() => edge.close());

  const shards = () => Array.from({ length: edge.context.shards }, (_, shard) => shard);
  const runnerOn = (context: TestEdge["context"]) => new HookRunner(context, shards);
  function deliveryOf(sha: string) {
    const body = Buffer.from(JSON.stringify({ event: "push", ref: "refs/heads/main", sha }));
    const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
    return { headers: { "idempotency-key": sha, "x-hub-signature-256": signature }, body };
  }
  const receive = async (context: TestEdge["context"], sha: string) =>
    receiveDelivery(context, await hookToCall(context, hookId), deliveryOf(sha));

  /** The triggers of the runs of a change, sorted. */
  async function startedBy(sha: string): Promise<readonly string[]> {
    const { list } = await edge.context.stores.aggregates.findRuns({ pipelineId: pipelineId as never }, { limit: 2 });
    const events = list.map(({ origin }) => origin.trigger.event!).filter((event) => event.sha === sha);
    return events.map(({ trigger }) => trigger).toSorted();
  }

  it("starts one run of each trigger, whichever call its edge dies at, when its sender repeats it", async () => {
    const calls = await withEveryDeath(async (death) => {
      const sha = `${++sent}`.padStart(40, "a");
      const { stores, isDead } = dyingAt(edge.context.stores, death);
      const answer = await receive({ ...edge.context, stores }, sha).catch(() => undefined);
      // The sender has no answer, so it sends the delivery again.
      if (answer === undefined) await receive(edge.context, sha);
      await runnerOn(edge.context).pass();
      expect(await startedBy(sha), JSON.stringify(death)).to.deep.equal(["first", "second"]);
      return isDead();
    });
    expect(calls, "calls of an edge").to.be.at.least(3);
  }).timeout(60_000);

  it("starts one run of each trigger, whichever call its worker dies at, also beside one that was taken for dead", async () => {
    const calls = await withEveryDeath(async (death) => {
      const sha = `${++sent}`.padStart(40, "b");
      const { deliveryId } = await receive(edge.context, sha);
      const { stores, isDead } = dyingAt(edge.context.stores, death);
      await runnerOn({ ...edge.context, stores })
        .pass()
        .catch(() => {});
      // A delivery whose failure was stored is due a moment later.
      edge.skewMs += LATER_MS;
      await Promise.all([runnerOn(edge.context).pass(), runnerOn(edge.context).pass()]);
      edge.skewMs += LATER_MS;
      await runnerOn(edge.context).pass();
      expect(await startedBy(sha), JSON.stringify(death)).to.deep.equal(["first", "second"]);
      const stored = await edge.context.stores.hooks.findDelivery(deliveryId);
      expect(stored?.state, JSON.stringify(death)).to.equal("done");
      const told = await receive(edge.context, sha);
      expect(told.duplicate).to.equal(true);
      expect(told.runs).to.have.length(2);
      return isDead();
    });
    expect(calls, "calls of a worker").to.be.at.least(15);
  }).timeout(120_000);
});

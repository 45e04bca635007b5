/**
 * `npm run bench:hooks -- [DELIVERIES]`: how long signed deliveries of one hook wait for their answers, and the processor time
 * that one takes, received and processed. By default 10,000, ten at a time, to SQLite. The first half starts a run each, the second half
 * nothing. Fails when a delivery is not stored once, has not exactly the run that it has to have, or is answered with another one when it comes again.
 */
import { createHmac, randomBytes } from "node:crypto";
import assert from "node:assert";
import { HookRunner } from "../src/app/hooks/hook-runner.ts";
import { runsOf } from "../src/app/hooks/receive.ts";
import { asId, type HookId } from "../src/domain/ids.ts";
import { openTestEdge } from "../test/support/edge.ts";
import { loadAverage } from "./machine.ts";

const SECRET = "a long random text";
const AT_ONCE = 10;
/** Deliveries that come again at the end. */
const REPEATED = 100;
const SKIPPED = "[skip ci]";
const count = Number(process.argv[2] ?? 10_000);

const edge = await openTestEdge();
try {
  const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
  const runner = new HookRunner(edge.context, () => shards);
  const call = async (path: string, body: object) =>
    (await edge.call("POST", `/api/v1${path}`, { body })).body.detail as Record<string, string>;
  await call("/projects/default/secrets", { name: "HOOK_KEY", value: SECRET });
  const { pipelineId } = await call("/pipelines", { name: "p" });
  const triggers = { event: [{ provider: "github", event: "push" }] };
  const jobs = [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }];
  await call(`/pipelines/${pipelineId}/spec/save`, { spec: { triggers, jobs } });
  const given = { name: "code", kind: "github", secret: "HOOK_KEY", perMinute: 20_000 };
  const { path, hookId } = await call("/projects/default/hooks", given);

  const pushOf = (message: string): string =>
    JSON.stringify({
      ref: "refs/heads/main",
      after: randomBytes(20).toString("hex"),
      repository: { full_name: "team/code" },
      head_commit: { message },
    });
  const send = async (id: string, raw: string) => {
    const headers = {
      "content-type": "application/json",
      "x-github-delivery": id,
      "x-github-event": "push",
      "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(raw).digest("hex")}`,
    };
    const { status, body } = await edge.call("POST", path!, { raw, headers, token: null });
    assert.equal(status, 200, "the status of an answer");
    return body.detail as {
      readonly deliveryId: string;
      readonly duplicate: boolean;
      readonly runs: readonly string[];
    };
  };
  const deliver = async (id: string, message: string): Promise<number> => {
    const raw = pushOf(message);
    const begin = performance.now();
    const { duplicate } = await send(id, raw);
    assert.equal(duplicate, false, `the delivery ${id} was never sent before`);
    return performance.now() - begin;
  };
  /** Compares what is stored with what was sent: `runs` of the deliveries whose ids begin with `what` have started one. */
  const check = async (what: string, sent: number, runs: number): Promise<void> => {
    const { hooks, aggregates } = edge.context.stores;
    const all = await hooks.someDeliveries({ hookId: asId<HookId>(hookId!) }, 10 * count);
    const stored = all.filter(({ senderId }) => senderId.startsWith(what));
    assert.equal(new Set(stored.map(({ senderId }) => senderId)).size, sent, "every delivery is stored");
    assert.equal(stored.length, sent, "every delivery is stored once");
    assert.deepEqual([...new Set(stored.map(({ state }) => state))], ["done"], "every delivery is processed");
    const started = stored.flatMap((delivery) => runsOf(delivery));
    assert.equal(new Set(started).size, runs, "every delivery has started its own run");
    for (const runId of started) assert.ok(await aggregates.loadHead(runId), `the run ${runId} is stored`);
    for (const delivery of stored.slice(0, REPEATED)) {
      const again = await send(delivery.senderId, pushOf("Mend it"));
      const { deliveryId } = delivery;
      assert.deepEqual(
        { ...again, state: undefined },
        { deliveryId, duplicate: true, runs: [...runsOf(delivery)], state: undefined },
      );
    }
  };
  for (const [what, message] of [
    ["that start a run", "Mend it"],
    ["that start nothing", SKIPPED],
  ] as const) {
    const before = process.cpuUsage();
    const begin = performance.now();
    const waited: number[] = [];
    for (let first = 0; first < count / 2; first += AT_ONCE) {
      const ids = Array.from({ length: AT_ONCE }, (_, at) => `${what} ${first + at}`);
      waited.push(...(await Promise.all(ids.map((id) => deliver(id, message)))));
    }
    const receiving = process.cpuUsage(before);
    const received = performance.now();
    await runner.pass();
    const whole = process.cpuUsage(before);
    const perDelivery = ({ user, system }: NodeJS.CpuUsage) => ((user + system) / 1_000 / waited.length).toFixed(2);
    const sorted = waited.toSorted((a, b) => a - b);
    const at = (share: number) => `${sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(1)} ms`;
    process.stdout.write(
      `${waited.length} deliveries ${what}: answered in ${at(0.5)} (median), ${at(0.99)} (99 %), ${at(1)} (longest); ` +
        `received in ${((received - begin) / 1_000).toFixed(1)} s, processed in ${((performance.now() - received) / 1_000).toFixed(1)} s; ` +
        `CPU of one ${perDelivery(receiving)} ms received, ${perDelivery(whole)} ms in all\n`,
    );
    await check(what, waited.length, message === SKIPPED ? 0 : waited.length);
  }
  process.stdout.write(`load ${loadAverage()}\n`);
} finally {
  await edge.close();
}

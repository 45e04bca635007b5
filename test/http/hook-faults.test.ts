/** Deliveries that are large, many or unlucky. No worker runs: the test lets the runner of hooks look at the store. */
import { createHmac, randomBytes } from "node:crypto";
import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import { MAX_BODY_BYTES, runsOf as runsOfDelivery } from "../../src/app/hooks/receive.ts";
import { HookEdge } from "../../src/http/routes/open-hook-routes.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { GRANT, saveTurn } from "../support/stored-runs.ts";

const SECRET = "swordfish-and-more";
const DAY_MS = 86_400_000;

describe("deliveries of hooks over HTTP", () => {
  let edge: TestEdge;
  let runner: HookRunner;
  let shards: readonly number[];
  before(async () => {
    edge = await openTestEdge();
    shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    runner = new HookRunner(edge.context, () => shards);
  });
  after(() => edge.close());

  async function call(method: string, path: string, body?: unknown) {
    const answer = await edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  async function hooked(events: readonly string[], fields: object = {}, env: object = {}) {
    const { projectId } = await call("POST", "/projects", { name: `hooked ${made++}` });
    await call("POST", `/projects/${projectId}/secrets`, { name: "HOOK_KEY", value: SECRET });
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const triggers = { event: events.map((event) => ({ provider: "github", event })) };
    const jobs = [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }];
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { triggers, env, jobs } });
    const given = { name: "code", kind: "github", secret: "HOOK_KEY", ...fields };
    const hook = await call("POST", `/projects/${projectId}/hooks`, given);
    return { pipelineId, hook, path: `/projects/${projectId}/hooks/${hook.hookId}` };
  }
  type Hooked = Awaited<ReturnType<typeof hooked>>;
  const post = ({ hook }: Hooked, body: string, id: string, event = "push") =>
    edge.call("POST", hook.path, {
      raw: body,
      token: null,
      headers: {
        "content-type": "application/json",
        "x-github-delivery": id,
        "x-github-event": event,
        "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
      },
    });
  const push = (fields: object = {}) =>
    JSON.stringify({
      ref: "refs/heads/main",
      before: "a".repeat(40),
      after: randomBytes(20).toString("hex"),
      repository: { full_name: "team/code" },
      sender: { login: "ann" },
      ...fields,
    });
  /** A push whose body has so many bytes. */
  const pushOf = (bytes: number): string => {
    const empty = push({ padding: "" });
    return empty.replace(`"padding":""`, `"padding":"${"x".repeat(bytes - empty.length)}"`);
  };
  const runsOf = async ({ pipelineId }: Hooked) =>
    (await call("GET", `/pipelines/${pipelineId}/runs`)).list as { runId: RunId; trigger: never }[];
  const deliveriesOf = async ({ path }: Hooked) =>
    (await call("GET", `${path}/deliveries`)).list as { deliveryId: string; state: string; error: string }[];
  const verdictsOf = async ({ path }: Hooked, deliveryId: string) =>
    (await call("GET", `${path}/deliveries/${deliveryId}`)).verdicts as Record<string, string>[];

  it("have up to 25 MB, of which a run reads the fields alone", async () => {
    const of = await hooked(["push"], {}, { SAID: "${{ trigger.payload.reduced }} ${{ trigger.payload.actor }}" });
    const largest = pushOf(MAX_BODY_BYTES);
    expect(Buffer.byteLength(largest)).to.equal(MAX_BODY_BYTES);
    expect((await post(of, largest, "d-1")).body.detail).to.deep.include({ state: "owed", duplicate: false });
    const larger = await post(of, pushOf(MAX_BODY_BYTES + 1), "d-2");
    expect(larger.body).to.include({ code: 413 });
    await runner.pass();
    const [run, ...others] = await runsOf(of);
    expect(others).to.deep.equal([]);
    const job = (await edge.context.stores.plans.loadJob(run!.runId, 0))!;
    expect(job.env).to.deep.include(["SAID", "true ann"]);
    const [delivery] = await deliveriesOf(of);
    const shown = await call("GET", `${of.path}/deliveries/${delivery!.deliveryId}`);
    expect(shown).to.deep.include({ bytes: MAX_BODY_BYTES, body: largest.slice(0, 16_384) });
    expect((await post(of, largest, "d-1")).body.detail).to.deep.include({ duplicate: true, runs: [run!.runId] });
  }).timeout(60_000);

  it("are answered 503 while the store is away, and are taken as a whole when they come again", async () => {
    const of = await hooked(["push"]);
    const { hooks, blobs } = edge.context.stores;
    const { take } = hooks;
    const { put } = blobs;
    const away = () => Promise.reject(new MillraceError("unavailable", "the store is away"));
    const body = push();
    try {
      hooks.take = away;
      const refused = await post(of, body, "d-1");
      expect(refused.body).to.include({ code: 503, reason: "unavailable" });
      expect(Number(refused.headers.get("retry-after"))).to.be.greaterThan(0);
      expect(await deliveriesOf(of)).to.deep.equal([]);
      // It is stored, and the sender does not hear of it.
      hooks.take = async (...given) => take.apply(hooks, given).then(away);
      expect((await post(of, body, "d-1")).body.code).to.equal(503);
    } finally {
      hooks.take = take;
    }
    expect((await post(of, body, "d-1")).body.detail).to.include({ duplicate: true });
    const large = pushOf(3 * 1024 * 1024);
    let pieces = 0;
    try {
      blobs.put = (...given) => (pieces++ < 1 ? put.apply(blobs, given) : away());
      expect((await post(of, large, "d-2")).body.code).to.equal(503);
    } finally {
      blobs.put = put;
    }
    expect(pieces, "the body has several pieces").to.be.greaterThan(1);
    await runner.pass();
    expect((await deliveriesOf(of)).map(({ state }) => state)).to.deep.equal(["arriving", "done"]);
    expect(await runsOf(of)).to.have.length(1);
    expect((await post(of, pushOf(3 * 1024 * 1024), "d-2")).body.errMsg).to.match(/another body is arriving/);
    expect((await post(of, large, "d-2")).body.detail).to.include({ state: "owed" });
    await runner.pass();
    expect(await runsOf(of)).to.have.length(2);
  }).timeout(30_000);

  it("are limited for each hook", async () => {
    const of = await hooked(["push"], { perMinute: 3 });
    const other = await hooked(["push"]);
    const codes = [];
    for (let count = 0; count < 5; count++) codes.push((await post(of, push(), `d-${count}`)).status);
    expect(codes).to.deep.equal([200, 200, 200, 429, 429]);
    const refused = await post(of, push(), "d-9");
    expect(refused.body.errMsg).to.match(/the hook takes 3 deliveries a minute: wait \d+ s/);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
    expect((await post(other, push(), "d-1")).status).to.equal(200);
    expect(await deliveriesOf(of)).to.have.length(3);
  });

  it("start nothing with a skip word, for a removed branch, and with a body that is no object", async () => {
    const of = await hooked(["push", "tag", "pull_request"]);
    const skipped = ["[skip ci]", "[CI skip]", "[no ci]", "[skip millrace]"];
    const ids: string[] = [];
    for (const word of skipped) {
      const body = push({ head_commit: { message: `Mend it ${word}` } });
      ids.push((await post(of, body, word)).body.detail.deliveryId);
    }
    const zeros = "0".repeat(40);
    const removed = push({ after: zeros, deleted: true });
    const tag = push({ ref: "refs/tags/v1", after: zeros, deleted: true });
    for (const body of [removed, tag]) ids.push((await post(of, body, `gone ${ids.length}`)).body.detail.deliveryId);
    await post(of, "[1]", "list");
    await runner.pass();
    expect(await runsOf(of)).to.deep.equal([]);
    const texts = await Promise.all(ids.map((id) => verdictsOf(of, id)));
    expect(texts.slice(0, 4).map(([one]) => one!["text"])).to.deep.equal(
      skipped.map((word) => `skipped: the message has ${word}`),
    );
    expect(texts[4]![0]!["text"]).to.equal("deletion: main was removed, which starts nothing");
    expect(texts[5]![1]!["text"]).to.equal("deletion: v1 was removed, which starts nothing");
    const [list] = await deliveriesOf(of);
    expect(list).to.include({ state: "failed", error: "the body is no JSON object" });
  });

  it("of a fork make runs without trust, and so do reruns", async () => {
    const of = await hooked(["pull_request"]);
    const side = (full_name: string) => ({ ref: "main", sha: "b".repeat(40), repo: { full_name } });
    const body = push({
      action: "opened",
      pull_request: { number: 5, title: "Look", head: side("mallory/code"), base: side("team/code") },
    });
    await post(of, body, "d-1", "pull_request");
    await runner.pass();
    const [run] = await runsOf(of);
    const read = async (runId: RunId) => (await call("GET", `/pipelines/runs/${runId}`)).trigger.event;
    expect(await read(run!.runId)).to.deep.include({ sha: "b".repeat(40), untrusted: true });
    const { actors } = (await edge.context.stores.aggregates.load(run!.runId))!;
    const { jobId } = actors.find(({ kind }) => kind === "job")!.state as JobState;
    const { stepRunId } = actors.find(({ kind }) => kind === "step")!.state as StepState;
    const ended = { state: "failed", endedAt: 3_000, queuedAt: 1_000, startedAt: 2_000, grant: GRANT } as const;
    const stored = { runId: run!.runId, pipelineId: of.pipelineId, jobIds: [jobId], stepIds: [[stepRunId]] };
    await saveTurn(edge.context, stored, {
      run: { state: "failed", endedAt: 3_000 },
      jobs: [{ jobId, ...ended }],
      steps: [{ stepRunId, ...ended }],
    });
    const again = await call("POST", `/pipelines/${of.pipelineId}/runs/${run!.runId}/rerun`, { scope: "all" });
    expect(again.runId).not.to.equal(run!.runId);
    expect(await read(again.runId)).to.deep.include({ sha: "b".repeat(40), untrusted: true });
  });

  it("come in a burst: each is answered soon, starts what it has to once, and few are in memory", async () => {
    const of = await hooked(["push"], { perMinute: 20_000 }, {});
    const { hooks } = edge.context.stores;
    let [mostRead, bodies, mostBodies] = [0, 0, 0];
    const watched: typeof hooks = {
      ...hooks,
      async due(...given) {
        const found = await hooks.due(...given);
        mostRead = Math.max(mostRead, found.length);
        return found;
      },
      async bodyOf(deliveryId) {
        mostBodies = Math.max(mostBodies, ++bodies);
        return hooks.bodyOf(deliveryId).finally(() => bodies--);
      },
    };
    const burstRunner = new HookRunner(
      { ...edge.context, stores: { ...edge.context.stores, hooks: watched } },
      () => shards,
    );
    /** Every twentieth delivery starts a run, and comes twice at the same time; the others start nothing. */
    const burst = async (count: number, name: string) => {
      const begun = process.cpuUsage();
      const sent = Array.from({ length: count }, (_, at) => {
        const isStarting = at % 20 === 0;
        const body = push({ head_commit: { message: isStarting ? "Mend it" : "[skip ci]" } });
        return { id: `${name}-${at}`, body, times: isStarting ? 2 : 1 };
      });
      const send = async (id: string, body: string) => {
        const { status, body: answer } = await post(of, body, id);
        expect(status).to.equal(200);
        return answer.detail as { deliveryId: string; duplicate: boolean; runs: readonly RunId[] };
      };
      for (let first = 0; first < count; first += 10) {
        const some = sent.slice(first, first + 10).flatMap(({ times, ...one }) => Array<typeof one>(times).fill(one));
        await Promise.all(some.map(({ id, body }) => send(id, body)));
      }
      const ofDelivery = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000 / count;
      const receivedMs = ofDelivery(process.cpuUsage(begun));
      await burstRunner.pass();
      return { send, receivedMs, cpuMs: ofDelivery(process.cpuUsage(begun)) };
    };
    await burst(40, "warm");
    const few = await burst(60, "few");
    const { send, ...many } = await burst(200, "many");
    // Ten come at a time, and each is answered within 100 ms where a core is free.
    expect(many.receivedMs * 10, "milliseconds to the answer").to.be.lessThan(100);
    // 10,000 deliveries in a minute leave 6 ms of one core for each.
    expect(many.cpuMs, `CPU of a delivery, ${few.cpuMs} ms when there were few`).to.be.lessThan(few.cpuMs * 2 + 1);
    expect(mostRead, "deliveries that the runner has read at once").to.be.within(1, 50);
    expect(mostBodies, "bodies that it has read at once").to.equal(1);
    const stored = await hooks.someDeliveries({ hookId: of.hook.hookId }, 1_000);
    expect(stored.map(({ senderId }) => senderId)).to.have.lengthOf(300);
    expect(new Set(stored.map(({ senderId }) => senderId)).size, "one record for each id").to.equal(300);
    expect(stored.filter(({ state, verdicts }) => state !== "done" || verdicts?.length !== 1)).to.deep.equal([]);
    const runs = stored.flatMap((delivery) => runsOfDelivery(delivery));
    expect(new Set(runs).size, "one run for each that starts one").to.equal(15);
    const { list } = await call("GET", `/pipelines/${of.pipelineId}/runs?pageSize=100`);
    expect(list.map(({ runId }: { runId: RunId }) => runId)).to.have.members(runs);
    for (const first of stored.slice(0, 40)) {
      const repeated = await send(first.senderId, push());
      expect(repeated).to.include({ deliveryId: first.deliveryId, duplicate: true });
      expect(repeated.runs).to.deep.equal(runsOfDelivery(first));
    }
  }).timeout(60_000);

  it("hold a bounded number of bytes in the memory of an edge", async () => {
    const hookEdge = new HookEdge(edge.context);
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const held = Array.from({ length: 8 }, () => hookEdge.holding(String(MAX_BODY_BYTES), () => finished));
    const refused = await hookEdge.holding("1", () => Promise.resolve()).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(MillraceError).and.to.include({ reason: "unavailable" });
    finish();
    await Promise.all(held);
    expect(await hookEdge.holding("", () => Promise.resolve("taken"))).to.equal("taken");
  });

  it("are removed when their time is over, those of runs with the runs", async () => {
    const of = await hooked(["push"]);
    const ids: string[] = [];
    for (const [id, body] of [
      ["run", push()],
      ["other", push({ head_commit: { message: "[skip ci]" } })],
      ["large", pushOf(300 * 1024).replace("refs/heads/main", "refs/heads/skip")],
    ] as const) {
      ids.push((await post(of, body, id, id === "large" ? "star" : "push")).body.detail.deliveryId);
    }
    await runner.pass();
    const [run] = await runsOf(of);
    const left = async () => (await deliveriesOf(of)).map(({ deliveryId }) => ids.indexOf(deliveryId));
    const later = async (days: number) => {
      edge.skewMs += days * DAY_MS;
      await new HookRunner(edge.context, () => shards).pass();
    };
    await later(0.9);
    expect(await left()).to.have.members([0, 1, 2]);
    await later(0.2);
    expect(await left()).to.have.members([0, 1]);
    expect(await edge.context.stores.blobs.read(ids[2]!, 0, 10).catch(() => Buffer.alloc(0))).to.have.length(0);
    await later(7);
    expect(await left()).to.deep.equal([0]);
    await later(31);
    expect(await left()).to.deep.equal([0]);
    await edge.context.stores.removeRun({ runId: run!.runId, jobIds: [], stepRunIds: [], approvalIds: [] });
    await later(2);
    expect(await left()).to.deep.equal([]);
    edge.skewMs = 0;
  });
});

/** Inbound hooks over HTTP. No worker runs: the test lets the runner of hooks look at the store. */
import { createHmac, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { expect } from "chai";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

interface Example {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of another system
  readonly examples: readonly any[];
}
const EXAMPLES = createRequire(import.meta.url)("@octokit/webhooks-examples") as readonly Example[];
const SECRET = "swordfish-and-more";
const JOBS = [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }];
const PUSH = { provider: "github", event: "push", branches: ["release/*"] };

describe("hooks over HTTP", () => {
  let edge: TestEdge;
  let runner: HookRunner;
  before(async () => {
    edge = await openTestEdge();
    runner = newRunner();
  });
  after(() => edge.close());
  beforeEach(() => void (edge.skewMs = 0));

  function newRunner(context = edge.context): HookRunner {
    const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    return new HookRunner(context, () => shards);
  }
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    edge.call(method, `/api/v1${path}`, { ...(body === undefined ? {} : { body }), ...(headers && { headers }) });
  async function call(method: string, path: string, body?: unknown) {
    const answer = await send(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  /** A project with a secret, a hook, and a pipeline that has these event triggers. */
  async function newHook(triggers: readonly object[], fields: object = {}, spec: object = {}) {
    const { projectId } = await call("POST", "/projects", { name: `hooked ${made++}` });
    await call("POST", `/projects/${projectId}/secrets`, { name: "HOOK_KEY", value: SECRET });
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    await call("POST", `/pipelines/${pipelineId}/spec/save`, {
      spec: { triggers: { event: triggers }, jobs: JOBS, ...spec },
    });
    const given = { name: "code", kind: "github", secret: "HOOK_KEY", ...fields };
    const hook = await call("POST", `/projects/${projectId}/hooks`, given);
    const path = `/projects/${projectId}/hooks/${hook.hookId}`;
    return { projectId, pipelineId, hook, path };
  }
  const signed = (body: string, id: string, event: string, secret = SECRET) => ({
    "content-type": "application/json",
    "x-github-delivery": id,
    "x-github-event": event,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  });
  const post = (hook: { path: string }, raw: string | Uint8Array, headers: Record<string, string>) =>
    edge.call("POST", hook.path, { raw, headers, token: null });
  const push = (branch: string, sha: string, fields: object = {}) =>
    JSON.stringify({
      ref: `refs/heads/${branch}`,
      before: "a".repeat(40),
      after: sha,
      repository: { full_name: "team/code" },
      sender: { login: "octocat" },
      head_commit: { message: "Mend it" },
      ...fields,
    });
  const newSha = () => randomBytes(20).toString("hex");
  const runsOf = async (pipelineId: string) =>
    (await call("GET", `/pipelines/${pipelineId}/runs`)).list as { runId: RunId; trigger: Record<string, never> }[];
  const verdicts = async (path: string) => {
    const { list } = await call("GET", `${path}/deliveries`);
    return (await call("GET", `${path}/deliveries/${list[0].deliveryId}`)).verdicts as Record<string, unknown>[];
  };

  it("are made, read, changed, listed and deleted, and recorded", async () => {
    const { projectId, hook, path } = await newHook([PUSH]);
    expect(hook).to.include({ kind: "github", proof: "signature", secret: "HOOK_KEY", enabled: true, perMinute: 600 });
    expect(hook.path).to.equal(`/api/v1/hooks/${hook.hookId}`);
    const read = await send("GET", path);
    expect(read.body.detail).to.deep.equal(hook);
    expect((await call("GET", `/projects/${projectId}/hooks`)).list).to.deep.equal([hook]);
    const create = (fields: object) =>
      send("POST", `/projects/${projectId}/hooks`, { name: "other", kind: "github", secret: "HOOK_KEY", ...fields });
    const refusals: readonly (readonly [object, number, RegExp])[] = [
      [{ secret: undefined }, 400, /\/secret must name a secret.*or choose the proof `none`/],
      [{ secret: "GONE" }, 400, /\/secret the project has no secret GONE: create it first/],
      [{ proof: "token" }, 400, /\/proof a hook of the kind github takes `signature`, or `none`/],
      [{ proof: "none" }, 400, /\/secret a hook without proof has no secret/],
      [{ name: "code" }, 409, /has a hook "code" already/],
      [{ kind: "svn" }, 400, /\/kind/],
    ];
    for (const [fields, status, text] of refusals) {
      const answer = await create(fields);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(answer.body.errMsg).to.match(text);
    }
    const etag = read.headers.get("etag")!;
    const changed = await send("PATCH", path, { enabled: false, perMinute: 10 }, { "if-match": etag });
    expect(changed.body.detail).to.include({ enabled: false, perMinute: 10 });
    expect((await send("PATCH", path, { enabled: true }, { "if-match": etag })).status).to.equal(412);
    const body = push("release/1", newSha());
    expect((await post(hook, body, signed(body, "d", "push"))).body.errMsg).to.match(/disabled/);
    await call("DELETE", path);
    expect((await send("GET", path)).status).to.equal(404);
    expect((await post(hook, body, signed(body, "d", "push"))).status).to.equal(404);
    const { list } = await call("GET", `/audit?object=${hook.hookId}`);
    const operations = list.map(({ operation }: Record<string, string>) => operation);
    expect(operations.toReversed()).to.deep.equal(["createHook", "changeHook", "deleteHook"]);
  });

  it("say which header a delivery lacks that names no event", async () => {
    const { hook, path } = await newHook([PUSH]);
    const body = push("main", newSha());
    const { "x-github-event": _, ...headers } = signed(body, "d", "push");
    expect((await post(hook, body, headers)).status).to.equal(200);
    await runner.pass();
    const [{ state, error }] = (await call("GET", `${path}/deliveries`)).list;
    expect({ state, error }).to.deep.equal({
      state: "done",
      error: "the header x-github-event with the word for the event is missing: is the sender of the kind github?",
    });
  });

  it("start one run of each trigger that matches, and say why the others do not", async () => {
    const { pipelineId, hook, path } = await newHook([
      PUSH,
      { provider: "github", event: "push", name: "main", branches: ["main"], actors: ["octo*"] },
      { provider: "github", event: "tag" },
      { provider: "github", event: "push", secret: "OTHER" },
      { provider: "github", event: "push", when: "trigger.sha == 'x'" },
      { provider: "gitlab", event: "push" },
    ]);
    const sha = newSha();
    const body = push("main", sha);
    const answer = await post(hook, body, signed(body, "d-1", "push"));
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body.detail).to.deep.include({ state: "owed", duplicate: false, runs: [] });
    expect(await runsOf(pipelineId)).to.deep.equal([]);
    await runner.pass();
    const [run, ...others] = await runsOf(pipelineId);
    expect(others).to.deep.equal([]);
    const { deliveryId } = answer.body.detail;
    expect(run).to.deep.include({
      trigger: { kind: "event", ref: "main", event: { deliveryId, name: "main", sha, untrusted: false } },
      triggeredBy: "github:octocat",
      actor: "hook code",
    });
    const told = (await verdicts(path)).map(({ trigger, outcome, text, runId }) => ({ trigger, outcome, text, runId }));
    expect(told).to.deep.equal([
      {
        trigger: "1",
        outcome: "filtered",
        text: "branch filter: release/* does not match main",
        runId: null,
      },
      { trigger: "main", outcome: "matched", text: "matched", runId: run!.runId },
      { trigger: "3", outcome: "filtered", text: "event: tag is not push", runId: null },
      {
        trigger: "4",
        outcome: "filtered",
        text: "secret: the trigger asks for OTHER, and the hook has HOOK_KEY",
        runId: null,
      },
      { trigger: "5", outcome: "filtered", text: "when: trigger.sha == 'x' is not true", runId: null },
    ]);
    const shown = await call("GET", `${path}/deliveries/${deliveryId}`);
    expect(shown).to.deep.include({ state: "done", senderId: "d-1", body, error: "", runs: [run!.runId] });
    expect(shown.headers).to.include({ "x-github-event": "push", "x-hub-signature-256": "***" });
    const { list } = await call("GET", `/audit?object=${run!.runId}`);
    expect(list[0].actor).to.include({ kind: "operator", name: "hook code" });
  });

  it("refuse what its sender did not sign, and leave the id of the delivery unused", async () => {
    const { pipelineId, hook, path } = await newHook([{ provider: "github", event: "push" }]);
    const body = push("main", newSha());
    const good = signed(body, "d-1", "push");
    const { "x-hub-signature-256": _, ...unsigned } = good;
    const refused: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
      [body.replace("octocat", "mallory"), good, 401, /does not match the body and the secret/],
      [body, signed(body, "d-1", "push", "another secret"), 401, /does not match/],
      [body, unsigned, 401, /x-hub-signature-256 with the signature is missing/],
      [body, { ...unsigned, "x-hub-signature": "sha1=00", "x-gitlab-token": SECRET }, 401, /is missing/],
      [body, { ...good, "x-github-delivery": "" }, 400, /x-github-delivery must name the delivery/],
      [body, { ...good, "content-type": "application/x-www-form-urlencoded" }, 415, /application\/json/],
    ];
    for (const [raw, headers, status, text] of refused) {
      const answer = await post(hook, raw, headers);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(answer.body.errMsg).to.match(text).and.not.to.include(SECRET);
    }
    expect((await call("GET", `${path}/deliveries`)).list).to.deep.equal([]);
    expect((await post(hook, body, good)).body.detail.duplicate).to.equal(false);
    await runner.pass();
    expect(await runsOf(pipelineId)).to.have.length(1);
  });

  it("answer a repeat with the first run, and start nothing for the same change under another id", async () => {
    const { pipelineId, hook, path } = await newHook([{ provider: "github", event: "push" }]);
    const body = push("main", newSha());
    const both = await Promise.all([1, 2].map(() => post(hook, body, signed(body, "d-1", "push"))));
    expect(both.map((one) => one.body.detail.duplicate)).to.have.members([false, true]);
    await runner.pass();
    const [run] = await runsOf(pipelineId);
    const again = await post(hook, body, signed(body, "d-1", "push"));
    expect(again.body.detail).to.deep.include({ duplicate: true, runs: [run!.runId], state: "done" });
    const other = await post(hook, body, signed(body, "d-2", "push"));
    expect(other.body.detail.duplicate).to.equal(false);
    await runner.pass();
    expect((await verdicts(path))[0]).to.include({
      outcome: "duplicate",
      text: `delivery ${again.body.detail.deliveryId} has told the same change`,
    });
    expect(await runsOf(pipelineId)).to.have.length(1);
  });

  it("make the same run after a crash between the verdict and the run, and behind it", async () => {
    const { pipelineId, hook } = await newHook([{ provider: "github", event: "push" }]);
    const { stores } = edge.context;
    const crashing = (dies: "before" | "behind"): HookRunner => {
      const aggregates = Object.create(stores.aggregates) as typeof stores.aggregates;
      aggregates.create = async (...given) => {
        if (dies === "behind") await stores.aggregates.create(...given);
        throw new Error("killed");
      };
      return newRunner({ ...edge.context, stores: { ...stores, aggregates } });
    };
    for (const dies of ["before", "behind"] as const) {
      const body = push(dies, newSha());
      await post(hook, body, signed(body, dies, "push"));
      await crashing(dies).pass();
      edge.skewMs += 10_000;
      await Promise.all([newRunner().pass(), newRunner().pass()]);
      const runs = await runsOf(pipelineId);
      expect(runs.map(({ trigger }) => trigger["ref"])).to.have.members(
        dies === "before" ? ["before"] : ["before", "behind"],
      );
    }
  });

  it("process a delivery again on demand: what has run stays, what was filtered is judged again", async () => {
    const { pipelineId, hook, path } = await newHook([{ provider: "github", event: "push", name: "a" }]);
    const body = push("main", newSha());
    const { deliveryId } = (await post(hook, body, signed(body, "d-1", "push"))).body.detail;
    expect((await send("POST", `${path}/deliveries/${deliveryId}/redeliver`)).status).to.equal(409);
    await runner.pass();
    const triggers = {
      event: [
        { provider: "github", event: "push", name: "a" },
        { ...PUSH, name: "b", branches: ["*"] },
      ],
    };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { triggers, jobs: JOBS } });
    const first = (await runsOf(pipelineId))[0]!.runId;
    expect((await call("POST", `${path}/deliveries/${deliveryId}/redeliver`)).runs).to.deep.equal([first]);
    await runner.pass();
    const told = await verdicts(path);
    expect(told.map(({ trigger, outcome }) => `${String(trigger)} ${String(outcome)}`)).to.deep.equal([
      "a matched",
      "b matched",
    ]);
    expect(told[0]!["runId"]).to.equal(first);
    expect(await runsOf(pipelineId)).to.have.length(2);
  });

  it("give a run what its event says", async () => {
    const env = {
      SAID: "${{ trigger.actor }} ${{ trigger.payload.sender.id }} ${{ trigger.labels[0] }} ${{ trigger.branch }}",
    };
    const { pipelineId, hook } = await newHook([{ provider: "github", event: "pull_request" }], {}, { env });
    const opened = EXAMPLES.find(({ name }) => name === "pull_request")!.examples.find(
      ({ action }) => action === "opened",
    )!;
    const body = JSON.stringify({ ...opened, pull_request: { ...opened.pull_request, labels: [{ name: "big" }] } });
    await post(hook, body, signed(body, "d-1", "pull_request"));
    await runner.pass();
    const [run] = await runsOf(pipelineId);
    expect(run!.trigger["ref"]).to.equal(`refs/pull/${opened.number}/head`);
    const spec = (await edge.context.stores.plans.loadJob(run!.runId, 0))!;
    const said = `${opened.sender.login} ${opened.sender.id} big ${opened.pull_request.base.ref}`;
    expect(spec.env).to.deep.include(["SAID", said]);
  });

  it("do not end the run of a push for one from which that push began", async () => {
    const fields = { concurrency: { group: "ci", onConflict: "cancelRunning" } };
    const { pipelineId, hook, path } = await newHook([{ provider: "github", event: "push" }], {}, fields);
    const [first, second] = [newSha(), newSha()];
    for (const [id, body] of [
      ["d-1", push("main", second, { before: first })],
      ["d-2", push("main", first)],
    ] as const) {
      await post(hook, body, signed(body, id, "push"));
      await runner.pass();
    }
    const [run, ...others] = await runsOf(pipelineId);
    expect(others).to.deep.equal([]);
    expect((await verdicts(path))[0]).to.include({
      outcome: "outdated",
      text: `run ${run!.runId} builds the newer commit ${second}, and would be ended`,
    });
  });
});

/** Webhooks over HTTP, and what their receivers are told. No worker runs: the test lets the dispatcher look at the store. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { Dispatcher } from "../../src/app/telling/dispatcher.ts";
import type { TenantId } from "../../src/domain/ids.ts";
import { addressRule, type Network } from "../../src/outgoing/addresses.ts";
import { requestSender } from "../../src/outgoing/requests.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { resealWebhooks } from "../../src/secrets/rotation.ts";
import { Meters } from "../../src/telemetry/meters.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { type ReceivedRequest, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { TEST_KEY } from "../support/secrets.ts";

const SPEC = { jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };
const HOUR_MS = 3_600_000;
const TYPES_OF_A_START = ["svc.pipeline.created", "svc.pipeline.started", "svc.job.queued"];

describe("webhooks over HTTP", () => {
  let edge: TestEdge;
  let receiver: TestReceiver;
  let dispatcher: Dispatcher;
  let tenantId: string;
  const meters = new Meters();
  before(async () => {
    edge = await openTestEdge();
    receiver = await startReceiver();
    dispatcher = newDispatcher();
    tenantId = (await call("POST", "/tenants", { name: "acme" })).tenantId;
  });
  after(async () => {
    await receiver.close();
    await edge.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => ({ status: 204 });
    edge.skewMs = 0;
  });

  /** It owns all shards of the installation. */
  function newDispatcher(allowed: readonly Network[] = [{ address: "127.0.0.1", bits: 32 }]): Dispatcher {
    const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    return new Dispatcher({ ...edge.context, meters }, () => shards, {
      request: requestSender(addressRule(allowed)),
      mail: null,
    });
  }
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    edge.call(method, `/api/v1${path}`, { ...(body === undefined ? {} : { body }), ...(headers && { headers }) });
  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const answer = await send(method, path, body, headers);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  async function newProject(): Promise<{ readonly projectId: string; readonly trigger: () => Promise<string> }> {
    const { projectId } = await call("POST", "/projects", { name: `p${made++}`, tenantId });
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: SPEC });
    return { projectId, trigger: async () => (await call("POST", `/pipelines/${pipelineId}/trigger`, {})).runId };
  }
  const newWebhook = (projectId: string, fields: object = {}) =>
    call("POST", `/projects/${projectId}/webhooks`, { url: `${receiver.url}/hook`, ...fields });
  /** Lets the dispatcher look until nothing is due. */
  async function deliver(): Promise<readonly ReceivedRequest[]> {
    for (let before = -1; before !== receiver.received.length;) {
      before = receiver.received.length;
      await dispatcher.pass();
      await dispatcher.settled();
    }
    return receiver.received;
  }
  const parsed = ({ body }: ReceivedRequest) => JSON.parse(body);

  it("are made, read, changed, listed and deleted", async () => {
    const { projectId } = await newProject();
    for (const owner of [`/projects/${projectId}`, `/tenants/${tenantId}`]) {
      const url = `${receiver.url}/x?token=abcdefgh`;
      const created = await call("POST", `${owner}/webhooks`, { url, description: "to chat" });
      expect(created.secret).to.match(/^whsec_[A-Za-z0-9+/]{32}$/);
      expect(created).to.include({ address: `${receiver.url}/x?...`, enabled: true, ordered: false });
      expect(created.types).to.deep.equal(["*"]);
      const { secret: _secret, ...shown } = created;
      const path = `${owner}/webhooks/${created.webhookId}`;
      const read = await send("GET", path);
      expect(read.body.detail).to.deep.equal(shown);
      expect((await call("GET", `${owner}/webhooks`)).list).to.deep.equal([shown]);
      const changed = { types: ["svc.pipeline.*"], ordered: true, enabled: false };
      const etag = read.headers.get("etag")!;
      const now = await call("PATCH", path, changed, { "if-match": etag });
      expect(now).to.deep.include({ types: ["svc.pipeline.*"], ordered: true, enabled: false });
      expect(now.disabled.reason).to.equal("by admin");
      expect((await send("PATCH", path, { enabled: true }, { "if-match": etag })).status).to.equal(412);
      expect((await call("PATCH", path, { enabled: true })).disabled).to.equal(null);
      await call("DELETE", path);
      expect((await send("GET", path)).status).to.equal(404);
      expect((await send("DELETE", path)).status).to.equal(404);
      const { list } = await call("GET", `/audit?object=${created.webhookId}`);
      const operations = list.map(({ operation, outcome }: Record<string, string>) => `${operation} ${outcome}`);
      const word = owner.startsWith("/projects") ? "Project" : "Tenant";
      expect(operations.toReversed(), "the audit log").to.deep.equal([
        `create${word}Webhook done`,
        `change${word}Webhook done`,
        `change${word}Webhook done`,
        `delete${word}Webhook done`,
      ]);
      expect(JSON.stringify(list)).not.to.include(created.secret.slice(6)).and.not.to.include("abcdefgh");
    }
  });

  it("of a tenant tell its system events by the objects that they name, in order, once each", async () => {
    const owner = await call("POST", "/tenants", { name: "told" });
    const path = `/tenants/${owner.tenantId}/webhooks`;
    await call("POST", "/projects", { name: "before", tenantId: owner.tenantId });
    edge.skewMs += 5_000;
    const types = ["svc.project.*", "svc.*.deleted"];
    const { webhookId } = await call("POST", path, { url: `${receiver.url}/told`, types, ordered: true });
    await call("POST", path, { url: `${receiver.url}/all` });
    const project = await call("POST", "/projects", { name: "one", tenantId: owner.tenantId });
    await call("PATCH", `/projects/${project.projectId}`, { description: "d" });
    const told = (await deliver()).map((one) => [one.path, parsed(one).type, parsed(one).data.id]);
    expect(told).to.deep.equal([
      ["/told", "svc.project.created", project.projectId],
      ["/told", "svc.project.updated", project.projectId],
    ]);
    expect(parsed(receiver.received[0]!).data).to.include({ tenantId: owner.tenantId, name: "one", by: "admin" });
    const { list } = await call("GET", `${path}/${webhookId}/deliveries`);
    expect(list.map(({ runId, number }: Record<string, unknown>) => [runId, number])).to.have.deep.members([
      ["", 4],
      ["", 5],
    ]);
    // As a worker leaves it that is killed before it stores how far it has told.
    const { documents } = edge.context.stores;
    const [cursor] = await documents.find("toldEvents", [`tenant/${owner.tenantId as TenantId}`]);
    expect(cursor!.body.told).to.equal(5);
    await documents.save({ ...cursor!, version: cursor!.version + 1, body: { told: 0 } });
    receiver.received.length = 0;
    expect(await deliver()).to.have.length(0);
  });

  it("are made once for one key, and are refused with a wrong address or type, and beyond twenty", async () => {
    const { projectId } = await newProject();
    const path = `/projects/${projectId}/webhooks`;
    const key = { "idempotency-key": "k1" };
    const body = { url: receiver.url };
    const first = await call("POST", path, body, key);
    expect(await call("POST", path, body, key)).to.deep.equal(first);
    for (const wrong of [{ url: "ftp://a" }, { url: "x" }, { ...body, types: [] }, { ...body, types: ["a b"] }, {}])
      expect((await send("POST", path, wrong)).status, JSON.stringify(wrong)).to.equal(400);
    await Promise.all(Array.from({ length: 19 }, () => call("POST", path, body)));
    expect((await send("POST", path, body)).status).to.equal(409);
    expect((await call("GET", path)).total).to.equal(20);
  });

  it("tell the events of runs from then on, by type, signed, once each", async () => {
    const { projectId, trigger } = await newProject();
    await trigger();
    await call("POST", `/projects/${projectId}/webhooks`, { url: "http://127.0.0.1:9/none", types: ["svc.none"] });
    edge.skewMs += 5_000;
    const { secret } = await newWebhook(projectId, { types: ["svc.pipeline.*"] });
    await call("POST", `/tenants/${tenantId}/webhooks`, { url: `${receiver.url}/tenant`, types: ["svc.job.*"] });
    const runId = await trigger();
    const before = meters.deliveries.all.get("delivered webhook") ?? 0;
    const received = await deliver();
    expect(meters.deliveries.all.get("delivered webhook"), "in the metrics").to.equal(before + 3);
    expect(received.map((one) => [one.path, parsed(one).type])).to.have.deep.members([
      ["/hook", "svc.pipeline.created"],
      ["/hook", "svc.pipeline.started"],
      ["/tenant", "svc.job.queued"],
    ]);
    const { headers, body, id } = received.find(({ path }) => path === "/hook")!;
    expect(headers["content-type"]).to.equal("application/cloudevents+json; charset=utf-8");
    const event = JSON.parse(body);
    expect(event).to.include({ specversion: "1.0", datacontenttype: "application/json" });
    expect(event.data).to.include({ runId, projectId, tenantId });
    expect([event.id, event.source], "as StreamEvents has them").to.deep.equal([
      `${runId}:${event.data.number}`,
      `/api/v1/pipelines/runs/${runId}`,
    ]);
    const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(signed).digest("base64");
    expect(headers["webhook-signature"]).to.equal(`v1,${signature}`);
    await newDispatcher().pass();
    expect(await deliver(), "nothing is told twice").to.have.length(3);
    for (const { webhookId } of (await call("GET", `/tenants/${tenantId}/webhooks`)).list)
      await call("DELETE", `/tenants/${tenantId}/webhooks/${webhookId}`);
  });

  it("keep a log of deliveries with requests and answers, without secrets", async () => {
    const { projectId, trigger } = await newProject();
    const url = `${receiver.url}/log?token=sesame-open`;
    const { webhookId, secret } = await newWebhook(projectId, { url, types: ["svc.pipeline.*"] });
    receiver.answer = ({ headers }) => ({
      status: 200,
      body: `sesame-open ${secret} ${String(headers["webhook-id"])}`,
    });
    const runId = await trigger();
    await deliver();
    const path = `/projects/${projectId}/webhooks/${webhookId}/deliveries`;
    const page = await call("GET", `${path}?limit=1`);
    expect(page.list).to.have.length(1);
    const rest = await call("GET", `${path}?after=${page.next}&state=delivered&runId=${runId}`);
    expect(rest).to.deep.include({ next: null });
    expect(rest.list).to.have.length(1);
    const [brief] = page.list;
    expect(brief).to.include({ state: "delivered", runId, attempts: 1, status: 200, error: "", nextTry: null });
    const whole = await call("GET", `${path}/${brief.deliveryId}`);
    expect(whole.tries).to.have.length(1);
    expect(whole.tries[0]).to.deep.include({ status: 200, answer: `*** *** ${brief.deliveryId}` });
    expect(whole.tries[0].request.url).to.equal(`${receiver.url}/log?...`);
    expect(whole.tries[0].request.headers["webhook-signature"]).to.equal("***");
    expect(JSON.stringify(whole)).not.to.include("sesame").and.not.to.include(secret.slice(6));
    expect((await send("GET", `${path}/msg_none`)).status).to.equal(404);
    expect(await call("POST", `${path}/${brief.deliveryId}/redeliver`)).to.include({ state: "owed", attempts: 1 });
    expect((await send("POST", `${path}/${brief.deliveryId}/redeliver`)).status).to.equal(409);
    receiver.received.length = 0;
    expect((await deliver()).map(({ id, body }) => [id, body])).to.deep.equal([[brief.deliveryId, whole.body]]);
    expect(await call("GET", `${path}/${brief.deliveryId}`)).to.include({ state: "delivered", attempts: 2 });
  });

  it("are tried again with back-off for three days; then the webhook is disabled, with a notice", async () => {
    const { projectId, trigger } = await newProject();
    const { webhookId } = await newWebhook(projectId, { types: ["svc.pipeline.started"] });
    const path = `/projects/${projectId}/webhooks/${webhookId}`;
    receiver.answer = () => ({ status: 503, body: "not now" });
    await trigger();
    await deliver();
    expect(receiver.received, "it is not tried again at once").to.have.length(1);
    const [owed] = (await call("GET", `${path}/deliveries`)).list;
    expect(owed).to.include({ state: "owed", attempts: 1, status: 503, error: "the receiver answers 503" });
    expect(Date.parse(owed.nextTry) - Date.now()).to.be.within(0, 10_000);
    expect((await call("GET", path)).failingSince).to.be.a("string");
    for (let hours = 0; hours < 73; hours++) {
      edge.skewMs += HOUR_MS;
      await deliver();
    }
    const [failed] = (await call("GET", `${path}/deliveries`)).list;
    expect(failed).to.include({ state: "failed", nextTry: null });
    expect(failed.attempts).to.be.within(15, 30);
    expect(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)), "one id and one body").to.have.property(
      "size",
      1,
    );
    const whole = await call("GET", `${path}/deliveries/${failed.deliveryId}`);
    expect(whole.tries, "the latest ones").to.have.length(10);
    const { enabled, disabled } = await call("GET", path);
    expect({ enabled, reason: disabled?.reason }).to.deep.include({ enabled: false });
    expect(disabled.reason).to.include("every try has failed since");
    const { list } = await call("GET", `/audit?object=${webhookId}&operation=disableWebhook`);
    expect(list).to.have.length(1);
    expect(list[0]).to.deep.include({ projectId, after: { enabled: false, reason: disabled.reason } });

    expect((await send("POST", `${path}/deliveries/${failed.deliveryId}/redeliver`)).status).to.equal(409);
    await call("PATCH", path, { enabled: true });
    receiver.answer = () => ({ status: 204 });
    receiver.received.length = 0;
    await call("POST", `${path}/deliveries/${failed.deliveryId}/redeliver`);
    expect((await deliver()).map(({ id }) => id)).to.include(failed.deliveryId);
    expect((await call("GET", path)).failingSince).to.equal(null);
  });

  it("are disabled at once by an answer 410, and are told nothing then", async () => {
    const { projectId, trigger } = await newProject();
    const { webhookId } = await newWebhook(projectId, { types: ["svc.pipeline.started"] });
    receiver.answer = () => ({ status: 410 });
    await trigger();
    await deliver();
    const path = `/projects/${projectId}/webhooks/${webhookId}`;
    expect((await call("GET", path)).disabled.reason).to.include("410");
    await trigger();
    expect(await deliver()).to.have.length(1);
  });

  it("get the events of a run in order where asked, those of other runs meanwhile", async () => {
    const { projectId, trigger } = await newProject();
    await newWebhook(projectId, { ordered: true });
    const slow = await trigger();
    receiver.answer = (request) => ({ status: parsed(request).data.runId === slow ? 500 : 204 });
    await deliver();
    const other = await trigger();
    await deliver();
    const types = (runId: string) =>
      receiver.received.filter((one) => parsed(one).data.runId === runId).map((one) => parsed(one).type);
    expect(types(slow), "what follows waits").to.deep.equal(["svc.pipeline.created"]);
    expect(types(other)).to.deep.equal(TYPES_OF_A_START);
    receiver.answer = () => ({ status: 204 });
    edge.skewMs += HOUR_MS;
    await deliver();
    expect(types(slow)).to.deep.equal(["svc.pipeline.created", ...TYPES_OF_A_START]);
  });

  it("get a new secret beside the earlier one, and keep both when the master key changes", async () => {
    const { projectId, trigger } = await newProject();
    const { webhookId, secret: earlier } = await newWebhook(projectId, { types: ["svc.pipeline.started"] });
    const { secret } = await call("POST", `/projects/${projectId}/webhooks/${webhookId}/rotate-secret`);
    expect(secret).not.to.equal(earlier);
    const signatureBy = (text: string, { id, headers, body }: ReceivedRequest) => {
      const key = Buffer.from(text.slice("whsec_".length), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${headers["webhook-timestamp"]}.${body}`).digest("base64")}`;
    };
    await trigger();
    const ofProject = () => receiver.received.find((one) => parsed(one).data.projectId === projectId)!;
    await deliver();
    const first = ofProject();
    expect(first.headers["webhook-signature"]).to.equal(`${signatureBy(secret, first)} ${signatureBy(earlier, first)}`);
    edge.skewMs += 25 * HOUR_MS;
    receiver.received.length = 0;
    await trigger();
    await deliver();
    expect(ofProject().headers["webhook-signature"]).to.equal(signatureBy(secret, ofProject()));

    const { documents } = edge.context.stores;
    const before = await documents.all("webhooks");
    const next = masterKey(Buffer.alloc(32, 9));
    const count = before.reduce((sum, { body }) => sum + body.webhooks.length, 0);
    expect(await resealWebhooks(documents, fixedKeys([next, TEST_KEY]))).to.equal(count);
    expect(await resealWebhooks(documents, fixedKeys([next, TEST_KEY])), "again").to.equal(0);
    expect(await resealWebhooks(documents, fixedKeys([TEST_KEY, next])), "back").to.equal(count);
  });

  it("that are deleted are told nothing that is owed, and their deliveries go", async () => {
    const { projectId, trigger } = await newProject();
    const { webhookId } = await newWebhook(projectId);
    receiver.answer = () => ({ status: 500 });
    await trigger();
    const before = (await deliver()).length;
    await call("DELETE", `/projects/${projectId}/webhooks/${webhookId}`);
    edge.skewMs += HOUR_MS;
    expect(await deliver()).to.have.length(before);
    expect(await edge.context.stores.deliveries.list(webhookId, {}, 10, undefined)).to.deep.equal([]);
  });

  it("do not reach this machine unless it is allowed", async () => {
    const { projectId, trigger } = await newProject();
    const { webhookId } = await newWebhook(projectId, { types: ["svc.pipeline.started"] });
    await trigger();
    const strict = newDispatcher([]);
    await strict.pass();
    await strict.settled();
    expect(receiver.received).to.deep.equal([]);
    const [owed] = (await call("GET", `/projects/${projectId}/webhooks/${webhookId}/deliveries`)).list;
    expect(owed.error).to.include("127.0.0.1 is not on the public internet");
  });
});

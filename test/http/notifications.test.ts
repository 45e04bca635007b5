/** Notifications of runs over HTTP. No worker runs: the test lets the dispatcher look at the store. */
import { expect } from "chai";
import { Dispatcher } from "../../src/app/webhooks/dispatcher.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { mailSender, type MailSender } from "../../src/outgoing/mail.ts";
import { requestSender } from "../../src/outgoing/requests.ts";
import { Meters } from "../../src/telemetry/meters.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";

const LOOPBACK = [{ address: "127.0.0.1", bits: 32 }];
const HOUR_MS = 3_600_000;

describe("notifications over HTTP", () => {
  let edge: TestEdge;
  let receiver: TestReceiver;
  let mailServer: TestMailServer;
  let mail: MailSender;
  let dispatcher: Dispatcher;
  const meters = new Meters();
  before(async () => {
    edge = await openTestEdge();
    receiver = await startReceiver();
    mailServer = await startMailServer();
    const { host, port } = mailServer;
    mail = mailSender({ host, port, tls: false, user: null, password: null, from: "ci@mail.example" });
    dispatcher = newDispatcher();
  });
  after(async () => {
    mail.close();
    await mailServer.close();
    await receiver.close();
    await edge.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => ({ status: 204 });
    mailServer.refuse = () => undefined;
  });

  /** It owns all shards of the installation. */
  function newDispatcher(allowed = LOOPBACK): Dispatcher {
    const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    const request = requestSender(addressRule(allowed));
    return new Dispatcher({ ...edge.context, meters }, () => shards, { request, mail });
  }
  const send = (method: string, path: string, body?: unknown, token?: string) =>
    edge.call(method, `/api/v1${path}`, { ...(body !== undefined && { body }), ...(token !== undefined && { token }) });
  async function call(method: string, path: string, body?: unknown) {
    const answer = await send(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  /** A run that asks for an approval at once, in a project of its own. */
  async function runWith(notify: readonly object[], secrets: Readonly<Record<string, string>> = {}) {
    const { projectId } = await call("POST", "/projects", { name: `p${made++}` });
    for (const [name, value] of Object.entries(secrets)) {
      await call("POST", `/projects/${projectId}/secrets`, { name, value });
    }
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const job = { name: "j", approval: {}, steps: [{ name: "s", uses: "shell", args: { script: "true" } }] };
    const spec = { notify: notify.map((one) => ({ on: ["approval"], ...one })), jobs: [job] };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    const { runId } = await call("POST", `/pipelines/${pipelineId}/trigger`, {});
    return { projectId, pipelineId, runId };
  }
  async function deliver(by = dispatcher): Promise<void> {
    await by.pass();
    await by.settled();
  }

  it("are listed with their run and their project, with state, tries and last error, and sent once more", async () => {
    const { projectId, pipelineId, runId } = await runWith([
      { email: { to: ["ada@mail.example"] } },
      { slack: { url: `${receiver.url}/services/T0/sesame-open` } },
    ]);
    receiver.answer = () => ({ status: 404, body: "no hook sesame-open" });
    await deliver();
    const { list } = await call("GET", `/pipelines/runs/${runId}/notifications`);
    expect(await call("GET", `/projects/${projectId}/notifications`)).to.deep.equal({ list, next: null });
    expect(meters.deliveries.all.get("failed notify-slack"), "in the metrics").to.equal(1);
    const of = (channel: string) => list.find((one: { channel: string }) => one.channel === channel);
    const common = { on: "approval", job: null, pipelineId, projectId, runId, attempts: 1, problem: "" };
    expect(of("email")).to.include({ ...common, state: "delivered", address: "ada@mail.example", error: "" });
    expect(of("slack")).to.include({ ...common, state: "owed", address: `${receiver.url}/...`, status: 404 });
    expect(of("slack").error).to.equal("the receiver answers 404");
    expect(of("slack").nextTry).to.be.a("string");

    const path = `/projects/${projectId}/notifications/${of("slack").deliveryId}`;
    const whole = await call("GET", path);
    expect(whole).to.deep.include({ ...of("slack"), subject: "" });
    expect(whole.text).to.include("p asks for the approval of job j");
    expect(whole.tries[0]).to.deep.include({ status: 404, answer: "no hook ***" });
    expect((await send("POST", `${path}/resend`)).status, "while it is owed").to.equal(409);
    const mailed = `/projects/${projectId}/notifications/${of("email").deliveryId}`;
    expect(await call("POST", `${mailed}/resend`)).to.include({ state: "owed", attempts: 1 });
    await deliver();
    const source = mailServer.received.map((one) => /^Message-ID: <(.*)@/m.exec(one.source)?.[1]);
    expect(source, "the same id").to.deep.equal([of("email").deliveryId, of("email").deliveryId]);
    const { list: failed } = await call("GET", `/pipelines/runs/${runId}/notifications?state=failed`);
    expect(failed).to.deep.equal([]);

    const { token } = await edge.userWithRole("viewer");
    expect((await send("GET", `/pipelines/runs/${runId}/notifications`, undefined, token)).status).to.equal(200);
    expect((await send("GET", path, undefined, token)).status).to.equal(403);
    expect((await send("POST", `${path}/resend`, undefined, token)).status).to.equal(403);
    expect((await send("GET", `/projects/${projectId}/notifications/msg_none`)).status).to.equal(404);
    const { runId: other } = await runWith([]);
    expect(await call("GET", `/pipelines/runs/${other}/notifications`)).to.deep.equal({ list: [], next: null });
  });

  it("to a secret address record neither its host nor its path, however a try fails", async () => {
    const closed = await startReceiver();
    await closed.close();
    const tries: readonly (readonly [string, string, Dispatcher?])[] = [
      [`${closed.url}/hidden/path`, "ECONNREFUSED"],
      [`${closed.url}/hidden/path`, "the receiver is not on the public internet", newDispatcher([])],
      ["http://no-such-host.invalid/hidden/path", "E"],
      [`http://chat.invalid:99999/hidden/path`, "this is not an http or https address"],
      [`${receiver.url}/hidden/path?q=1`, "the receiver answers 500"],
    ];
    receiver.answer = ({ path, headers }) => ({ status: 500, body: `${path.toUpperCase()} at ${headers["host"]}` });
    for (const [url, error, by] of tries) {
      for (const channel of ["slack", "webhook"]) {
        const { projectId, runId } = await runWith([{ [channel]: { url: "${{ secrets.HOOK }}" } }], { HOOK: url });
        await deliver(by);
        const [one] = (await call("GET", `/pipelines/runs/${runId}/notifications`)).list;
        expect(one).to.include({ address: "***", attempts: 1 });
        expect(one.error, url).to.include(error);
        const whole = await call("GET", `/projects/${projectId}/notifications/${one.deliveryId}`);
        const { host } = new URL(URL.canParse(url) ? url : receiver.url);
        for (const part of ["hidden", host, "chat.invalid", "127.0.0.1", "no-such-host"]) {
          expect(JSON.stringify(whole).toLowerCase(), `${url} by ${channel}`).not.to.include(part);
        }
      }
    }
  });

  it("to a secret e-mail address do not record it when the mail server names it", async () => {
    const { projectId, runId } = await runWith([{ email: { to: ["${{ secrets.TO }}"] } }], { TO: "eve@mail.example" });
    mailServer.refuse = () => 450;
    await deliver();
    const [one] = (await call("GET", `/pipelines/runs/${runId}/notifications`)).list;
    expect(one).to.include({ state: "owed", address: "***" });
    const whole = await call("GET", `/projects/${projectId}/notifications/${one.deliveryId}`);
    expect(JSON.stringify(whole.tries)).to.include("the mail server did not take it").and.not.to.include("eve@");
    mailServer.refuse = () => undefined;
    edge.skewMs += HOUR_MS;
    await deliver();
    expect(mailServer.received.at(-1)!.to).to.deep.equal(["eve@mail.example"]);
    edge.skewMs = 0;
  });
});

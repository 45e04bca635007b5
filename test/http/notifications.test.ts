/** What is recorded of the tries of notifications. No worker runs: the test lets the dispatcher look at the store. */
import { expect } from "chai";
import { Dispatcher } from "../../src/app/telling/dispatcher.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { mailSender, type MailSender } from "../../src/outgoing/mail.ts";
import { requestSender } from "../../src/outgoing/requests.ts";
import { Meters } from "../../src/telemetry/meters.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";

const LOOPBACK = [{ address: "127.0.0.1", bits: 32 }];
const HOUR_MS = 3_600_000;

describe("the tries of notifications", () => {
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
  function newDispatcher(allowed = LOOPBACK, by = mail): Dispatcher {
    const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    const request = requestSender(addressRule(allowed));
    return new Dispatcher({ ...edge.context, meters }, () => shards, { request, mail: by });
  }
  /** A mail server that answers no connection. */
  function unreachableMail(): MailSender {
    return mailSender({ host: "127.0.0.1", port: 1, tls: false, user: null, password: null, from: "ci@mail.example" });
  }
  async function call(method: string, path: string, body?: unknown) {
    const answer = await edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  /** A run that asks for an approval at once, in a project of its own. */
  async function runWith(notify: readonly object[], secrets: Readonly<Record<string, string>> = {}): Promise<string> {
    const { projectId } = await call("POST", "/projects", { name: `p${made++}` });
    for (const [name, value] of Object.entries(secrets)) {
      await call("POST", `/projects/${projectId}/secrets`, { name, value });
    }
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const job = { name: "j", approval: {}, steps: [{ name: "s", uses: "shell", args: { script: "true" } }] };
    const spec = { notify: notify.map((one) => ({ on: ["approval"], ...one })), jobs: [job] };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    return (await call("POST", `/pipelines/${pipelineId}/trigger`, {})).runId;
  }
  async function deliver(by = dispatcher): Promise<void> {
    await by.pass();
    await by.settled();
  }

  /** The only notification of the run: as it is listed, and with what is recorded of its tries. */
  async function onlyOf(runId: string) {
    const { list } = await call("GET", `/pipelines/runs/${runId}/notifications`);
    expect(list).to.have.length(1);
    const recorded = (await edge.context.stores.deliveries.find(list[0].notificationId))!;
    return { shown: list[0], tries: recorded.tries };
  }

  it("are counted by channel, and keep the path of an address of Slack out of answers", async () => {
    const runId = await runWith([{ slack: { url: `${receiver.url}/services/T0/sesame-open` } }]);
    receiver.answer = () => ({ status: 404, body: "no hook SESAME-open" });
    await deliver();
    expect(meters.deliveries.all.get("failed notify-slack")).to.equal(1);
    const { shown, tries } = await onlyOf(runId);
    expect(shown).to.include({ target: `${receiver.url}/...`, error: "the receiver answers 404" });
    expect(tries[0]).to.include({ status: 404, answer: "no hook ***" });
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
        const runId = await runWith([{ [channel]: { url: "${{ secrets.HOOK }}" } }], { HOOK: url });
        await deliver(by);
        const found = await onlyOf(runId);
        expect(found.shown).to.include({ target: "***", attempts: 1 });
        expect(found.shown.error, url).to.include(error);
        const { host } = new URL(URL.canParse(url) ? url : receiver.url);
        for (const part of ["hidden", host, "chat.invalid", "127.0.0.1", "no-such-host"]) {
          expect(JSON.stringify(found).toLowerCase(), `${url} by ${channel}`).not.to.include(part);
        }
      }
    }
  });

  it("to a secret e-mail address do not record it when the mail server names it", async () => {
    const runId = await runWith([{ email: { to: ["${{ secrets.TO }}"] } }], { TO: "eve@mail.example" });
    mailServer.refuse = () => 450;
    await deliver();
    const { shown, tries } = await onlyOf(runId);
    expect(shown).to.include({ state: "owed", target: "***" });
    expect(JSON.stringify(tries)).to.include("the mail server did not take it").and.not.to.include("eve@");
    const gone = newDispatcher(LOOPBACK, unreachableMail());
    edge.skewMs += HOUR_MS;
    await deliver(gone);
    const again = await onlyOf(runId);
    expect(again.shown.error).to.match(/^the mail server did not take it E[A-Z]+$/);
    expect(JSON.stringify(again)).not.to.include("127.0.0.1");
    mailServer.refuse = () => undefined;
    edge.skewMs += HOUR_MS;
    await deliver();
    expect(mailServer.received.at(-1)!.to).to.deep.equal(["eve@mail.example"]);
    const path = `/pipelines/runs/${runId}/notifications/${again.shown.notificationId}`;
    const read = await call("GET", path);
    const projectPath = `/projects/${again.shown.projectId}/notifications/${again.shown.notificationId}`;
    expect(await call("GET", projectPath)).to.deep.equal(read);
    expect(read).to.include({ state: "delivered", attempts: 3, status: 250, error: "", lastTry: read.tries[2].at });
    const answers = read.tries.map(({ status, error, answer }: Record<string, unknown>) => [
      status,
      error === "",
      !!answer,
    ]);
    expect(answers).to.deep.equal([
      [null, false, false],
      [null, false, false],
      [250, true, true],
    ]);
    expect(read.tries[0].request).to.deep.equal({ url: "***", headers: {} });
    const other = await runWith([{ email: { to: ["ann@mail.example"] } }]);
    for (const of of [`/pipelines/runs/${other}`, "/projects/default"]) {
      const wrong = `/api/v1${of}/notifications/${again.shown.notificationId}`;
      expect((await edge.call("GET", wrong)).body.reason, of).to.equal("not_found");
    }
    edge.skewMs = 0;
  });
});

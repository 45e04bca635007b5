/**
 * Notifications of runs in a real installation: who is told what, by a receiver of webhooks and a mail server that are real,
 * what a failing channel shows, and that the death of the node loses none.
 */
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { type TestMailServer, startMailServer } from "../support/mail-server.ts";
import { freePort } from "../support/ports.ts";
import { ProcessWorld } from "../support/processes.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** In the form of Standard Webhooks: the key in base64 behind a prefix. */
const SIGNING_KEY = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;

describe("the notifications of a run", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let receiver: TestReceiver;
  let mail: TestMailServer;
  let dataDir: string;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    [world, receiver, mail] = [await ProcessWorld.create(), await startReceiver(), await startMailServer()];
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    env = {
      MILLRACE_OUTGOING_NETWORKS: "127.0.0.1",
      MILLRACE_SMTP_URL: `smtp://${mail.host}:${mail.port}`,
      MILLRACE_MAIL_FROM: "millrace <ci@mail.example>",
      MILLRACE_PUBLIC_URL: "http://ci.example",
    };
    await installation.serve(dataDir, env);
    await installation.agent("one");
  });
  after(async () => {
    await world?.end();
    await receiver?.close();
    await mail?.close();
  });
  beforeEach(() => {
    receiver.received.length = mail.received.length = 0;
    receiver.answer = () => ({ status: 204 });
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await installation.call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }

  async function pipelineWith(name: string, notify: readonly object[], jobs: readonly object[]): Promise<string> {
    const { pipelineId } = await installation.api.createPipeline(name, "");
    await installation.api.saveSpec(pipelineId, { notify, jobs });
    return pipelineId;
  }
  const setSecret = (pipelineId: string, name: string, value: string) =>
    call("POST", `/pipelines/${pipelineId}/secrets`, { name, value });
  const trigger = async (pipelineId: string, variables: object = {}): Promise<string> =>
    (await call("POST", `/pipelines/${pipelineId}/trigger`, { variables })).runId;
  const endOf = (runId: string) =>
    until("the run ends", async () => {
      const { endTime, status } = await call("GET", `/pipelines/runs/${runId}`);
      return endTime === null ? undefined : status;
    });
  const notificationsOf = async (runId: string, query = "") =>
    (await call("GET", `/pipelines/runs/${runId}/notifications${query}`)).list;
  const allOf = (runId: string, count: number, state: string) =>
    until(`${count} are ${state}`, async () => {
      const list = await notificationsOf(runId, `?state=${state}`);
      return list.length === count ? list : undefined;
    });
  const job = (script: string, more: object = {}) => ({
    name: "build",
    steps: [{ uses: "shell", args: { script } }],
    ...more,
  });

  it("reach a webhook, a channel and an e-mail at a failure, and at the success that follows", async () => {
    const pipelineId = await pipelineWith(
      "told",
      [
        { on: ["failure", "fixed"], webhook: { url: `${receiver.url}/hook`, secret: "HOOK_KEY" } },
        { on: ["failure"], slack: { url: `${receiver.url}/services/T0/very-secret`, channel: "#builds" } },
        { on: ["failure", "success"], email: { to: ["ann@mail.example", "${{ secrets.BOSS }}"] } },
        { on: ["cancelled"], email: { to: ["none@mail.example"] } },
      ],
      [job("exit ${{ variables.code }}")],
    );
    await setSecret(pipelineId, "HOOK_KEY", SIGNING_KEY);
    await setSecret(pipelineId, "BOSS", "boss@mail.example");

    const failed = await trigger(pipelineId, { code: "3" });
    expect(await endOf(failed)).to.equal("failed");
    const told = await allOf(failed, 4, "delivered");
    const shown = told.map(({ on, channel, target, error, problem }: Record<string, string>) => [
      `${on} ${channel} ${target}`,
      `${error}${problem}`,
    ]);
    expect(shown).to.have.deep.members([
      [`failure webhook ${receiver.url}/hook`, ""],
      [`failure slack ${receiver.url}/...`, ""],
      ["failure email ann@mail.example", ""],
      ["failure email ***", ""],
    ]);
    expect(JSON.stringify(told)).not.to.match(/very-secret|boss/);
    const hook = receiver.received.find(({ path }) => path === "/hook")!;
    const event = JSON.parse(hook.body);
    expect(event).to.deep.include({ specversion: "1.0" });
    expect(JSON.stringify(event)).to.include(failed);
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = hook.headers;
    const key = Buffer.from(SIGNING_KEY.slice("whsec_".length), "base64");
    expect(signature).to.equal(`v1,${createHmac("sha256", key).update(`${id}.${at}.${hook.body}`).digest("base64")}`);
    const said = JSON.parse(receiver.received.find(({ path }) => path.startsWith("/services"))!.body);
    expect(said.channel).to.equal("#builds");
    expect(said.text).to.include("told").and.to.include("failed");
    expect(mail.received.flatMap(({ to }) => to)).to.have.members(["ann@mail.example", "boss@mail.example"]);
    expect(mail.received[0]!.source)
      .to.match(/^Subject: .*told/m)
      .and.to.include("http://ci.example");

    receiver.received.length = mail.received.length = 0;
    const fixed = await trigger(pipelineId, { code: "0" });
    expect(await endOf(fixed)).to.equal("success");
    const [again] = (await allOf(fixed, 3, "delivered")).filter(
      (one: { channel: string }) => one.channel === "webhook",
    );
    expect(again).to.deep.include({ on: "fixed", attempts: 1, status: 204, job: null });
    expect(mail.received).to.have.length(2);

    const third = await trigger(pipelineId, { code: "0" });
    expect(await endOf(third)).to.equal("success");
    await allOf(third, 2, "delivered");
    expect(receiver.received, "nothing is fixed by a success after a success").to.have.length(1);
  });

  it("reach a user who has chosen to be told of failures and of the success that follows, each once", async () => {
    const { userId } = await call("POST", "/users", { name: "ann", role: "viewer", email: "ann@users.example" });
    const { token } = await call("POST", `/users/${userId}/tokens`, { name: "t" });
    const pipelineId = await pipelineWith("chosen", [], [job("exit ${{ variables.code }}")]);
    const before = await trigger(pipelineId, { code: "3" });
    expect(await endOf(before)).to.equal("failed");
    const choices = [{ projectId: "default", on: ["failure", "fixed"], runs: "all" }];
    expect((await installation.call("PUT", "/me/notifications", { choices }, token)).status).to.equal(200);

    const failed = await trigger(pipelineId, { code: "3" });
    expect(await endOf(failed)).to.equal("failed");
    const [told] = await allOf(failed, 1, "delivered");
    expect(told).to.deep.include({ on: "failure", channel: "email", target: "ann", attempts: 1, job: null });
    const fixed = await trigger(pipelineId, { code: "0" });
    expect(await endOf(fixed)).to.equal("success");
    expect((await allOf(fixed, 1, "delivered"))[0].on).to.equal("fixed");
    const third = await trigger(pipelineId, { code: "0" });
    expect(await endOf(third)).to.equal("success");
    const other = await pipelineWith(
      "asked",
      [{ on: ["success"], email: { to: ["end@mail.example"] } }],
      [job("true")],
    );
    await allOf(await trigger(other), 1, "delivered");
    expect(mail.received.flatMap(({ to }) => to)).to.deep.equal([
      "ann@users.example",
      "ann@users.example",
      "end@mail.example",
    ]);
    expect(mail.received[0]!.source)
      .to.match(/^Subject: chosen failed/m)
      .and.to.include("millrace notifications");
    expect(await notificationsOf(before)).to.deep.equal([]);
  });

  it("are chosen, shown and taken back by the command line", async () => {
    const { userId } = await call("POST", "/users", { name: "cli", role: "viewer" });
    const { token } = await call("POST", `/users/${userId}/tokens`, { name: "t" });
    const run = async (...args: readonly string[]) => {
      const commandEnv = { MILLRACE_URL: `http://${installation.node.http}`, MILLRACE_TOKEN: token };
      const started = world.start(["notifications", ...args], { env: commandEnv });
      return { code: (await started.exited).code, stdout: started.stdout, stderr: started.stderr };
    };
    expect((await run()).stdout).to.contain("you are told nothing");
    const chosen = ["set", "--on", "failure", "--on", "waiting", "--longer-than", "90m"];
    const silent = await run(...chosen);
    expect(silent).to.include({ code: 1 });
    expect(silent.stderr).to.contain("cli has no e-mail address");
    await call("PATCH", `/users/${userId}`, { email: "cli@users.example" });
    expect((await run(...chosen)).stdout).to.equal(
      "you are told of failure, waiting of your runs, by e-mail to cli@users.example\n",
    );
    expect(JSON.parse((await run("--json")).stdout)).to.have.nested.property("[0].longerThan", "90m");
    expect(JSON.parse((await run("delete", "--json")).stdout)).to.deep.include({ choices: [] });
  });

  it("tell of an approval that is asked for", async () => {
    const pipelineId = await pipelineWith(
      "asks",
      [{ on: ["approval"], webhook: { url: receiver.url, body: { text: "${{ notification.waitingFor }}" } } }],
      [job("true", { approval: { count: 1 } })],
    );
    const runId = await trigger(pipelineId);
    const [told] = await allOf(runId, 1, "delivered");
    expect(told.on).to.equal("approval");
    expect(JSON.parse(receiver.received[0]!.body).text).to.include("approval of job build");
  });

  it("show a channel that fails, and change nothing in the run", async () => {
    const port = await freePort();
    const pipelineId = await pipelineWith(
      "unheard",
      [
        { on: ["success"], webhook: { url: `${receiver.url}/gone` } },
        { on: ["success"], webhook: { url: "${{ secrets.ADDRESS }}" } },
        { on: ["success"], email: { to: ["refused@mail.example"] } },
      ],
      [job("true")],
    );
    const secret = `http://127.0.0.1:${port}/a-path-that-is-secret`;
    await setSecret(pipelineId, "ADDRESS", secret);
    receiver.answer = () => ({ status: 500, body: "not now" });
    mail.refuse = () => 550;
    const runId = await trigger(pipelineId);
    expect(await endOf(runId)).to.equal("success");
    const [refused] = await allOf(runId, 1, "failed");
    expect(refused).to.deep.include({ channel: "email", target: "refused@mail.example", status: 550, nextTry: null });
    const owed = await until("both were tried", async () => {
      const list = await notificationsOf(runId, "?state=owed");
      return list.length === 2 && list.every(({ attempts }: { attempts: number }) => attempts > 0) ? list : undefined;
    });
    const hidden = owed.find(({ target }: { target: string }) => target === "***");
    expect(hidden.error).to.equal("ECONNREFUSED: the receiver that a secret names cannot be reached");
    const seen = owed.find(({ target }: { target: string }) => target !== "***");
    expect(seen).to.deep.include({ status: 500, error: "the receiver answers 500" });
    expect(seen.nextTry).to.be.a("string");
    expect(JSON.stringify(owed)).not.to.include(String(port)).and.not.to.include("a-path");

    const { projectId } = await call("GET", `/pipelines/${pipelineId}`);
    const ofProject = await call("GET", `/projects/${projectId}/notifications?limit=2`);
    expect(ofProject.list.map((one: { runId: string }) => one.runId)).to.deep.equal([runId, runId]);
    expect((await call("GET", `/projects/${projectId}/notifications?after=${ofProject.next}`)).list[0].runId).to.equal(
      runId,
    );

    const path = `/pipelines/runs/${runId}/notifications`;
    expect((await installation.call("POST", `${path}/${seen.notificationId}/resend`)).status, "owed").to.equal(409);
    expect((await installation.call("POST", `${path}/msg_none/resend`)).status).to.equal(404);
    mail.refuse = () => undefined;
    await call("POST", `${path}/${refused.notificationId}/resend`);
    await until("the mail is taken", () => mail.received.length === 1);
    expect(mail.received[0]!.to).to.deep.equal(["refused@mail.example"]);
  });

  it("are sent by the next node when the first one is killed before", async () => {
    const pipelineId = await pipelineWith(
      "killed",
      [{ on: ["success"], webhook: { url: `${receiver.url}/killed` } }],
      [job("true")],
    );
    receiver.answer = () => ({ status: 503 });
    // Other notifications are owed, too.
    const received = () => receiver.received.find(({ path }) => path === "/killed");
    const runId = await trigger(pipelineId);
    const first = await until("it is tried", received);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    receiver.received.length = 0;
    receiver.answer = () => ({ status: 204 });
    await installation.serve(dataDir, env);
    expect((await until("it is sent again", received, 30_000)).id).to.equal(first.id);
    expect((await allOf(runId, 1, "delivered"))[0].on).to.equal("success");
  });
});

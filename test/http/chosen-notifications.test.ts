/** What users choose to be told of by e-mail. No worker runs: the test lets the dispatcher look at the store. */
import { expect } from "chai";
import { Dispatcher } from "../../src/app/telling/dispatcher.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { mailSender, type MailSender } from "../../src/outgoing/mail.ts";
import { requestSender } from "../../src/outgoing/requests.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";

const HOUR_MS = 3_600_000;
const PATH = "/api/v1/me/notifications";

describe("the choices of users", () => {
  let edge: TestEdge;
  let mailServer: TestMailServer;
  let mail: MailSender;
  let dispatcher: Dispatcher;
  before(async () => {
    edge = await openTestEdge();
    mailServer = await startMailServer();
    const { host, port } = mailServer;
    mail = mailSender({ host, port, tls: false, user: null, password: null, from: "ci@mail.example" });
    const shards = Array.from({ length: edge.context.shards }, (_, shard) => shard);
    dispatcher = new Dispatcher(edge.context, () => shards, { request: requestSender(addressRule([])), mail });
  });
  after(async () => {
    mail.close();
    await mailServer.close();
    await edge.close();
  });
  beforeEach(() => {
    mailServer.received.length = 0;
    mailServer.refuse = () => undefined;
    edge.skewMs = 0;
  });

  async function call(method: string, path: string, body?: unknown, token?: string) {
    const options = { ...(body !== undefined && { body }), ...(token !== undefined && { token }) };
    const answer = await edge.call(method, `/api/v1${path}`, options);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  let made = 0;
  const newProject = async (): Promise<string> => (await call("POST", "/projects", { name: `p${made++}` })).projectId;
  /** A user without a role in the installation, with an e-mail address and a token. */
  async function newUser(email?: string) {
    const name = `u${made++}`;
    const { userId } = await call("POST", "/users", { name, role: null, ...(email !== undefined && { email }) });
    const { token } = await call("POST", `/users/${userId}/tokens`, { name: "t" });
    return { userId, name, token };
  }
  async function memberOf(projectId: string, role: string, email?: string) {
    const user = await newUser(email);
    await call("PUT", `/projects/${projectId}/members/${user.userId}`, { role });
    return user;
  }
  async function newPipeline(projectId: string): Promise<string> {
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    const job = { name: "j", approval: {}, steps: [{ name: "s", uses: "shell", args: { script: "true" } }] };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs: [job] } });
    return pipelineId;
  }
  /** A run that asks for an approval at once. */
  const trigger = async (pipelineId: string, token?: string): Promise<string> =>
    (await call("POST", `/pipelines/${pipelineId}/trigger`, {}, token)).runId;
  const choose = (token: string, ...choices: readonly object[]) => call("PUT", "/me/notifications", { choices }, token);
  async function deliver(): Promise<void> {
    await dispatcher.pass();
    await dispatcher.settled();
  }
  const told = (): string[] => mailServer.received.flatMap(({ to }) => to).toSorted();

  it("are none at first, are replaced as a whole, and keep the time from which each counts", async () => {
    const projectId = await newProject();
    const { token } = await memberOf(projectId, "viewer", "new@mail.example");
    const nothing = { email: "new@mail.example", choices: [] };
    expect(await call("GET", "/me/notifications", undefined, token)).to.deep.equal(nothing);
    const [failures] = (await choose(token, { projectId, on: ["failure"] })).choices;
    expect(failures).to.deep.include({ projectId, on: ["failure"], runs: "mine", longerThan: null });
    edge.skewMs += HOUR_MS;
    expect((await choose(token, { projectId, on: ["failure"] })).choices, "nothing changed").to.deep.equal([failures]);
    const more = { projectId, on: ["failure", "waiting", "waiting"], runs: "mine", longerThan: "90m" };
    const [wider] = (await choose(token, more)).choices;
    expect(wider).to.deep.include({ on: ["failure", "waiting"], longerThan: "90m" });
    expect(Date.parse(wider.since) - Date.parse(failures.since), "all of it").to.be.at.least(HOUR_MS);
    const [less] = (await choose(token, { projectId, on: ["failure"] })).choices;
    expect(less.since).to.equal(failures.since);
    const [all] = (await choose(token, { projectId, on: ["failure"], runs: "all" })).choices;
    expect(Date.parse(all.since) - Date.parse(failures.since)).to.be.at.least(HOUR_MS);
    expect(await choose(token)).to.deep.equal(nothing);
    const { list } = await call("GET", "/audit?limit=1&operation=replaceNotificationChoices");
    expect(list[0]).to.deep.include({ before: { choices: [`${projectId}: failure of all`] }, after: { choices: [] } });
  });

  it("are changed only on the state that the caller has read, if the caller says so", async () => {
    const projectId = await newProject();
    const { token } = await memberOf(projectId, "viewer", "etag@mail.example");
    const etag = (await edge.call("GET", PATH, { token })).headers.get("etag")!;
    const put = (on: string, tag: string) =>
      edge.call("PUT", PATH, { token, body: { choices: [{ projectId, on: [on] }] }, headers: { "if-match": tag } });
    const first = await put("failure", etag);
    expect(first.status).to.equal(200);
    expect((await put("success", etag)).status).to.equal(412);
    expect((await put("success", first.headers.get("etag")!)).status).to.equal(200);
  });

  it("are refused with all problems at once, and for a caller without an address", async () => {
    const [projectId, other] = [await newProject(), await newProject()];
    const { token } = await memberOf(projectId, "viewer", "bad@mail.example");
    const refuse = async (by: string, ...choices: readonly object[]) => {
      const { status, body } = await edge.call("PUT", PATH, { token: by, body: { choices } });
      return { status, problems: (body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer) };
    };
    const written = await refuse(
      token,
      { projectId, on: [] },
      { projectId, on: ["partial"] },
      { projectId, on: ["waiting"] },
      { projectId, on: ["failure"], longerThan: "5m" },
      { projectId, on: ["waiting"], longerThan: "5s" },
      { projectId, on: ["failure"], to: "eve@mail.example" },
    );
    expect(written.status).to.equal(400);
    expect(written.problems).to.have.members([
      "/choices/0/on",
      "/choices/1/on/0",
      "/choices/2/longerThan",
      "/choices/3/longerThan",
      "/choices/4/longerThan",
      "/choices/5/to",
    ]);
    const on = ["failure"];
    const unseen = await refuse(token, { projectId, on }, { projectId: other, on }, { projectId, on });
    expect(unseen).to.deep.equal({ status: 400, problems: ["/choices/1/projectId", "/choices/2/projectId"] });
    const silent = await memberOf(projectId, "viewer");
    expect((await refuse(silent.token, { projectId, on })).status).to.equal(409);
    expect((await refuse(silent.token)).status, "nothing").to.equal(200);
  });

  it("tell each user once, of the user's own runs or of all, and nothing from before the choice", async () => {
    const projectId = await newProject();
    const pipelineId = await newPipeline(projectId);
    const ann = await memberOf(projectId, "operator", "ann@mail.example");
    const bob = await memberOf(projectId, "operator", "bob@mail.example");
    const eve = await memberOf(projectId, "operator", "eve@mail.example");
    await trigger(pipelineId, ann.token);
    await choose(ann.token, { projectId, on: ["approval"], runs: "mine" });
    await choose(bob.token, { projectId, on: ["approval"], runs: "all" });
    await choose(eve.token, { projectId, on: ["failure", "success"], runs: "all" });
    await deliver();
    expect(told(), "of a run from before").to.deep.equal([]);
    const runId = await trigger(pipelineId, ann.token);
    await trigger(pipelineId, eve.token);
    await deliver();
    await deliver();
    expect(told()).to.deep.equal(["ann@mail.example", "bob@mail.example", "bob@mail.example"]);
    const { source } = mailServer.received[0]!;
    expect(source).to.match(/^Subject: p asks for the approval of job j/m);
    expect(source).to.include("millrace notifications");
    const { list } = await call("GET", `/pipelines/runs/${runId}/notifications`);
    const shown = list.map(({ target, on, channel, state }: Record<string, string>) => [target, on, channel, state]);
    expect(shown).to.have.deep.members([
      [ann.name, "approval", "email", "delivered"],
      [bob.name, "approval", "email", "delivered"],
    ]);
    expect(JSON.stringify(list), "the addresses are for their users").not.to.include("mail.example");
    const read = await call("GET", `/pipelines/runs/${runId}/notifications/${list[0].notificationId}`);
    expect(JSON.stringify(read)).not.to.include("mail.example");
  });

  it("tell nothing to a user who has taken the choice back, is disabled, gone, or may not read the run any more", async () => {
    const projectId = await newProject();
    const pipelineId = await newPipeline(projectId);
    const users = [];
    for (const name of ["kept", "back", "off", "gone", "out"]) {
      const user = await memberOf(projectId, "viewer", `${name}@mail.example`);
      await choose(user.token, { projectId, on: ["approval"], runs: "all" });
      users.push(user);
    }
    const [kept, back, off, gone, out] = users as [(typeof users)[number], ...typeof users];
    mailServer.refuse = () => 450;
    const runId = await trigger(pipelineId);
    await deliver();
    const state = async () => (await call("GET", `/pipelines/runs/${runId}/notifications`)).list;
    expect(await state(), "all are owed").to.have.length(5);
    await choose(back!.token);
    // A choice that is made again counts from then on.
    edge.skewMs += 1_000;
    await choose(back!.token, { projectId, on: ["approval"], runs: "all" });
    await call("PATCH", `/users/${off!.userId}`, { disabled: true });
    await call("DELETE", `/users/${gone!.userId}`);
    await call("DELETE", `/projects/${projectId}/members/${out!.userId}`);
    await call("PATCH", `/users/${kept.userId}`, { email: "moved@mail.example" });
    expect((await call("GET", "/me/notifications", undefined, out!.token)).choices).to.deep.equal([]);
    mailServer.refuse = () => undefined;
    edge.skewMs += HOUR_MS;
    await deliver();
    expect(told()).to.deep.equal(["moved@mail.example"]);
    expect(await state()).to.have.length(1);
  });

  it("tell of a wait that lasts longer, and of none that is over", async () => {
    const projectId = await newProject();
    const pipelineId = await newPipeline(projectId);
    const { token } = await memberOf(projectId, "operator", "waits@mail.example");
    await choose(token, { projectId, on: ["waiting"], runs: "all", longerThan: "30m" });
    const runId = await trigger(pipelineId);
    await deliver();
    edge.skewMs += HOUR_MS / 4;
    await deliver();
    expect(told(), "too early").to.deep.equal([]);
    edge.skewMs += HOUR_MS / 2;
    await deliver();
    expect(told()).to.deep.equal(["waits@mail.example"]);
    expect(mailServer.received[0]!.source).to.include("has waited 30m");
    const { list } = await call("GET", `/pipelines/runs/${runId}/notifications`);
    expect(list).to.have.length(1);
  });

  it("cost an installation without choices nothing", async () => {
    const other = await openTestEdge();
    try {
      const { documents } = other.context.stores;
      const answer = await other.call("PUT", PATH, { body: { choices: [] } });
      expect(answer.status).to.equal(200);
      expect(await documents.all("notified")).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });
});

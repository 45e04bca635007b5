/** A comment approves the run of a fork, when the host says that who has written it may push. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import { asId, type RunId } from "../../src/domain/ids.ts";
import { actorOf, saveOf, withIndex } from "../contracts/samples.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";

const SECRET = "swordfish-and-more";

describe("a comment on the pull request of a fork over HTTP", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let runner: HookRunner;
  let hookPath: string;
  let hookId: string;
  let origin: BareRepository;
  let base: string;
  before(async () => {
    git = await GitEdge.open();
    const shards = Array.from({ length: git.edge.context.shards }, (_, shard) => shard);
    runner = new HookRunner(git.edge.context, () => shards);
    host = await new ProviderServer("gitea").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    for (const [name, value] of Object.entries({ API: TOKEN, HOOK_KEY: SECRET })) {
      await call("POST", "/projects/default/secrets", { name, value });
    }
    origin = new BareRepository(git.world.folder, "team/app");
    const triggers = `triggers: { event: [{ provider: gitea, event: pull_request }] }\n`;
    base = origin.commit({ [DEFINITION_PATH]: `${triggers}${textOf("echo 1")}` });
    const api = { repoApiCredential: "API", repoProvider: "gitea", commitStatuses: "off" };
    const repoUrl = `${git.world.server.origin}/team/app.git`;
    await call("POST", "/pipelines", { name: "app", repoUrl, repoCredential: "CODE", ...api });
    const hook = await call("POST", "/projects/default/hooks", { name: "code", kind: "gitea", secret: "HOOK_KEY" });
    [hookPath, hookId] = [hook.path, hook.hookId];
  });
  after(async () => {
    await git.close();
    await host.stop();
  });
  beforeEach(() => {
    host.intercept = () => false;
    host.members.clear();
  });

  async function call(method: string, path: string, body?: unknown) {
    const answer = await git.edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }

  let deliveries = 0;
  async function deliver(event: string, body: object) {
    const repository = { full_name: "team/app", clone_url: `${git.world.server.origin}/team/app.git` };
    const raw = JSON.stringify({ ...body, repository });
    const headers = {
      "content-type": "application/json",
      "x-gitea-delivery": `c-${deliveries++}`,
      "x-gitea-event": event,
      "x-gitea-signature": createHmac("sha256", SECRET).update(raw).digest("hex"),
    };
    const answer = await git.edge.call("POST", hookPath, { raw, headers, token: null });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    await runner.pass();
    return read(answer.body.detail.deliveryId);
  }
  const read = (deliveryId: string) => call("GET", `/projects/default/hooks/${hookId}/deliveries/${deliveryId}`);

  /** Opens a pull request of a fork, and answers its run, which waits. */
  async function opened(number: number, sha = origin.commit({ [`${number}`]: "new" }, { branch: `fork-${number}` })) {
    origin.git(["update-ref", `refs/pull/${number}/head`, sha]);
    host.heads.set(number, sha);
    const { runs } = await deliver("pull_request", {
      action: "opened",
      sender: { login: "mallory", id: 66 },
      pull_request: {
        number,
        title: "Look",
        user: { login: "mallory" },
        head: { ref: "main", sha, repo: { full_name: "mallory/app" } },
        base: { ref: "main", sha: base, repo: { full_name: "team/app" } },
      },
    });
    expect(runs).to.have.length(1);
    const runId = asId<RunId>(runs[0]);
    return { number, sha, runId };
  }
  const comment = (number: number, body = "/millrace run", action = "created") =>
    deliver("issue_comment", {
      action,
      is_pull: true,
      issue: { number, title: "Look", user: { login: "mallory" }, pull_request: {} },
      comment: { body },
      sender: { login: "ann", id: 11 },
    });
  const ofCommand = ({ verdicts }: any) => verdicts.filter(({ trigger }: any) => trigger === "/millrace run");
  const votes = async (runId: RunId) =>
    (await git.edge.context.stores.inbox.pending(runId)).map((command: any) => `${command.kind} ${command.voter.name}`);

  it("approves the run of the head, once, for one who may push", async () => {
    const { runId, sha, number } = await opened(1);
    host.members.set("ann", "write");
    const delivery = await comment(number, "  /millrace run \nlooks good");
    const [verdict, ...others] = ofCommand(delivery);
    expect(others).to.deep.equal([]);
    expect(verdict).to.include({ outcome: "matched", runId, text: `ann approves commit ${sha}` });
    expect(await votes(runId)).to.deep.equal(["approve gitea:ann"]);
    await call("POST", `/projects/default/hooks/${hookId}/deliveries/${delivery.deliveryId}/redeliver`);
    await runner.pass();
    expect(ofCommand(await read(delivery.deliveryId))).to.deep.equal([verdict]);
    expect(await votes(runId)).to.have.length(1);
  });

  it("approves nothing for one who may not push, whatever the delivery says", async () => {
    const { runId, number } = await opened(2);
    for (const level of [undefined, "read"] as const) {
      if (level !== undefined) host.members.set("ann", level);
      const [verdict] = ofCommand(await comment(number));
      expect(verdict).to.include({
        outcome: "refused",
        text: "ann may not write to the repository, as gitea says",
        runId: null,
      });
    }
    expect(await votes(runId)).to.deep.equal([]);
  });

  it("approves no other commit than the head, and no run that was made after it", async () => {
    const { runId, number } = await opened(3);
    host.members.set("ann", "write");
    host.heads.set(number, "f".repeat(40));
    const [moved] = ofCommand(await comment(number));
    expect(moved.outcome).to.equal("refused");
    expect(moved.text).to.include(`the head of the pull request is ${"f".repeat(40)}: look at the new commits`);
    expect(await votes(runId)).to.deep.equal([]);
    const [none] = ofCommand(await comment(99));
    expect(none).to.include({
      outcome: "refused",
      text: "no run of pull request 99 that the comment could mean waits for an approval: the pipeline has no run of it",
    });
  });

  it("says of a run that does not wait why not", async () => {
    const { runId, number } = await opened(6);
    host.members.set("ann", "write");
    const { aggregates } = git.edge.context.stores;
    const change = async (approval: string, head: object) => {
      const run = (await aggregates.load(runId))!;
      const found = actorOf(run, "approval");
      const state = { ...(found.state as object), state: approval };
      await aggregates.save(saveOf(run, head, [withIndex(found, { status: approval }, state)]));
      const [{ outcome, text }] = ofCommand(await comment(number));
      expect(outcome).to.equal("refused");
      return text;
    };
    const words = `no run of pull request 6 that the comment could mean waits for an approval: its newest run, ${runId}, `;
    expect(await change("approved", {})).to.equal(`${words}was approved before, or needs no approval`);
    const { summary } = (await aggregates.loadHead(runId))!;
    const ended = { summary: { ...summary, status: "cancelled", endedAt: 1 }, final: true };
    expect(await change("rejected", ended)).to.equal(
      `${words}has ended as cancelled: run that again, and then comment`,
    );
  });

  it("means nothing in other words, and when it was edited", async () => {
    const { runId, number } = await opened(4);
    host.members.set("ann", "write");
    host.calls = 0;
    for (const [body, action] of [
      ["please /millrace run", "created"],
      ["/millrace runs", "created"],
      ["/millrace", "created"],
      ["/millrace run", "edited"],
    ]) {
      expect(ofCommand(await comment(number, body, action)), body).to.deep.equal([]);
    }
    expect(host.calls).to.equal(0);
    expect(await votes(runId)).to.deep.equal([]);
  });

  it("waits for a host that does not answer, and then approves once", async () => {
    const { runId, number } = await opened(5);
    host.members.set("ann", "write");
    host.intercept = (_, response) => response.writeHead(503).end() !== undefined;
    const { deliveryId, state, verdicts } = await comment(number);
    expect([state, verdicts.map(({ outcome }: any) => outcome)]).to.deep.equal(["owed", ["waiting"]]);
    expect(await votes(runId)).to.deep.equal([]);
    host.intercept = () => false;
    git.edge.skewMs = 60_000;
    try {
      await runner.pass();
    } finally {
      git.edge.skewMs = 0;
    }
    expect(ofCommand(await read(deliveryId))[0]).to.include({ outcome: "matched", runId });
    expect(await votes(runId)).to.deep.equal(["approve gitea:ann"]);
  });
});

/** Definitions that are saved as pull requests over HTTP, with a real Git server and a small server of Gitea's API. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Registry } from "prom-client";
import type { GitRepositories } from "../../src/git/git-repositories.ts";
import { createHttpServer } from "../../src/http/server/server.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { at, DEFINITION_PATH, GitEdge, specOf, textOf } from "../support/git-edge.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";

interface Saved {
  readonly detail: {
    readonly headCommitSha: string;
    readonly pullRequest: { readonly number: number; readonly branch: string };
  };
}

describe("definitions that are saved as pull requests", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let origin: BareRepository;
  let pipelineId: string;
  let head: string;
  before(async () => {
    git = await GitEdge.open();
    host = await new ProviderServer("gitea").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    await git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "API", value: TOKEN } });
    origin = new BareRepository(git.world.folder, "team/app");
    head = origin.commit({ [DEFINITION_PATH]: textOf("echo 1"), other: "x" });
    const repoUrl = `${git.world.server.origin}/team/app.git`;
    const fields = { repoUrl, repoCredential: "CODE", repoApiCredential: "API", saveMode: "pr" };
    const unknown = await git.create(fields);
    expect(unknown.body.errors[0].pointer, JSON.stringify(unknown.body)).to.equal("/repoProvider");
    const wrong = await git.create({ ...fields, repoProvider: "gitea", repoApiCredential: "CODE" });
    expect(wrong.body.errors[0]).to.include({ code: "git_authentication", pointer: "/repoApiCredential" });
    const created = await git.create({ ...fields, repoProvider: "gitea" });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    pipelineId = created.body.detail.pipelineId;
  });
  after(async () => {
    await git.close();
    await host.stop();
  });
  afterEach(() => {
    host.intercept = () => false;
  });

  it("are tried by a check, which tells what the token may do at the host", async () => {
    const check = async () =>
      (await git.edge.call("POST", `/api/v1/pipelines/${pipelineId}/repository/check`)).body.detail;
    expect(await check()).to.deep.include({ canPropose: true, canManageHooks: true, problems: [] });
    host.intercept = (_, response) => response.writeHead(403).end("{}") !== undefined;
    const refused = await check();
    expect(refused).to.include({ canPropose: false, canManageHooks: false, canPush: true });
    expect(refused.problems[0]).to.include({ code: "git_read_only", pointer: "/repoApiCredential" });
    host.intercept = (_, response) => response.writeHead(503).end("{}") !== undefined;
    expect(await check()).to.include({ canPropose: false, canManageHooks: null });
  });

  it("are a commit on a branch of the editor, and an open one gets the next commit", async () => {
    const body = { spec: specOf("echo 2"), expectedHeadCommitSha: head, commitMessage: "Say two", requestId: "one" };
    const saved = await git.save(pipelineId, body);
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    const { headCommitSha, pullRequest } = saved.body.detail;
    expect(pullRequest).to.include({ number: 1, targetBranch: "main" });
    expect(origin.tip(pullRequest.branch)).to.equal(headCommitSha);
    expect(origin.tip()).to.equal(head);
    expect(origin.git(["diff", "--name-only", head, headCommitSha])).to.equal(DEFINITION_PATH);
    expect(host.pulls[0]).to.include({ title: "Say two", branch: pullRequest.branch, target: "main" });
    expect((await git.save(pipelineId, body)).body.detail).to.deep.equal(saved.body.detail);
    const next = await git.save(pipelineId, { spec: specOf("echo 3"), expectedHeadCommitSha: headCommitSha });
    expect(next.body.detail.pullRequest, JSON.stringify(next.body)).to.deep.equal(pullRequest);
    expect(origin.git(["rev-list", "--count", `main..${pullRequest.branch}`])).to.equal("2");
    const same = await git.save(pipelineId, { spec: specOf("echo 3") });
    expect(same.body.detail.headCommitSha).to.equal(next.body.detail.headCommitSha);
    expect(host.pulls).to.have.length(1);
    expect(await git.spec(pipelineId)).to.include({ text: textOf("echo 1"), headCommitSha: head });
    const kept = await git.edge.call("GET", at(pipelineId, `/revisions/${next.body.detail.revisionId}`));
    const { branch } = pullRequest;
    expect(kept.body.detail).to.deep.include({ commitSha: next.body.detail.headCommitSha, branch, pullRequest });
    const stale = await git.save(pipelineId, { spec: specOf("x"), expectedHeadCommitSha: "0".repeat(40) });
    expect(stale.body).to.include({ code: 409, reason: "head_moved" });
  });

  it("are those of saves that ask for it, whatever the pipeline says, and of no inline definition", async () => {
    const pulls = host.pulls.length;
    const direct = await git.save(pipelineId, { spec: specOf("echo 4"), saveMode: "direct" });
    expect(direct.body.detail.pullRequest, JSON.stringify(direct.body)).to.equal(null);
    expect(origin.tip()).to.equal(direct.body.detail.headCommitSha);
    expect(host.pulls).to.have.length(pulls);
    const changed = await git.edge.call("PUT", `/api/v1/pipelines/${pipelineId}`, { body: { saveMode: "direct" } });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    const proposed = await git.save(pipelineId, { spec: specOf("echo 6"), saveMode: "pr" });
    expect(origin.tip(proposed.body.detail.pullRequest.branch)).to.equal(proposed.body.detail.headCommitSha);
    expect(origin.tip()).to.equal(direct.body.detail.headCommitSha);
    const inline = (await git.create()).body.detail.pipelineId;
    const refused = await git.save(inline, { spec: specOf("echo 1"), saveMode: "pr" });
    expect(refused.body.errors[0], JSON.stringify(refused.body)).to.include({ pointer: "/saveMode" });
    await git.edge.call("PUT", `/api/v1/pipelines/${pipelineId}`, { body: { saveMode: "pr" } });
  });

  it("open a new one after the last one was closed, and finish what was cut off by the host", async () => {
    for (const pull of host.pulls) pull.isOpen = false;
    const count = host.pulls.length;
    host.intercept = ({ method }, response) =>
      method === "POST" && response.writeHead(503, { "retry-after": "9" }).end("{}") !== undefined;
    const body = { spec: specOf("echo 5"), requestId: "cut off" };
    const failed = await git.save(pipelineId, body);
    expect(failed.body, JSON.stringify(failed.body)).to.include({ code: 503, reason: "unavailable" });
    expect(failed.headers.get("retry-after")).to.equal("9");
    host.intercept = () => false;
    const repeated = await git.save(pipelineId, body);
    expect(repeated.status, JSON.stringify(repeated.body)).to.equal(200);
    const { branch } = repeated.body.detail.pullRequest;
    expect(host.pulls).to.have.length(count + 1);
    expect(origin.git(["rev-list", "--count", `main..${branch}`])).to.equal("1");
    expect((await git.save(pipelineId, body)).body.detail).to.deep.equal(repeated.body.detail);
  });

  it("are finished by a repeat after an hour without the API, and none is opened twice", async () => {
    for (const pull of host.pulls) pull.isOpen = false;
    const count = host.pulls.length;
    const branches = () =>
      origin.git(["for-each-ref", "--format=%(refname)", "refs/heads/millrace"]).split("\n").length;
    const before = branches();
    const body = { spec: specOf("echo 6"), requestId: "an hour" };
    host.intercept = ({ method }, response) =>
      method === "POST" ? response.writeHead(503).end("{}") !== undefined : false;
    for (let tries = 0; tries < 4; tries++) {
      expect((await git.save(pipelineId, body)).body).to.include({ code: 503, reason: "unavailable" });
      // Then the host is away as a whole.
      host.intercept = (_, response) => response.destroy() !== undefined;
      git.edge.skewMs += 20 * 60_000;
    }
    expect(branches()).to.equal(before + 1);
    host.intercept = () => false;
    const saved = await git.save(pipelineId, body);
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect(host.pulls).to.have.length(count + 1);
    expect(branches()).to.equal(before + 1);
    expect(origin.git(["rev-list", "--count", `main..${saved.body.detail.pullRequest.branch}`])).to.equal("1");
  });

  it("are refused in the words of the host, and nothing is left half done", async () => {
    for (const pull of host.pulls) pull.isOpen = false;
    for (const [status, code, answered] of [
      [403, "git_read_only", 422],
      [422, "git_refused", 422],
      [429, "git_too_many", 503],
    ] as const) {
      host.intercept = ({ method }, response) =>
        method === "POST" &&
        response
          .writeHead(status, status === 429 ? { "retry-after": "7" } : {})
          .end('{"message":"said by the host"}') !== undefined;
      const body = { spec: specOf(`echo ${status}`), requestId: `refused ${status}` };
      const refused = await git.save(pipelineId, body);
      expect(refused.status, JSON.stringify(refused.body)).to.equal(answered);
      expect(refused.body.errors[0].code).to.equal(code);
      expect(refused.body.errMsg).to.include("said by the host");
      if (answered === 503) expect(refused.headers.get("retry-after")).to.equal("7");
      host.intercept = () => false;
      const saved = await git.save(pipelineId, body);
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      for (const pull of host.pulls) pull.isOpen = false;
    }
  });

  it("go on where a call was cut off whose editor saves something else", async () => {
    for (const pull of host.pulls) pull.isOpen = false;
    const count = host.pulls.length;
    host.intercept = ({ method }, response) => method === "POST" && response.writeHead(503).end("{}") !== undefined;
    expect((await git.save(pipelineId, { spec: specOf("echo 6") })).status).to.equal(503);
    host.intercept = () => false;
    for (const script of ["echo 7", "echo 6"]) {
      const saved = await git.save(pipelineId, { spec: specOf(script) });
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    }
    expect(host.pulls).to.have.length(count + 1);
    expect(origin.git(["rev-list", "--count", `main..${host.pulls.at(-1)!.branch}`])).to.equal("3");
  });

  describe("at two edges", () => {
    let second: Server;
    let engines: readonly GitRepositories[];
    let calls: readonly ((body: object) => Promise<{ status: number; body: Saved }>)[];
    before(async () => {
      const { context, adminToken } = git.edge;
      const other = git.world.engineWith({ folder: join(git.world.folder, "second") });
      engines = [git.world.engine, other];
      ({ server: second } = createHttpServer(
        { ...context, git: { ...context.git!, repositories: other } },
        { registry: new Registry(), readiness: {} },
      ));
      second.listen(0, "127.0.0.1");
      await once(second, "listening");
      const url = `http://127.0.0.1:${(second.address() as AddressInfo).port}${at(pipelineId, "/spec/save")}`;
      const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
      calls = [
        (body) => git.save(pipelineId, body),
        async (body) => {
          const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
          return { status: answer.status, body: (await answer.json()) as Saved };
        },
      ];
    });
    after(() => {
      second.closeAllConnections();
      second.close();
    });

    /**
     * Both edges look for branches of the editor, and look again after they have claimed one, before either pushes. Ids that one
     * process makes in one millisecond begin alike, and those of two edges do not: so the edges claim one after the other.
     */
    function lookAtOnce(): void {
      const rounds = [0, 1].map(() => {
        let arrive = () => {};
        const all = new Promise<void>((resolve) => (arrive = resolve));
        let arrived = 0;
        return () => {
          if (++arrived === engines.length) arrive();
          return all;
        };
      });
      for (const [index, engine] of engines.entries()) {
        const look = engine.branchesFrom.bind(engine);
        let looks = 0;
        engine.branchesFrom = async (...args) => {
          const found = await look(...args);
          await rounds[looks++]?.();
          if (looks === 1) await sleep(5 * index);
          return found;
        };
      }
    }
    afterEach(() => {
      for (const engine of engines) delete (engine as { branchesFrom?: unknown }).branchesFrom;
    });

    it("open one, which has the commits of both", async () => {
      for (const pull of host.pulls) pull.isOpen = false;
      const count = host.pulls.length;
      lookAtOnce();
      const answers = await Promise.all(calls.map((save, index) => save({ spec: specOf(`echo edge ${index}`) })));
      const [first, other] = answers.map(({ status, body }) => {
        expect(status, JSON.stringify(body)).to.equal(200);
        return body.detail.pullRequest;
      });
      expect(first).to.deep.equal(other);
      expect(host.pulls).to.have.length(count + 1);
      expect(origin.git(["rev-list", "--count", `main..${first!.branch}`])).to.equal("2");
    });

    it("make one commit of a call that is sent to both", async () => {
      for (const pull of host.pulls) pull.isOpen = false;
      const count = host.pulls.length;
      lookAtOnce();
      const body = { spec: specOf("echo once"), requestId: "sent to both" };
      const [first, other] = await Promise.all(calls.map((save) => save(body)));
      expect([first!.status, other!.status], JSON.stringify([first, other])).to.deep.equal([200, 200]);
      expect(first!.body.detail).to.deep.equal(other!.body.detail);
      expect(host.pulls).to.have.length(count + 1);
      expect(origin.git(["rev-list", "--count", `main..${first!.body.detail.pullRequest.branch}`])).to.equal("1");
    });
  });
});

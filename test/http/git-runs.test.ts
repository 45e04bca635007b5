/** Runs of definitions in Git over HTTP, and definitions that move there and back. */
import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { at, DEFINITION_PATH, fileOf, GitEdge, specOf, textOf } from "../support/git-edge.ts";

describe("runs and moves of definitions in Git", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  describe("a run", () => {
    const trigger = async (pipelineId: string, body: object, options: object = {}) => {
      const answer = await git.edge.call("POST", at(pipelineId, "/trigger"), { body, ...options });
      if (answer.status !== 200) return answer.body;
      const { runId } = answer.body.detail;
      const { detail } = (await git.edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body;
      return { runId, commit: detail.commitSha, ref: detail.trigger.ref };
    };

    it("takes the definition of the commit, branch or ref that its trigger names", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const feature = origin.commit(
        { [DEFINITION_PATH]: textOf("echo").replace("name: build", "name: other") },
        { branch: "feature", onto: head },
      );
      const pull = origin.commit({ [DEFINITION_PATH]: textOf("echo p") }, { branch: "tmp", onto: head });
      origin.git(["update-ref", "refs/pull/7/head", pull]);
      for (const [body, commit, ref] of [
        [{}, head, "main"],
        [{ branch: "feature" }, feature, "feature"],
        [{ ref: "feature" }, feature, "feature"],
        [{ ref: "refs/pull/7/head" }, pull, "refs/pull/7/head"],
        [{ commit: feature }, feature, "main"],
        [{ commit: pull, branch: "feature" }, pull, "feature"],
        [{ variables: { ref: "feature" } }, feature, "feature"],
      ] as const) {
        expect(await trigger(pipelineId, body), JSON.stringify(body)).to.include({ commit, ref });
      }
      for (const [body, pointer] of [
        [{ branch: "--upload-pack=x" }, "/branch"],
        [{ ref: "--upload-pack=x" }, "/ref"],
        [{ commit: "abc" }, "/commit"],
        [{ branch: "a", ref: "b" }, "/branch"],
      ] as const) {
        expect((await trigger(pipelineId, body)).errors[0].pointer, JSON.stringify(body)).to.equal(pointer);
      }
      const plan = (await git.edge.call("POST", at(pipelineId, "/plan"), { body: { trigger: { ref: "feature" } } }))
        .body;
      expect(plan.detail.stages[0].jobs[0].name).to.equal("other");
    });

    it("of what a fork may have written needs the right to save definitions", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const tip = origin.commit({ other: "y" });
      const foreign = origin.commit({ [DEFINITION_PATH]: textOf("echo stolen") }, { branch: "tmp", onto: head });
      origin.git(["update-ref", "refs/pull/8/head", foreign]);
      origin.git(["update-ref", "-d", "refs/heads/tmp"]);
      origin.configure("uploadpack", "allowAnySHA1InWant", "true");
      const options = { token: (await git.edge.userWithRole("operator")).token };
      for (const body of [{ commit: tip }, { ref: head }]) {
        expect(await trigger(pipelineId, body, options), JSON.stringify(body)).to.have.property("runId");
      }
      for (const body of [
        { ref: "refs/pull/8/head" },
        { commit: foreign, branch: "main" },
        { variables: { ref: foreign } },
      ]) {
        const refused = await trigger(pipelineId, body, options);
        expect(refused, JSON.stringify(body)).to.include({ code: 403, reason: "forbidden" });
        expect(refused.errMsg).to.include("needs the right to save definitions");
      }
      expect(await trigger(pipelineId, { commit: foreign })).to.include({ commit: foreign });
    });

    it("is the same for a repeat, also after the branch moved, the file went, or the server went down", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const body = { requestId: "run", triggeredBy: "admin" };
      const first = await trigger(pipelineId, body);
      expect(first).to.include({ commit: head });
      origin.commit({ [DEFINITION_PATH]: null });
      expect(await trigger(pipelineId, body)).to.deep.equal(first);
      git.world.server.intercept = (_, response) => response.destroy() !== undefined;
      expect(await trigger(pipelineId, body)).to.deep.equal(first);
      const refused = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
      expect(refused.body).to.include({ code: 503, reason: "unavailable" });
      expect(Number(refused.headers.get("retry-after"))).to.be.greaterThan(1);
      const [{ revisionId }] = await git.revisionsOf(pipelineId);
      const kept = await git.edge.call("GET", at(pipelineId, `/revisions/${revisionId}`));
      expect(kept.body.detail.text).to.equal(textOf("echo 1"));
    });

    it("checks out exactly its commit, with the credential of the pipeline", async () => {
      const { origin, pipelineId } = await git.connected();
      const lines = [
        "jobs:",
        "  - name: a",
        "    steps:",
        "      - uses: checkout",
        "      - { uses: checkout, args: { ref: HEAD } }",
        "",
      ];
      const commit = origin.commit({ [DEFINITION_PATH]: lines.join("\n") });
      const { runId } = await trigger(pipelineId, {});
      const job = await git.edge.context.stores.plans.loadJob(runId, 0);
      const { repoUrl } = (await git.edge.call("GET", at(pipelineId))).body.detail;
      const own = { repo: repoUrl, credential: "${{ secrets.CODE }}" };
      expect(job!.steps.map(({ args }) => args)).to.deep.equal([
        { ...own, ref: commit },
        { ...own, ref: "HEAD" },
      ]);
    });
  });

  describe("an inline definition", () => {
    it("moves into a repository by one call, and back, as it is", async () => {
      const { origin, repository } = git.world.newRepository();
      const head = origin.commit({ other: "x" });
      const inline = await git.create();
      const { pipelineId } = inline.body.detail;
      const layout = textOf("echo moved");
      await git.save(pipelineId, { spec: specOf("echo moved"), layout });
      const move = (body: object, key?: string) => {
        const headers = key === undefined ? undefined : { "idempotency-key": key };
        return git.edge.call("POST", at(pipelineId, "/spec/move"), { body, ...(headers && { headers }) });
      };
      const toGit = { to: "git", repoUrl: repository.remote.url, repoCredential: "CODE", commitMessage: "Begin" };
      const moved = await move(toGit, "one move");
      expect((await move(toGit, "one move")).body.detail).to.deep.equal(moved.body.detail);
      for (const other of [{ ...toGit, commitMessage: "End" }, { to: "inline" }]) {
        expect((await move(other, "one move")).body).to.include({ code: 409, reason: "request_id_reused" });
      }
      expect(moved.status, JSON.stringify(moved.body)).to.equal(200);
      expect(moved.body.detail).to.include({ repoUrl: repository.remote.url, headCommitSha: origin.tip() });
      expect(fileOf(origin)).to.equal(layout);
      expect(origin.git(["log", "--format=%s", `${head}..main`])).to.equal("Begin");
      expect((await move(toGit)).body.detail.headCommitSha).to.equal(origin.tip());
      origin.commit({ [DEFINITION_PATH]: textOf("echo later") });
      const back = await move({ to: "inline" });
      expect(back.status, JSON.stringify(back.body)).to.equal(200);
      expect(back.body.detail).to.include({ repoUrl: "", pipelineFilePath: "" });
      expect(await git.spec(pipelineId)).to.include({ text: textOf("echo later"), branch: null });
      const refused = await move(toGit);
      expect(refused.status, JSON.stringify(refused.body)).to.equal(200);
    });

    it("does not replace another definition that the repository has", async () => {
      const { origin, repository } = git.world.newRepository();
      origin.commit({ [DEFINITION_PATH]: textOf("echo theirs") });
      const inline = await git.create();
      const { pipelineId } = inline.body.detail;
      const move = (body: object) => git.edge.call("POST", at(pipelineId, "/spec/move"), { body });
      const toGit = { to: "git", repoUrl: repository.remote.url, repoCredential: "CODE" };
      expect((await move(toGit)).body.errMsg).to.include("no definition");
      await git.save(pipelineId, { spec: specOf("echo mine") });
      const refused = await move(toGit);
      expect(refused.body).to.include({ code: 409, reason: "conflict" });
      expect(await git.spec(pipelineId)).to.deep.include({ spec: specOf("echo mine"), branch: null });
      expect((await git.edge.call("GET", at(pipelineId, "/spec?ref=main"))).status).to.equal(400);
    });
  });

  describe("the mirrors", () => {
    it("hold no credential", () => {
      const { password } = git.world.server.expected!;
      const all = readdirSync(join(git.world.folder, "cache"), { recursive: true, withFileTypes: true });
      const files = all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
      expect(files.length).to.be.greaterThan(10);
      expect(files.filter((file) => readFileSync(file).includes(password))).to.deep.equal([]);
    });
  });
});

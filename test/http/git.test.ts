/** Definitions in Git over HTTP: connected, read, saved, raced for, run and moved, with a real Git server. */
import { expect } from "chai";
import { join } from "node:path";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import type { BareRepository } from "../support/bare-repository.ts";
import { GitWorld } from "../support/git-engine.ts";

const PATH = ".millrace/pipeline.yaml";
const text = (script: string) =>
  `# The build.\njobs:\n  - name: build # one job\n    steps:\n      - uses: shell\n        args: { script: ${script} }\n`;
const specOf = (script: string) => ({ jobs: [{ name: "build", steps: [{ uses: "shell", args: { script } }] }] });

describe("definitions in Git over HTTP", () => {
  let world: GitWorld;
  let edge: TestEdge;
  let names = 0;
  before(async () => {
    world = await new GitWorld().start();
    const committer = { name: "millrace", email: "millrace@example.org" };
    edge = await openTestEdge({ git: { repositories: world.engine, committer } });
    await edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "CODE", value: credentialOf() } });
  });
  after(async () => {
    await edge.close();
    await world.stop();
  });
  afterEach(() => world.mend());

  const credentialOf = () => {
    const { user, password } = world.server.expected!;
    return `${user}:${password}`;
  };
  const at = (pipelineId: string, rest = "") => `/api/v1/pipelines/${pipelineId}${rest}`;
  const create = (fields: object): Promise<Answer> =>
    edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}`, repoCredential: "CODE", ...fields } });
  const save = (pipelineId: string, body: object, options: object = {}): Promise<Answer> =>
    edge.call("POST", at(pipelineId, "/spec/save"), { body, ...options });
  const spec = async (pipelineId: string, query = "") =>
    (await edge.call("GET", at(pipelineId, `/spec${query}`))).body.detail;
  const revisionsOf = async (pipelineId: string) =>
    (await edge.call("GET", at(pipelineId, "/revisions"))).body.detail.list;

  /** A pipeline whose repository has the definition. */
  async function connected(script = "echo 1"): Promise<{ origin: BareRepository; pipelineId: string; head: string }> {
    const { origin, repository } = world.newRepository();
    const head = origin.commit({ [PATH]: text(script), other: "x" });
    const created = await create({ repoUrl: repository.remote.url });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    return { origin, pipelineId: created.body.detail.pipelineId, head };
  }
  const fileOf = (origin: BareRepository, ref = "main") => `${origin.git(["show", `${ref}:${PATH}`])}\n`;

  describe("a repository", () => {
    it("is connected with its own branch and the usual path, and its definition is the head", async () => {
      const { pipelineId, head } = await connected();
      const { detail } = (await edge.call("GET", at(pipelineId))).body;
      expect(detail).to.deep.include({
        defaultBranch: "main",
        pipelineFilePath: PATH,
        repoCredential: "CODE",
        headCommitSha: head,
      });
      expect(JSON.stringify(detail)).to.not.include(world.server.expected!.password);
    });

    it("that cannot be read is refused, and the answer names the field", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: text("echo"), "link.yaml": { link: PATH } });
      const { url: repoUrl } = repository.remote;
      for (const [fields, status, pointer] of [
        [{ repoUrl: "file:///etc" }, 400, "/repoUrl"],
        [{ repoUrl: "https://ann:secret@example.org/x" }, 400, "/repoUrl"],
        [{ repoUrl, repoCredential: "NONE" }, 400, "/repoCredential"],
        [{ repoUrl, defaultBranch: "--upload-pack=x" }, 400, "/defaultBranch"],
        [{ repoUrl, pipelineFilePath: "../x.yaml" }, 400, "/pipelineFilePath"],
        [{ repoUrl, saveMode: "pr" }, 400, "/saveMode"],
        [{ repoUrl: "" }, 400, "/repoCredential"],
        [{ repoUrl, repoCredential: "" }, 422, "/repoCredential"],
        [{ repoUrl, defaultBranch: "gone" }, 422, "/defaultBranch"],
        [{ repoUrl, pipelineFilePath: "link.yaml" }, 422, "/pipelineFilePath"],
        [{ repoUrl: `${repoUrl}x` }, 422, "/repoUrl"],
        [{ repoUrl: "http://10.1.2.3/x.git" }, 422, "/repoUrl"],
        [{ repoUrl: "http://127.0.0.1:1/x.git" }, 503, "/repoUrl"],
      ] as const) {
        const refused = await create(fields);
        expect(refused.status, JSON.stringify([fields, refused.body])).to.equal(status);
        expect(refused.body.errors[0].pointer, JSON.stringify(refused.body)).to.equal(pointer);
        expect(JSON.stringify(refused.body)).to.not.include("secret@");
      }
    });

    it("is checked: what is missing is told", async () => {
      const { origin, pipelineId, head } = await connected();
      const check = async () => (await edge.call("POST", at(pipelineId, "/repository/check"))).body.detail;
      const good = { branch: "main", path: PATH, headCommitSha: head, canRead: true, hasFile: true, canPush: true };
      expect(await check()).to.deep.include({ ...good, problems: [] });
      origin.configure("http", "receivepack", "false");
      const [push] = (await check()).problems;
      expect(push).to.include({ code: "git_read_only", pointer: "/repoCredential" });
      world.server.expected = { user: "ann", password: "rotated" };
      const bad = await check();
      expect(bad).to.deep.include({ canRead: false, canPush: null, headCommitSha: null });
      expect(bad.problems[0]).to.include({ code: "git_authentication", pointer: "/repoCredential" });
      const inline = await edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}` } });
      const refused = await edge.call("POST", at(inline.body.detail.pipelineId, "/repository/check"));
      expect(refused.status).to.equal(400);
    });

    it("is not asked by an update that changes nothing about it", async () => {
      const { pipelineId } = await connected();
      world.server.intercept = (_, response) => response.destroy() !== undefined;
      const updated = await edge.call("PUT", at(pipelineId), { body: { description: "new" } });
      expect(updated.body.detail).to.include({ description: "new" });
      expect((await edge.call("PUT", at(pipelineId), { body: { defaultBranch: "x" } })).status).to.equal(503);
    });
  });

  describe("a definition", () => {
    it("is read with its commit, at the head and at any ref", async () => {
      const { origin, pipelineId, head } = await connected();
      const later = origin.commit({ [PATH]: text("echo 2") }, { message: "Say two\n\nIn full." });
      const other = origin.commit({ [PATH]: text("echo 3") }, { branch: "feature/x", onto: later });
      const read = await spec(pipelineId);
      expect(read).to.deep.include({
        spec: specOf("echo 2"),
        text: text("echo 2"),
        headCommitSha: later,
        branch: "main",
        path: PATH,
        diagnostics: [],
        commitMessage: "Say two\n\nIn full.",
        editor: "tester",
      });
      expect(await spec(pipelineId, "?ref=feature/x")).to.include({ headCommitSha: other, branch: "feature/x" });
      expect(await spec(pipelineId, `?ref=${head}`)).to.deep.include({ spec: specOf("echo 1"), branch: null });
      expect((await edge.call("GET", at(pipelineId))).body.detail.headCommitSha).to.equal(later);
      const revisions = await revisionsOf(pipelineId);
      expect(revisions.map(({ commitMessage }: { commitMessage: string }) => commitMessage)).to.deep.equal([
        "Say two\n\nIn full.",
        "a change",
      ]);
      const missing = await edge.call("GET", at(pipelineId, "/spec?ref=gone"));
      expect(missing.status, JSON.stringify(missing.body)).to.equal(422);
      expect((await edge.call("GET", at(pipelineId, "/spec?ref=--upload-pack=x"))).status).to.equal(400);
    });

    it("has one revision for all commits that leave it as it is", async () => {
      const { origin, pipelineId } = await connected();
      const later = origin.commit({ other: "changed" });
      expect((await spec(pipelineId)).headCommitSha).to.equal(later);
      expect((await edge.call("GET", at(pipelineId))).body.detail.headCommitSha).to.equal(later);
      expect(await revisionsOf(pipelineId)).to.have.length(1);
    });

    it("with errors is shown with its text and its problems", async () => {
      const { origin, pipelineId } = await connected();
      origin.commit({ [PATH]: "jobs: [{ name: a, colour: red }]\n" });
      const bad = await spec(pipelineId);
      expect(bad.spec).to.equal(null);
      expect(bad.diagnostics.map(({ code }: { code: string }) => code)).to.include("unknown-key");
      const refused = await edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
      expect(refused.body).to.include({ code: 400, reason: "invalid_definition" });
      origin.commit({ [PATH]: Buffer.from([0xff, 0xfe, 0x00]) });
      expect((await edge.call("GET", at(pipelineId, "/spec"))).body.errMsg).to.include("UTF-8");
      origin.commit({ [PATH]: null });
      const gone = await edge.call("GET", at(pipelineId, "/spec"));
      expect(gone.status).to.equal(404);
      expect(gone.body.errMsg).to.include(PATH);
      expect((await edge.call("POST", at(pipelineId, "/trigger"), { body: {} })).status).to.equal(409);
    });
  });

  describe("a save", () => {
    it("is one commit by the editor that keeps comments and every other file", async () => {
      const { origin, pipelineId, head } = await connected();
      const body = { spec: specOf("echo 2"), expectedHeadCommitSha: head, commitMessage: "Say two", requestId: "one" };
      const saved = await save(pipelineId, body);
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      const { headCommitSha, revisionId } = saved.body.detail;
      expect(origin.tip()).to.equal(headCommitSha);
      expect(fileOf(origin)).to.equal(text("echo 2"));
      expect(origin.git(["diff", "--name-only", head, headCommitSha])).to.equal(PATH);
      const format = "%P|%an|%ae|%cn|%ce|%B";
      const [parent, author, email, committer, address, message] = origin
        .git(["show", "-s", `--format=${format}`, headCommitSha])
        .split("|");
      expect([parent, author, committer, address]).to.deep.equal([head, "admin", "millrace", "millrace@example.org"]);
      expect(email).to.match(/@users\.invalid$/);
      expect(message).to.equal(`Say two\n\nMillrace-Revision: ${revisionId}`);
      const [newest] = await revisionsOf(pipelineId);
      expect(newest).to.include({ revisionId, isHead: true, editor: "admin" });
      const repeated = await save(pipelineId, body);
      expect(repeated.body.detail).to.deep.equal(saved.body.detail);
      expect((await save(pipelineId, { ...body, commitMessage: "other" })).body.reason).to.equal("request_id_reused");
      expect(origin.tip()).to.equal(headCommitSha);
    });

    it("that changes nothing commits nothing, and a repeat says the same after others have changed it", async () => {
      const { origin, pipelineId, head } = await connected();
      const body = { spec: specOf("echo 1"), requestId: "same" };
      expect((await save(pipelineId, body)).body.detail.headCommitSha).to.equal(head);
      expect(origin.tip()).to.equal(head);
      origin.commit({ [PATH]: text("echo 9") });
      expect((await save(pipelineId, body)).body.detail.headCommitSha).to.equal(head);
      expect(fileOf(origin)).to.equal(text("echo 9"));
    });

    it("on another head than the expected one is refused with what the other has changed", async () => {
      const { origin, pipelineId, head } = await connected();
      const theirs = origin.commit({ [PATH]: text("echo theirs") }, { message: "Mine first" });
      const newest = origin.commit({ other: "later" });
      const refused = await save(pipelineId, { spec: specOf("echo mine"), expectedHeadCommitSha: head });
      expect(refused.body).to.include({ code: 409, reason: "head_moved" });
      const [moved, who, diff] = refused.body.errors;
      expect(moved).to.deep.include({ pointer: "/expectedHeadCommitSha", message: newest });
      expect(who.message)
        .to.match(/^tester <tester@example\.org> at .*: Mine first/)
        .and.to.include(theirs);
      expect(diff.message).to.include("-        args: { script: echo 1 }\n+        args: { script: echo theirs }");
      expect(fileOf(origin)).to.equal(text("echo theirs"));
    });

    it("without an expected head follows a branch that moves meanwhile", async () => {
      const { origin, pipelineId } = await connected();
      let pushed = 0;
      world.server.intercept = (request) => {
        const isPush = request.method === "POST" && request.url!.endsWith("git-receive-pack");
        if (isPush && pushed++ === 0) origin.commit({ other: "meanwhile" });
        return false;
      };
      const saved = await save(pipelineId, { spec: specOf("echo 2") });
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      expect(pushed).to.equal(2);
      expect(origin.git(["show", "main:other"])).to.equal("meanwhile");
      expect(fileOf(origin)).to.equal(text("echo 2"));
    });

    it("of two at once on one head lets one win", async () => {
      const { origin, pipelineId, head } = await connected();
      const answers = await Promise.all(
        ["a", "b"].map((script) => save(pipelineId, { spec: specOf(script), expectedHeadCommitSha: head })),
      );
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 409]);
      expect(origin.git(["rev-list", "--count", `${head}..main`])).to.equal("1");
    });

    it("to a protected branch is refused with the words of the server", async () => {
      const { origin, pipelineId } = await connected();
      origin.hook("pre-receive", `echo "main is protected" >&2; exit 1`);
      const refused = await save(pipelineId, { spec: specOf("echo 2") });
      expect(refused.body).to.include({ code: 422, reason: "git_refused" });
      expect(refused.body.errMsg).to.include("main is protected");
      expect(refused.body.errors[0].code).to.equal("git_protected");
    });

    it("whose answer was lost finds its commit, at once and when it is repeated", async () => {
      const { origin, pipelineId, head } = await connected();
      const losing = (fully: boolean) => {
        let isLost = false;
        world.server.intercept = (request, response) => {
          if (fully && isLost) return response.destroy() !== undefined;
          if (request.method !== "POST" || !request.url!.endsWith("git-receive-pack")) return false;
          response.writeHead = () => response;
          response.write = () => true;
          response.end = () => {
            isLost = true;
            return response.destroy();
          };
          return false;
        };
      };
      losing(false);
      const found = await save(pipelineId, { spec: specOf("echo 2"), expectedHeadCommitSha: head });
      expect(found.status, JSON.stringify(found.body)).to.equal(200);
      expect(origin.tip()).to.equal(found.body.detail.headCommitSha);
      world.mend();
      losing(true);
      const second = { spec: specOf("echo 3"), expectedHeadCommitSha: origin.tip(), requestId: "lost" };
      const lost = await save(pipelineId, second);
      expect(lost.status, JSON.stringify(lost.body)).to.equal(503);
      expect(lost.body.errMsg).to.include("requestId");
      world.mend();
      const tip = origin.tip();
      origin.commit({ other: "later" });
      const repeated = await save(pipelineId, second);
      expect(repeated.body.detail, JSON.stringify(repeated.body)).to.include({ headCommitSha: tip });
      expect(origin.git(["rev-list", "--count", `${head}..main`])).to.equal("3");
      expect((await save(pipelineId, second)).body.detail).to.deep.equal(repeated.body.detail);
    });

    it("makes the file, and the first commit of an empty repository", async () => {
      const { origin, repository } = world.newRepository();
      const created = await create({ repoUrl: repository.remote.url });
      const { pipelineId, headCommitSha } = created.body.detail;
      expect(headCommitSha).to.equal("");
      const saved = await save(pipelineId, { spec: specOf("echo 1") });
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      expect(origin.tip()).to.equal(saved.body.detail.headCommitSha);
      const json = await save(pipelineId, { spec: specOf("echo 1"), format: "json" });
      expect(json.body.errors[0].pointer).to.equal("/format");
    });

    it("heeds If-Match, and restores an earlier revision as a commit", async () => {
      const { origin, pipelineId } = await connected();
      const read = await edge.call("GET", at(pipelineId, "/spec"));
      const headers = { "if-match": read.headers.get("etag")! };
      expect((await save(pipelineId, { spec: specOf("echo 2") }, { headers })).status).to.equal(200);
      expect((await save(pipelineId, { spec: specOf("echo 3") }, { headers })).status).to.equal(412);
      const first = (await revisionsOf(pipelineId)).at(-1).revisionId;
      const restored = await edge.call("POST", at(pipelineId, `/revisions/${first}/restore`), { body: {} });
      expect(restored.status, JSON.stringify(restored.body)).to.equal(200);
      expect(fileOf(origin)).to.equal(text("echo 1"));
    });

    it("needs the role of a maintainer", async () => {
      const { pipelineId } = await connected();
      const { token } = await edge.userWithRole("operator");
      for (const [path, body] of [
        ["/spec/save", { spec: specOf("x") }],
        ["/spec/move", { to: "inline" }],
        ["/repository/check", undefined],
      ] as const) {
        const refused = await edge.call("POST", at(pipelineId, path), { token, ...(body && { body }) });
        expect(refused.status, path).to.equal(403);
      }
    });
  });

  describe("a run", () => {
    const trigger = async (pipelineId: string, body: object) => {
      const answer = await edge.call("POST", at(pipelineId, "/trigger"), { body });
      if (answer.status !== 200) return answer.body;
      const { runId } = answer.body.detail;
      const { detail } = (await edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body;
      return { runId, commit: detail.commitSha, ref: detail.trigger.ref };
    };

    it("takes the definition of the commit, branch or ref that its trigger names", async () => {
      const { origin, pipelineId, head } = await connected();
      const feature = origin.commit({ [PATH]: text("echo f") }, { branch: "feature", onto: head });
      const pull = origin.commit({ [PATH]: text("echo p") }, { branch: "tmp", onto: head });
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
      const plan = (await edge.call("POST", at(pipelineId, "/plan"), { body: { trigger: { ref: "feature" } } })).body;
      expect(JSON.stringify(plan.detail)).to.include("echo f");
    });

    it("is the same for a repeat, also after the branch moved, the file went, or the server went down", async () => {
      const { origin, pipelineId, head } = await connected();
      const body = { requestId: "run", triggeredBy: "admin" };
      const first = await trigger(pipelineId, body);
      expect(first).to.include({ commit: head });
      origin.commit({ [PATH]: null });
      expect(await trigger(pipelineId, body)).to.deep.equal(first);
      world.server.intercept = (_, response) => response.destroy() !== undefined;
      expect(await trigger(pipelineId, body)).to.deep.equal(first);
      const refused = await edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
      expect(refused.body).to.include({ code: 503, reason: "unavailable" });
      expect(Number(refused.headers.get("retry-after"))).to.be.greaterThan(1);
      const [{ revisionId }] = await revisionsOf(pipelineId);
      const kept = await edge.call("GET", at(pipelineId, `/revisions/${revisionId}`));
      expect(kept.body.detail.text).to.equal(text("echo 1"));
    });

    it("checks out exactly its commit, with the credential of the pipeline", async () => {
      const { origin, pipelineId } = await connected();
      const lines = [
        "jobs:",
        "  - name: a",
        "    steps:",
        "      - uses: checkout",
        "      - { uses: checkout, args: { ref: HEAD } }",
        "",
      ];
      const commit = origin.commit({ [PATH]: lines.join("\n") });
      const { runId } = await trigger(pipelineId, {});
      const job = await edge.context.stores.plans.loadJob(runId, 0);
      const { url } =
        (await edge.context.git!.repositories, { url: (await edge.call("GET", at(pipelineId))).body.detail.repoUrl });
      const own = { repo: url, credential: "${{ secrets.CODE }}" };
      expect(job!.steps.map(({ args }) => args)).to.deep.equal([
        { ...own, ref: commit },
        { ...own, ref: "HEAD" },
      ]);
    });
  });

  describe("an inline definition", () => {
    it("moves into a repository by one call, and back, as it is", async () => {
      const { origin, repository } = world.newRepository();
      const head = origin.commit({ other: "x" });
      const inline = await edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}` } });
      const { pipelineId } = inline.body.detail;
      const layout = text("echo moved");
      await save(pipelineId, { spec: specOf("echo moved"), layout });
      const move = (body: object) => edge.call("POST", at(pipelineId, "/spec/move"), { body });
      const toGit = { to: "git", repoUrl: repository.remote.url, repoCredential: "CODE", commitMessage: "Begin" };
      const moved = await move(toGit);
      expect(moved.status, JSON.stringify(moved.body)).to.equal(200);
      expect(moved.body.detail).to.include({ repoUrl: repository.remote.url, headCommitSha: origin.tip() });
      expect(fileOf(origin)).to.equal(layout);
      expect(origin.git(["log", "--format=%s", `${head}..main`])).to.equal("Begin");
      expect((await move(toGit)).body.detail.headCommitSha).to.equal(origin.tip());
      origin.commit({ [PATH]: text("echo later") });
      const back = await move({ to: "inline" });
      expect(back.status, JSON.stringify(back.body)).to.equal(200);
      expect(back.body.detail).to.include({ repoUrl: "", pipelineFilePath: "" });
      expect(await spec(pipelineId)).to.include({ text: text("echo later"), branch: null });
      const refused = await move(toGit);
      expect(refused.status, JSON.stringify(refused.body)).to.equal(200);
    });

    it("does not replace another definition that the repository has", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: text("echo theirs") });
      const inline = await edge.call("POST", "/api/v1/pipelines", { body: { name: `p${++names}` } });
      const { pipelineId } = inline.body.detail;
      const move = (body: object) => edge.call("POST", at(pipelineId, "/spec/move"), { body });
      const toGit = { to: "git", repoUrl: repository.remote.url, repoCredential: "CODE" };
      expect((await move(toGit)).body.errMsg).to.include("no definition");
      await save(pipelineId, { spec: specOf("echo mine") });
      const refused = await move(toGit);
      expect(refused.body).to.include({ code: 409, reason: "conflict" });
      expect(await spec(pipelineId)).to.deep.include({ spec: specOf("echo mine"), branch: null });
      expect((await edge.call("GET", at(pipelineId, "/spec?ref=main"))).status).to.equal(400);
    });
  });

  it("leave no credential in the folder of the mirrors", async () => {
    const { execFileSync } = await import("node:child_process");
    const { password } = world.server.expected!;
    const folder = join(world.folder, "cache");
    const found = execFileSync("sh", ["-c", `grep -rlF -- '${password}' '${folder}' || true`]).toString();
    expect(found).to.equal("");
  });
});

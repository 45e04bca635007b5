/** Definitions in Git over HTTP: connected, read and saved, with a real Git server. */
import { expect } from "chai";
import { at, DEFINITION_PATH, fileOf, GitEdge, specOf, textOf } from "../support/git-edge.ts";

describe("definitions in Git over HTTP", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  describe("a repository", () => {
    it("is connected with its own branch and the usual path, and its definition is the head", async () => {
      const { pipelineId, head } = await git.connected();
      const { detail } = (await git.edge.call("GET", at(pipelineId))).body;
      expect(detail).to.deep.include({
        defaultBranch: "main",
        pipelineFilePath: DEFINITION_PATH,
        repoCredential: "CODE",
        headCommitSha: head,
      });
      expect(JSON.stringify(detail)).to.not.include(git.world.server.expected!.password);
    });

    it("that cannot be read is refused, and the answer names the field", async () => {
      const { origin, repository } = git.world.newRepository();
      origin.commit({ [DEFINITION_PATH]: textOf("echo"), "link.yaml": { link: DEFINITION_PATH } });
      const { url: repoUrl } = repository.remote;
      for (const [fields, status, pointer] of [
        [{ repoUrl: "file:///etc" }, 400, "/repoUrl"],
        [{ repoUrl: "https://ann:secret@example.org/x" }, 400, "/repoUrl"],
        [{ repoUrl, repoCredential: "NONE" }, 400, "/repoCredential"],
        [{ repoUrl, defaultBranch: "--upload-pack=x" }, 400, "/defaultBranch"],
        [{ repoUrl, pipelineFilePath: "../x.yaml" }, 400, "/pipelineFilePath"],
        [{ repoUrl, saveMode: "pr" }, 400, "/repoProvider"],
        [{ repoUrl: "" }, 400, "/repoCredential"],
        [{ repoUrl, repoCredential: "" }, 422, "/repoCredential"],
        [{ repoUrl, defaultBranch: "gone" }, 422, "/defaultBranch"],
        [{ repoUrl, pipelineFilePath: "link.yaml" }, 422, "/pipelineFilePath"],
        [{ repoUrl: `${repoUrl}x` }, 422, "/repoUrl"],
        [{ repoUrl: "http://10.1.2.3/x.git" }, 422, "/repoUrl"],
        [{ repoUrl: "http://127.0.0.1:1/x.git" }, 503, "/repoUrl"],
      ] as const) {
        const refused = await git.create({ repoCredential: "CODE", ...fields });
        expect(refused.status, JSON.stringify([fields, refused.body])).to.equal(status);
        expect(refused.body.errors[0].pointer, JSON.stringify(refused.body)).to.equal(pointer);
        expect(JSON.stringify(refused.body)).to.not.include("secret@");
      }
    });

    it("is checked: what is missing is told", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const check = async () => (await git.edge.call("POST", at(pipelineId, "/repository/check"))).body.detail;
      const good = {
        branch: "main",
        path: DEFINITION_PATH,
        headCommitSha: head,
        canRead: true,
        hasFile: true,
        canPush: true,
        canPropose: null,
        canManageHooks: null,
      };
      expect(await check()).to.deep.include({ ...good, problems: [] });
      origin.configure("http", "receivepack", "false");
      const [push] = (await check()).problems;
      expect(push).to.include({ code: "git_read_only", pointer: "/repoCredential" });
      git.world.server.expected = { user: "ann", password: "rotated" };
      const bad = await check();
      expect(bad).to.deep.include({ canRead: false, canPush: null, headCommitSha: null });
      expect(bad.problems[0]).to.include({ code: "git_authentication", pointer: "/repoCredential" });
      const inline = await git.create();
      const refused = await git.edge.call("POST", at(inline.body.detail.pipelineId, "/repository/check"));
      expect(refused.status).to.equal(400);
    });

    it("is not asked by an update that changes nothing about it", async () => {
      const { pipelineId } = await git.connected();
      git.world.server.intercept = (_, response) => response.destroy() !== undefined;
      const updated = await git.edge.call("PUT", at(pipelineId), { body: { description: "new" } });
      expect(updated.body.detail).to.include({ description: "new" });
      expect((await git.edge.call("PUT", at(pipelineId), { body: { defaultBranch: "x" } })).status).to.equal(503);
    });
  });

  describe("a definition", () => {
    it("is read with its commit, at the head and at any ref", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const later = origin.commit({ [DEFINITION_PATH]: textOf("echo 2") }, { message: "Say two\n\nIn full." });
      const other = origin.commit({ [DEFINITION_PATH]: textOf("echo 3") }, { branch: "feature/x", onto: later });
      const read = await git.spec(pipelineId);
      expect(read).to.deep.include({
        spec: specOf("echo 2"),
        text: textOf("echo 2"),
        headCommitSha: later,
        branch: "main",
        path: DEFINITION_PATH,
        diagnostics: [],
        commitMessage: "Say two\n\nIn full.",
        editor: "tester",
      });
      expect(await git.spec(pipelineId, "?ref=feature/x")).to.include({ headCommitSha: other, branch: "feature/x" });
      expect(await git.spec(pipelineId, `?ref=${head}`)).to.deep.include({ spec: specOf("echo 1"), branch: null });
      expect((await git.edge.call("GET", at(pipelineId))).body.detail.headCommitSha).to.equal(later);
      const revisions = await git.revisionsOf(pipelineId);
      expect(revisions.map(({ commitMessage }: { commitMessage: string }) => commitMessage)).to.deep.equal([
        "Say two\n\nIn full.",
        "a change",
      ]);
      expect(revisions[0]).to.include({ commitSha: later, branch: "main", pullRequest: null });
      const missing = await git.edge.call("GET", at(pipelineId, "/spec?ref=gone"));
      expect(missing.status, JSON.stringify(missing.body)).to.equal(422);
      expect((await git.edge.call("GET", at(pipelineId, "/spec?ref=--upload-pack=x"))).status).to.equal(400);
    });

    it("has one revision for all commits that leave it as it is", async () => {
      const { origin, pipelineId } = await git.connected();
      const later = origin.commit({ other: "changed" });
      expect((await git.spec(pipelineId)).headCommitSha).to.equal(later);
      expect((await git.edge.call("GET", at(pipelineId))).body.detail.headCommitSha).to.equal(later);
      expect(await git.revisionsOf(pipelineId)).to.have.length(1);
    });

    it("with errors is shown with its text and its problems", async () => {
      const { origin, pipelineId } = await git.connected();
      origin.commit({ [DEFINITION_PATH]: "jobs: [{ name: a, colour: red }]\n" });
      const bad = await git.spec(pipelineId);
      expect(bad.spec).to.equal(null);
      expect(bad.diagnostics.map(({ code }: { code: string }) => code)).to.include("unknown-key");
      const refused = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
      expect(refused.body).to.include({ code: 400, reason: "invalid_definition" });
      origin.commit({ [DEFINITION_PATH]: Buffer.from([0xff, 0xfe, 0x00]) });
      expect((await git.edge.call("GET", at(pipelineId, "/spec"))).body.errMsg).to.include("UTF-8");
      origin.commit({ [DEFINITION_PATH]: null });
      const gone = await git.edge.call("GET", at(pipelineId, "/spec"));
      expect(gone.status).to.equal(404);
      expect(gone.body.errMsg).to.include(DEFINITION_PATH);
      expect((await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} })).status).to.equal(409);
    });
  });

  describe("a save", () => {
    it("is one commit by the editor that keeps comments and every other file", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const body = { spec: specOf("echo 2"), expectedHeadCommitSha: head, commitMessage: "Say two", requestId: "one" };
      const saved = await git.save(pipelineId, body);
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      const { headCommitSha, revisionId } = saved.body.detail;
      expect(origin.tip()).to.equal(headCommitSha);
      expect(fileOf(origin)).to.equal(textOf("echo 2"));
      expect(origin.git(["diff", "--name-only", head, headCommitSha])).to.equal(DEFINITION_PATH);
      const format = "%P|%an|%ae|%cn|%ce|%B";
      const [parent, author, email, committer, address, message] = origin
        .git(["show", "-s", `--format=${format}`, headCommitSha])
        .split("|");
      expect([parent, author, committer, address]).to.deep.equal([head, "admin", "millrace", "millrace@example.org"]);
      expect(email).to.match(/@users\.invalid$/);
      expect(message).to.equal(`Say two\n\nMillrace-Revision: ${revisionId}`);
      const [newest] = await git.revisionsOf(pipelineId);
      expect(newest).to.include({ revisionId, isHead: true, editor: "admin" });
      const repeated = await git.save(pipelineId, body);
      expect(repeated.body.detail).to.deep.equal(saved.body.detail);
      expect((await git.save(pipelineId, { ...body, commitMessage: "other" })).body.reason).to.equal(
        "request_id_reused",
      );
      expect(origin.tip()).to.equal(headCommitSha);
    });

    it("that changes nothing commits nothing, and a repeat says the same after others have changed it", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const body = { spec: specOf("echo 1"), requestId: "same" };
      expect((await git.save(pipelineId, body)).body.detail.headCommitSha).to.equal(head);
      expect(origin.tip()).to.equal(head);
      origin.commit({ [DEFINITION_PATH]: textOf("echo 9") });
      expect((await git.save(pipelineId, body)).body.detail.headCommitSha).to.equal(head);
      expect(fileOf(origin)).to.equal(textOf("echo 9"));
    });

    it("on another head than the expected one is refused with what the other has changed", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const theirs = origin.commit({ [DEFINITION_PATH]: textOf("echo theirs") }, { message: "Mine first" });
      const newest = origin.commit({ other: "later" });
      const refused = await git.save(pipelineId, { spec: specOf("echo mine"), expectedHeadCommitSha: head });
      expect(refused.body).to.include({ code: 409, reason: "head_moved" });
      const [moved, who, diff] = refused.body.errors;
      expect(moved).to.deep.include({ pointer: "/expectedHeadCommitSha", message: newest });
      expect(who.message)
        .to.match(/^tester <tester@example\.org> at .*: Mine first/)
        .and.to.include(theirs);
      expect(diff.message).to.include("-        args: { script: echo 1 }\n+        args: { script: echo theirs }");
      expect(fileOf(origin)).to.equal(textOf("echo theirs"));
    });

    it("without an expected head follows a branch that moves meanwhile", async () => {
      const { origin, pipelineId } = await git.connected();
      let pushed = 0;
      git.world.server.intercept = (request) => {
        const isPush = request.method === "POST" && request.url!.endsWith("git-receive-pack");
        if (isPush && pushed++ === 0) origin.commit({ other: "meanwhile" });
        return false;
      };
      const saved = await git.save(pipelineId, { spec: specOf("echo 2") });
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      expect(pushed).to.equal(2);
      expect(origin.git(["show", "main:other"])).to.equal("meanwhile");
      expect(fileOf(origin)).to.equal(textOf("echo 2"));
    });

    it("of two at once on one head lets one win", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const answers = await Promise.all(
        ["a", "b"].map((script) => git.save(pipelineId, { spec: specOf(script), expectedHeadCommitSha: head })),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 409]);
      expect(origin.git(["rev-list", "--count", `${head}..main`])).to.equal("1");
    });

    it("to a protected branch is refused with the words of the server", async () => {
      const { origin, pipelineId } = await git.connected();
      origin.hook("pre-receive", `echo "main is protected" >&2; exit 1`);
      const refused = await git.save(pipelineId, { spec: specOf("echo 2") });
      expect(refused.body).to.include({ code: 422, reason: "git_refused" });
      expect(refused.body.errMsg).to.include("main is protected");
      expect(refused.body.errors[0].code).to.equal("git_protected");
    });

    it("whose answer was lost finds its commit, at once and when it is repeated", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const losing = (fully: boolean) => {
        let isLost = false;
        git.world.server.intercept = (request, response) => {
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
      const found = await git.save(pipelineId, { spec: specOf("echo 2"), expectedHeadCommitSha: head });
      expect(found.status, JSON.stringify(found.body)).to.equal(200);
      expect(origin.tip()).to.equal(found.body.detail.headCommitSha);
      git.world.mend();
      losing(true);
      const second = { spec: specOf("echo 3"), expectedHeadCommitSha: origin.tip(), requestId: "lost" };
      const lost = await git.save(pipelineId, second);
      expect(lost.status, JSON.stringify(lost.body)).to.equal(503);
      expect(lost.body.errMsg).to.include("requestId");
      git.world.mend();
      const tip = origin.tip();
      origin.commit({ other: "later" });
      const repeated = await git.save(pipelineId, second);
      expect(repeated.body.detail, JSON.stringify(repeated.body)).to.include({ headCommitSha: tip });
      expect(origin.git(["rev-list", "--count", `${head}..main`])).to.equal("3");
      expect((await git.save(pipelineId, second)).body.detail).to.deep.equal(repeated.body.detail);
    });

    it("makes the file, and the first commit of an empty repository", async () => {
      const { origin, repository } = git.world.newRepository();
      const created = await git.create({ repoUrl: repository.remote.url, repoCredential: "CODE" });
      const { pipelineId, headCommitSha } = created.body.detail;
      expect(headCommitSha).to.equal("");
      const saved = await git.save(pipelineId, { spec: specOf("echo 1") });
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      expect(origin.tip()).to.equal(saved.body.detail.headCommitSha);
      const json = await git.save(pipelineId, { spec: specOf("echo 1"), format: "json" });
      expect(json.body.errors[0].pointer).to.equal("/format");
    });

    it("heeds If-Match, and restores an earlier revision as a commit", async () => {
      const { origin, pipelineId } = await git.connected();
      const read = await git.edge.call("GET", at(pipelineId, "/spec"));
      const headers = { "if-match": read.headers.get("etag")! };
      expect((await git.save(pipelineId, { spec: specOf("echo 2") }, { headers })).status).to.equal(200);
      expect((await git.save(pipelineId, { spec: specOf("echo 3") }, { headers })).status).to.equal(412);
      const first = (await git.revisionsOf(pipelineId)).at(-1).revisionId;
      const restored = await git.edge.call("POST", at(pipelineId, `/revisions/${first}/restore`), { body: {} });
      expect(restored.status, JSON.stringify(restored.body)).to.equal(200);
      expect(fileOf(origin)).to.equal(textOf("echo 1"));
    });

    it("needs the role of a maintainer", async () => {
      const { pipelineId } = await git.connected();
      const { token } = await git.edge.userWithRole("operator");
      for (const [path, body] of [
        ["/spec/save", { spec: specOf("x") }],
        ["/spec/move", { to: "inline" }],
        ["/repository/check", undefined],
      ] as const) {
        const refused = await git.edge.call("POST", at(pipelineId, path), { token, ...(body && { body }) });
        expect(refused.status, path).to.equal(403);
      }
    });
  });
});

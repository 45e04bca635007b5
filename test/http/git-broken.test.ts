/** Repositories whose definition is broken or gone, and what users are told about them. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import { type ConnectedPipeline, at, DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";

const SECRET = "swordfish-and-more";
const LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab\nsize 12345\n";

describe("repositories with a broken definition", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  const trigger = async ({ pipelineId }: Pick<ConnectedPipeline, "pipelineId">, body: object = {}) =>
    (await git.edge.call("POST", at(pipelineId, "/trigger"), { body })).body;
  const check = async ({ pipelineId }: ConnectedPipeline) =>
    (await git.edge.call("POST", at(pipelineId, "/repository/check"))).body.detail;

  it("name the file and the line of the problem", async () => {
    const of = await git.connected();
    const broken = of.origin.commit({ [DEFINITION_PATH]: `${textOf("echo 1")}surprise: 1\n` });
    const refused = await trigger(of);
    expect(refused).to.include({ code: 400, reason: "invalid_definition" });
    expect(refused.errMsg).to.match(
      /^the definition in \.millrace\/pipeline\.yaml has problems: line 7: unknown key "surprise"/,
    );
    const { hasFile, problems } = await check(of);
    expect(hasFile).to.equal(true);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include({ code: "git_file", pointer: "/pipelineFilePath" });
    expect(problems[0].message).to.include(`commit ${broken} cannot be run: ${refused.errMsg}`);
  });

  it("name the included file that the problem is in", async () => {
    const of = await git.connected();
    of.origin.commit({
      [DEFINITION_PATH]: `include: [lint.yaml]\n${textOf("echo 1")}`,
      "lint.yaml": "jobs:\n  - name: lint\n    stepz: []\n",
    });
    expect((await trigger(of)).errMsg).to.include("has problems: lint.yaml line 3: ");
  });

  it("are told apart from a pointer of Git LFS", async () => {
    const of = await git.connected();
    of.origin.commit({ [DEFINITION_PATH]: LFS_POINTER });
    expect((await trigger(of)).errMsg).to.include(`has at ${DEFINITION_PATH} a pointer of Git LFS`);
    expect((await check(of)).problems[0].message).to.include("keep the file itself in Git");
    of.origin.commit({ [DEFINITION_PATH]: `include: [lint.yaml]\n${textOf("echo 1")}`, "lint.yaml": LFS_POINTER });
    expect((await trigger(of)).errMsg).to.include("is a pointer of Git LFS");
  });

  it("say what the repository has in place of a branch that is gone", async () => {
    const of = await git.connected();
    const { origin } = of;
    origin.git(["branch", "-m", "main", "trunk"]);
    origin.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    const renamed = await trigger(of);
    expect(renamed.errMsg).to.include('has no branch "main"; its default branch is "trunk"');
    expect(renamed.errors[0].pointer).to.equal("/defaultBranch");
    // What the trigger names is no field of the pipeline.
    const named = await trigger(of, { ref: "gone" });
    expect(named.errors[0]).to.include({ code: "git_no_ref", pointer: "" });
    expect((await trigger(of, { ref: of.head.slice(0, 8) })).errMsg).to.include("give the full id of a commit");
    origin.git(["update-ref", "-d", "refs/heads/trunk"]);
    expect((await trigger(of)).errMsg).to.include('has no branch "main"; it has no commit yet');
  });

  it("are not taken for empty ones where a page to log in is in their place", async () => {
    const of = await git.connected();
    git.world.server.intercept = (_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html>\n<p>Log in</p>\n</html>\n") !== undefined;
    const refused = await trigger(of);
    expect(refused.errMsg).to.include("answers with something else than a repository");
    expect(refused.errors[0]).to.include({ code: "git_not_found", pointer: "/repoUrl" });
    git.world.mend();
    const repoUrl = git.world.server.origin.replace("http:", "https:");
    const spoken = await git.create({ repoUrl: `${repoUrl}/x.git` });
    expect(spoken.body.errMsg).to.include("does not speak TLS at this address");
  });

  it("are read, compared and mended also when they cannot be parsed, in Git and inline", async () => {
    const of = await git.connected();
    of.origin.commit({ [DEFINITION_PATH]: "jobs: [\n" });
    expect(await git.spec(of.pipelineId)).to.include({ spec: null, text: "jobs: [\n" });
    const [broken, good] = await git.revisionsOf(of.pipelineId);
    const ask = async (method: string, rest: string, body?: object) =>
      (await git.edge.call(method, at(of.pipelineId, rest), { ...(body && { body }) })).body;
    const ofBroken = `/revisions/${broken.revisionId}`;
    expect((await ask("GET", ofBroken)).detail).to.include({ spec: null, text: "jobs: [\n" });
    expect((await ask("GET", `${ofBroken}/diff`)).detail.diff).to.include("+jobs: [");
    for (const refused of [
      await ask("GET", `${ofBroken}/diff?of=definition`),
      await ask("POST", `${ofBroken}/restore`, {}),
    ]) {
      expect(refused).to.include({ code: 400, reason: "invalid_definition" });
      expect(refused.errors[0]).to.include({ code: "syntax" });
    }
    expect((await ask("PUT", "", { repoUrl: "", repoCredential: "" })).code).to.equal(0);
    const inline = await git.spec(of.pipelineId);
    expect(inline).to.include({ spec: null, text: "jobs: [\n" });
    expect(inline.diagnostics[0]).to.include({ code: "syntax", severity: "error" });
    const { repository } = git.world.newRepository();
    const { url: repoUrl } = repository.remote;
    const moved = await ask("POST", "/spec/move", { to: "git", repoUrl, repoCredential: "CODE" });
    expect(moved).to.include({ code: 400, reason: "invalid_definition" });
    expect((await ask("GET", "")).detail.repoUrl).to.equal("");
    expect((await ask("POST", `/revisions/${good.revisionId}/restore`, {})).code).to.equal(0);
    expect((await git.spec(of.pipelineId)).text).to.equal(textOf("echo 1"));
  });

  describe("and events", () => {
    const call = async (path: string, body?: object) =>
      (await git.edge.call(body === undefined ? "GET" : "POST", `/api/v1/projects/default/${path}`, { body })).body
        .detail;
    let runner: HookRunner;
    before(async () => {
      const shards = Array.from({ length: git.edge.context.shards }, (_, shard) => shard);
      runner = new HookRunner(git.edge.context, () => shards);
      await call("secrets", { name: "HOOK_KEY", value: SECRET });
    });

    /** The verdicts on a delivery at a pipeline. `headers` of the signature: as the kind of the hook names them. */
    async function deliver(
      { pipelineId }: ConnectedPipeline,
      hook: { readonly hookId: string; readonly path: string },
      body: object,
      headersOf: (signature: string) => Record<string, string>,
    ): Promise<Record<string, string>[]> {
      const raw = JSON.stringify(body);
      const signature = `sha256=${createHmac("sha256", SECRET).update(raw).digest("hex")}`;
      const headers = { "content-type": "application/json", ...headersOf(signature) };
      const { deliveryId } = (await git.edge.call("POST", hook.path, { raw, headers, token: null })).body.detail;
      await runner.pass();
      const { verdicts } = await call(`hooks/${hook.hookId}/deliveries/${deliveryId}`);
      return verdicts.filter((one: { pipelineId: string }) => one.pipelineId === pipelineId);
    }

    it("of no repository start nothing, say why, and start runs once it is mended", async () => {
      const hook = await call("hooks", { name: "any", kind: "generic", secret: "HOOK_KEY" });
      const go = () => deliver(of, hook, { event: "go" }, (signature) => ({ "x-hub-signature-256": signature }));
      const good = `triggers: { event: [{ provider: generic, event: go }] }\n${textOf("echo 1")}`;
      const of = await git.connected();
      const broken = of.origin.commit({ [DEFINITION_PATH]: `${good}surprise: 1\n` });
      // The broken definition is the head from here on.
      await git.spec(of.pipelineId);
      const [refused] = await go();
      expect(refused).to.include({ outcome: "refused" });
      expect(refused!["text"]).to.include(`the definition of commit ${broken} is not valid: line 8`);
      of.origin.commit({ [DEFINITION_PATH]: good });
      expect((await go())[0]).to.include({ outcome: "matched" });
    });

    it("of its repository for which it has no trigger start nothing, and say so", async () => {
      const hook = await call("hooks", { name: "hub", kind: "github", secret: "HOOK_KEY" });
      const of = await git.connected();
      const { repoUrl } = (await git.edge.call("GET", at(of.pipelineId))).body.detail;
      const body = { ref: "refs/heads/main", after: of.head, repository: { full_name: "a/b", clone_url: repoUrl } };
      const verdicts = await deliver(of, hook, body, (signature) => ({
        "x-hub-signature-256": signature,
        "x-github-event": "push",
        "x-github-delivery": "g-1",
      }));
      const text = `the definition of commit ${of.head} has no event trigger for github`;
      expect(verdicts).to.have.length(1);
      expect(verdicts[0]).to.include({ outcome: "filtered", trigger: "", text });
    });

    it("of a fork that name a commit by its first characters alone start nothing, and say why", async () => {
      const hook = await call("hooks", { name: "bucket", kind: "bitbucket", secret: "HOOK_KEY" });
      const of = await git.connected();
      const triggers = "triggers: { event: [{ provider: bitbucket, event: pull_request }] }\n";
      const head = of.origin.commit({ [DEFINITION_PATH]: `${triggers}${textOf("echo 1")}` });
      const { repoUrl } = (await git.edge.call("GET", at(of.pipelineId))).body.detail;
      const side = (repository: string, branch: string) => ({
        repository: { full_name: repository },
        branch: { name: branch },
        commit: { hash: head.slice(0, 12) },
      });
      const body = {
        repository: { full_name: "team/app", links: { html: { href: repoUrl.replace(".git", "") } } },
        pullrequest: { id: 3, title: "Look", source: side("bob/app", "x"), destination: side("team/app", "main") },
      };
      const [refused] = await deliver(of, hook, body, (signature) => ({
        "x-hub-signature": signature,
        "x-event-key": "pullrequest:created",
        "x-request-uuid": "u-1",
      }));
      expect(refused).to.include({ outcome: "refused" });
      expect(refused!["text"]).to.include(`names its commit as "${head.slice(0, 12)}" alone`);
    });
  });
});

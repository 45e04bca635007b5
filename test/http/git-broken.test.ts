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

  it("start nothing by an event of no repository, say why, and start runs once they are mended", async () => {
    const call = async (path: string, body?: object) =>
      (await git.edge.call(body === undefined ? "GET" : "POST", `/api/v1/projects/default/${path}`, { body })).body
        .detail;
    await call("secrets", { name: "HOOK_KEY", value: SECRET });
    const hook = await call("hooks", { name: "any", kind: "generic", secret: "HOOK_KEY" });
    const shards = Array.from({ length: git.edge.context.shards }, (_, shard) => shard);
    const runner = new HookRunner(git.edge.context, () => shards);
    const deliver = async () => {
      const raw = JSON.stringify({ event: "go" });
      const signature = createHmac("sha256", SECRET).update(raw).digest("hex");
      const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
      const { deliveryId } = (await git.edge.call("POST", hook.path, { raw, headers, token: null })).body.detail;
      await runner.pass();
      const { verdicts } = await call(`hooks/${hook.hookId}/deliveries/${deliveryId}`);
      return verdicts.filter((one: { pipelineId: string }) => one.pipelineId === of.pipelineId);
    };
    const good = `triggers: { event: [{ provider: generic, event: go }] }\n${textOf("echo 1")}`;
    const of = await git.connected();
    const broken = of.origin.commit({ [DEFINITION_PATH]: `${good}surprise: 1\n` });
    // The broken definition is the head from here on.
    await git.spec(of.pipelineId);
    const [refused] = await deliver();
    expect(refused).to.include({ outcome: "refused" });
    expect(refused.text).to.include(`the definition of commit ${broken} is not valid: line 8`);
    of.origin.commit({ [DEFINITION_PATH]: good });
    expect((await deliver())[0]).to.include({ outcome: "matched" });
  });
});

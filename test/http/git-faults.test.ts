/** Definitions in Git whose server, credential or history changes in the middle of the work. */
import { expect } from "chai";
import { at, DEFINITION_PATH, fileOf, GitEdge, specOf, textOf } from "../support/git-edge.ts";

describe("definitions in Git, while something changes", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  const setCredential = (value: string) =>
    git.edge.call("PUT", "/api/v1/projects/default/secrets/CODE", { body: { value } });

  it("are not saved with a credential that is rotated before the push, and once with the new one", async () => {
    const { origin, pipelineId, head } = await git.connected();
    const { server } = git.world;
    const old = server.expected!;
    server.intercept = (request) => {
      if (request.url!.includes("git-receive-pack")) server.expected = { user: "ann", password: "rotated" };
      return false;
    };
    const body = { spec: specOf("echo 2"), expectedHeadCommitSha: head, requestId: "rotated" };
    const refused = await git.save(pipelineId, body);
    expect(refused.body).to.include({ code: 422, reason: "git_refused" });
    expect(refused.body.errors[0]).to.include({ code: "git_authentication", pointer: "/repoCredential" });
    expect(JSON.stringify(refused.body)).to.not.include(old.password).and.not.include("rotated");
    expect(origin.tip()).to.equal(head);
    server.intercept = () => false;
    await setCredential("ann:rotated");
    const saved = await git.save(pipelineId, body);
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect((await git.save(pipelineId, body)).body.detail).to.deep.equal(saved.body.detail);
    expect(origin.git(["rev-list", "--count", `${head}..main`])).to.equal("1");
    await setCredential(`${old.user}:${old.password}`);
  });

  it("follow a history that was rewritten, and overwrite none of it", async () => {
    const { origin, pipelineId, head } = await git.connected();
    const triggered = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: { requestId: "before" } });
    expect(triggered.status, JSON.stringify(triggered.body)).to.equal(200);
    const forced = origin.commit({ [DEFINITION_PATH]: textOf("echo forced") }, { onto: null, message: "Begin again" });
    origin.git(["reflog", "expire", "--expire=now", "--all"]);
    origin.git(["gc", "--quiet", "--prune=now"]);
    const stale = await git.save(pipelineId, { spec: specOf("echo 2"), expectedHeadCommitSha: head });
    expect(stale.body).to.include({ code: 409, reason: "head_moved" });
    expect(JSON.stringify(stale.body.errors)).to.include(forced).and.include("Begin again");
    expect(await git.spec(pipelineId)).to.include({ headCommitSha: forced, text: textOf("echo forced") });
    const saved = await git.save(pipelineId, { spec: specOf("echo 2"), expectedHeadCommitSha: forced });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect(origin.git(["log", "--format=%P", "-1", "main"])).to.equal(forced);
    expect(fileOf(origin)).to.equal(textOf("echo 2"));
    // What was planned before stays as it is.
    const repeated = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: { requestId: "before" } });
    expect(repeated.body.detail).to.deep.equal(triggered.body.detail);
  });

  it("are planned as the trigger has found them, although they are removed before the plan", async () => {
    const { origin, pipelineId } = await git.connected();
    const last = origin.commit({ [DEFINITION_PATH]: textOf("echo last") });
    let posts = 0;
    git.world.server.intercept = ({ method }) => {
      if (method === "POST") posts++;
      // The branch has been read, and the file has not.
      if (method === "GET" && posts === 2) origin.commit({ [DEFINITION_PATH]: null });
      return false;
    };
    const triggered = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
    expect(triggered.status, JSON.stringify(triggered.body)).to.equal(200);
    expect(origin.tip()).to.not.equal(last);
    const run = await git.edge.call("GET", `/api/v1/pipelines/runs/${triggered.body.detail.runId}`);
    expect(run.body.detail.commitSha).to.equal(last);
    const later = await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} });
    expect(later.body).to.include({ code: 409, reason: "conflict" });
    expect(later.body.errMsg).to.include(`has no file ${DEFINITION_PATH}`);
  });

  it("wait where the server asks for a pause, and say for how long", async () => {
    const { pipelineId } = await git.connected();
    git.world.server.intercept = (_, response) => response.writeHead(429, { "retry-after": "7" }).end() !== undefined;
    for (const [method, rest, body] of [
      ["GET", "/spec", undefined],
      ["POST", "/spec/save", { spec: specOf("echo 2") }],
      ["POST", "/trigger", {}],
    ] as const) {
      const paused = await git.edge.call(method, at(pipelineId, rest), body === undefined ? {} : { body });
      expect(paused.body, rest).to.include({ code: 503, reason: "unavailable" });
      expect(paused.body.errors[0].code, rest).to.equal("git_too_many");
      expect(paused.headers.get("retry-after"), rest).to.equal("60");
    }
  });
});

/** Definitions in Git that include files of their repository, over HTTP. */
import { expect } from "chai";
import { at, DEFINITION_PATH, fileOf, GitEdge, specOf, textOf } from "../support/git-edge.ts";

const TEMPLATE = "templates/lint.yaml";

function templateOf(script: string): string {
  return `jobs:\n  - name: lint\n    steps:\n      - uses: shell\n        args: { script: ${script} }\n`;
}

const including = `include: [${TEMPLATE}]\n${textOf("make")}`;

describe("a definition that includes files of its repository", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());

  const scriptsOf = async (runId: string) => {
    const { plans } = git.edge.context.stores;
    const jobs = await Promise.all([0, 1].map((index) => plans.loadJob(runId as never, index)));
    return jobs.map((job) => JSON.stringify(job));
  };
  const trigger = async (pipelineId: string, body: object = {}) => {
    const answer = await git.edge.call("POST", at(pipelineId, "/trigger"), { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail.runId as string;
  };

  it("runs with the files of the commit of the run", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint-one") });
    const [first, second] = await scriptsOf(await trigger(pipelineId));
    expect(first).to.contain("lint-one");
    expect(second).to.contain("make");

    // The definition stays, and what it includes changes.
    const changed = origin.commit({ [TEMPLATE]: templateOf("lint-two") });
    expect((await scriptsOf(await trigger(pipelineId)))[0]).to.contain("lint-two");
    origin.commit({ [TEMPLATE]: templateOf("lint-branch") }, { branch: "feature", onto: changed });
    expect((await scriptsOf(await trigger(pipelineId, { branch: "feature" })))[0]).to.contain("lint-branch");
    expect((await scriptsOf(await trigger(pipelineId)))[0]).to.contain("lint-two");
  });

  it("is read as it was written, and with all that it includes", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint") });
    const spec = await git.spec(pipelineId);
    expect(spec.text).to.equal(including);
    expect(spec.spec.include).to.deep.equal([TEMPLATE]);
    expect(spec.includes).to.deep.equal([{ path: TEMPLATE, text: templateOf("lint") }]);
    expect(spec.resolved).not.to.have.property("include");
    expect(spec.resolved.jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["lint", "build"]);
  });

  it("is saved only when all that it includes is valid, and a problem names its file", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [TEMPLATE]: templateOf("lint").replace("script:", "scrpt:") });
    const spec = { include: [TEMPLATE], jobs: [{ name: "build", steps: [{ uses: "checkout" }] }] };
    const before = fileOf(origin);
    const refused = await git.save(pipelineId, { spec });
    expect(refused.body).to.include({ code: 400, reason: "invalid_definition" });
    expect(refused.body.errors[0]).to.include({ file: TEMPLATE, line: 5 });
    expect(fileOf(origin)).to.equal(before);
    const { diagnostics } = (await git.edge.call("POST", at(pipelineId, "/spec/validate"), { body: { spec } })).body
      .detail;
    expect(diagnostics[0]).to.include({ file: TEMPLATE, line: 5 });

    origin.commit({ [TEMPLATE]: templateOf("lint") });
    const saved = await git.save(pipelineId, { spec });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect((await scriptsOf(await trigger(pipelineId)))[0]).to.contain("lint");
  });

  it("includes no file through a link, none of another commit, and nothing inline", async () => {
    const { origin, pipelineId } = await git.connected();
    for (const [content, words] of [
      [{ link: "/etc/passwd" }, "symbolic link"],
      [null, "is not there"],
      [Buffer.from([0xff, 0xfe, 0x00]), "is no text in UTF-8"],
    ] as const) {
      origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint") });
      origin.commit({ [TEMPLATE]: content });
      const [problem] = (await git.spec(pipelineId)).diagnostics;
      expect(problem, words).to.include({ code: "invalid-include", line: 1 });
      expect(problem.message).to.contain(words);
    }
    const inline = (await git.create()).body.detail.pipelineId;
    const spec = { include: [TEMPLATE], jobs: [{ name: "build", steps: [{ uses: "checkout" }] }] };
    const refused = await git.save(inline, { spec });
    expect(refused.body.errors[0]).to.include({ code: "invalid-include", pointer: "/include" });
  });

  it("becomes one text when it moves out of its repository", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint") });
    const moved = await git.edge.call("POST", at(pipelineId, "/spec/move"), { body: { to: "inline" } });
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200);
    const spec = await git.spec(pipelineId);
    expect(spec.spec.jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["lint", "build"]);
    expect(spec).to.deep.include({ includes: [], resolved: null });
  });

  it("becomes one text when the server is gone for good, and can be saved then", async () => {
    const { origin, pipelineId } = await git.connected();
    const head = origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint") });
    await git.spec(pipelineId);
    git.world.server.intercept = (_, response) => response.destroy() !== undefined;
    const put = (body: object) => git.edge.call("PUT", at(pipelineId), { body });
    const left = await put({ repoUrl: "", repoCredential: "" });
    git.world.mend();
    expect(left.status, JSON.stringify(left.body)).to.equal(200);
    const spec = await git.spec(pipelineId);
    expect(spec).to.deep.include({ includes: [], resolved: null, headCommitSha: left.body.detail.headCommitSha });
    expect(spec.spec.jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["lint", "build"]);
    expect(spec.commitMessage).to.equal(`Write out what the definition of commit ${head} includes`);
    const saved = await git.save(pipelineId, { spec: { ...spec.spec, description: "d" } });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    const count = (await git.revisionsOf(pipelineId)).length;
    await put({ repoUrl: "" });
    expect(await git.revisionsOf(pipelineId)).to.have.length(count);
  });

  it("stays as it is when the server is gone and it has errors, and a save says what to do", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [DEFINITION_PATH]: including });
    await git.spec(pipelineId);
    expect((await git.edge.call("PUT", at(pipelineId), { body: { repoUrl: "", repoCredential: "" } })).status).to.equal(
      200,
    );
    const refused = await git.save(pipelineId, {
      spec: { include: [TEMPLATE], jobs: [{ name: "b", steps: [{ uses: "checkout" }] }] },
    });
    expect(refused.body.errors[0]).to.include({ code: "invalid-include", pointer: "/include" });
    expect(refused.body.errors[0].message).to.include("write their jobs here");
    expect((await git.save(pipelineId, { spec: specOf("echo 2") })).status).to.equal(200);
  });

  it("is read with its repository opened once", async () => {
    const { origin, pipelineId } = await git.connected();
    origin.commit({ [DEFINITION_PATH]: including, [TEMPLATE]: templateOf("lint") });
    const { secrets } = git.edge.context;
    const { read } = secrets;
    let opened = 0;
    secrets.read = (...args) => {
      opened++;
      return read.apply(secrets, args);
    };
    try {
      expect((await git.spec(pipelineId)).includes).to.have.length(1);
    } finally {
      secrets.read = read;
    }
    expect(opened).to.equal(1);
  });
});

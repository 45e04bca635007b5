/** Repositories of definitions over gRPC, with a real Git server and a small server of Gitea's API. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { readinessReader } from "../../src/app/readiness.ts";
import { createGrpcServer, type GrpcServer } from "../../src/grpc/server.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { DEFINITION_PATH, GitEdge, specOf, textOf } from "../support/git-edge.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";
import { refusalOf, UserCalls } from "./user-calls.ts";

const { FAILED_PRECONDITION, INVALID_ARGUMENT, ALREADY_EXISTS, ABORTED } = status;
const projectId = "default";

describe("repositories over gRPC", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let server: GrpcServer;
  let calls: UserCalls;
  let origin: BareRepository;
  let repoUrl: string;
  before(async () => {
    git = await GitEdge.open();
    host = await new ProviderServer("gitea").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    await git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "API", value: TOKEN } });
    const context = { ...git.edge.context, publicUrl: "https://ci.example.com" };
    server = createGrpcServer(context, { readiness: readinessReader(context, {}), heartbeatIntervalMs: 1_000 });
    calls = new UserCalls(`127.0.0.1:${await server.start("127.0.0.1:0")}`, git.edge.adminToken);
    origin = new BareRepository(git.world.folder, "team/app");
    repoUrl = `${git.world.server.origin}/team/app.git`;
  });
  after(async () => {
    calls.close();
    await server.stop(1_000);
    await git.close();
    await host.stop();
  });

  const atHost = { repoProvider: "gitea", repoApiCredential: "API" };

  it("get their first commit from an inline definition, and give it back", async () => {
    const pipelineId = (await git.create()).body.detail.pipelineId as string;
    await git.save(pipelineId, { spec: specOf("echo 1"), layout: textOf("echo 1") });
    const to = "DEFINITION_PLACE_GIT";
    const move = { pipelineId, to, repoUrl, repoCredential: "CODE", commitMessage: "Begin", requestId: "m" } as const;
    const { pipeline } = await calls.pipeline("moveDefinition", move);
    expect(pipeline).to.include({ repoUrl, defaultBranch: "main", pipelineFilePath: DEFINITION_PATH });
    expect(origin.tip()).to.equal(pipeline!.headCommitSha);
    expect(origin.git(["log", "-1", "--format=%s"])).to.equal("Begin");
    expect((await calls.pipeline("moveDefinition", move)).pipeline).to.deep.equal(pipeline);
    const other = calls.pipeline("moveDefinition", { ...move, commitMessage: "Other" });
    expect(await refusalOf(other)).to.include({ code: ALREADY_EXISTS, reason: "request_id_reused" });
    const back = await calls.pipeline("moveDefinition", { pipelineId, to: "DEFINITION_PLACE_INLINE" });
    expect(back.pipeline).to.include({ repoUrl: "", repoCredential: "" });
    expect((await calls.pipeline("getSpec", { pipelineId })).text).to.equal(textOf("echo 1"));
    for (const refused of [{ to }, { to: "DEFINITION_PLACE_INLINE", repoUrl }, {}] as const) {
      expect(await refusalOf(calls.pipeline("moveDefinition", { pipelineId, ...refused }))).to.include({
        code: INVALID_ARGUMENT,
      });
    }
  });

  it("are looked through, and pipelines are made of what is chosen", async () => {
    const head = origin.commit({ ".millrace/bad.yaml": "jobs: [{ name: a, colour: red }]\n" });
    const place = { projectId, repoUrl, repoCredential: "CODE" };
    const { definitions, ...found } = await calls.pipeline("discoverDefinitions", place);
    expect(found).to.deep.equal({ branch: "main", headCommitSha: head, hasMore: false });
    const [bad, good] = definitions;
    expect(bad).to.include({ path: ".millrace/bad.yaml", name: "app-bad", valid: false });
    expect(bad!.diagnostics[0]).to.include({ severity: "SEVERITY_ERROR", line: 1 });
    expect(good).to.deep.equal({
      path: DEFINITION_PATH,
      name: "app",
      format: "SPEC_FORMAT_YAML",
      valid: true,
      problem: "",
      diagnostics: [],
      pipelineId: "",
      pipelineName: "",
    });
    const files = [
      { path: DEFINITION_PATH, name: "" },
      { path: "../x.yaml", name: "x" },
    ];
    const make = { ...place, ...atHost, saveMode: "SAVE_MODE_PR", files, requestId: "make" } as const;
    const { pipelines } = await calls.pipeline("makePipelines", make);
    const [made, refused] = pipelines;
    expect(made).to.include({ name: "app", outcome: "MAKE_OUTCOME_CREATED", problem: "" });
    expect(refused).to.include({ name: "x", outcome: "MAKE_OUTCOME_REFUSED", pipelineId: "" });
    expect(refused!.problem).to.include("path from the root");
    expect((await calls.pipeline("makePipelines", make)).pipelines).to.deep.equal(pipelines);
    const again = (await calls.pipeline("makePipelines", { ...make, requestId: "" })).pipelines[0];
    expect(again).to.deep.equal({ ...made, outcome: "MAKE_OUTCOME_CONNECTED" });
    const { pipelineId } = made!;
    expect((await calls.pipeline("discoverDefinitions", place)).definitions[1]).to.include({
      pipelineId,
      pipelineName: "app",
    });
    const check = await calls.pipeline("checkRepository", { pipelineId });
    expect(check).to.deep.equal({
      branch: "main",
      path: DEFINITION_PATH,
      headCommitSha: head,
      canRead: true,
      hasFile: true,
      canPush: true,
      canPropose: true,
      canManageHooks: true,
      problems: [],
    });
    const inline = (await git.create()).body.detail.pipelineId as string;
    expect(await refusalOf(calls.pipeline("checkRepository", { pipelineId: inline }))).to.include({
      code: INVALID_ARGUMENT,
    });
  });

  it("take saves as commits and as pull requests, and their revisions are compared and restored", async () => {
    const place = { repoUrl, repoCredential: "CODE", ...atHost };
    const { pipelineId } = (await git.create(place)).body.detail;
    const { headCommitSha: head, revisionId: first } = await calls.pipeline("getSpec", { pipelineId });
    const save = { pipelineId, spec: specOf("echo 2") as Record<string, unknown>, expectedHeadCommitSha: head };
    const saved = await calls.pipeline("saveSpec", { ...save, commitMessage: "Say two", editor: "ann" });
    expect(saved.pullRequest).to.equal(undefined);
    expect(origin.tip()).to.equal(saved.headCommitSha);
    const raced = calls.pipeline("saveSpec", { ...save, spec: specOf("echo 3") as Record<string, unknown> });
    expect(await refusalOf(raced)).to.include({ code: ABORTED, reason: "head_moved" });
    const { revisions } = await calls.pipeline("listRevisions", { pipelineId });
    expect(revisions.map(({ revisionId }) => revisionId)).to.deep.equal([saved.revisionId, first]);
    expect(revisions[0]).to.include({ editor: "ann", isHead: true, commitSha: saved.headCommitSha, branch: "main" });
    expect(revisions[0]!.commitMessage).to.match(/^Say two\n/);
    const { from, to, diff } = await calls.pipeline("diffRevisions", { pipelineId, revisionId: saved.revisionId });
    expect([from, to]).to.deep.equal([first, saved.revisionId]);
    expect(diff).to.include("echo 2");
    const restored = await calls.pipeline("restoreRevision", { pipelineId, revisionId: first });
    expect(origin.tip()).to.equal(restored.headCommitSha);
    expect((await calls.pipeline("getSpec", { pipelineId })).text).to.equal(textOf("echo 1"));
    const at = await calls.pipeline("getSpec", { pipelineId, ref: saved.headCommitSha });
    expect(at.text).to.include("echo 2");

    const fields = { ...(await calls.pipeline("getPipeline", { pipelineId })).pipeline!, replaceMetadata: false };
    await calls.pipeline("updatePipeline", { pipelineId, fields: { ...fields, saveMode: "SAVE_MODE_PR" } });
    const proposed = await calls.pipeline("restoreRevision", { pipelineId, revisionId: saved.revisionId });
    expect(proposed.pullRequest).to.include({ number: 1n, targetBranch: "main" });
    expect(origin.tip(proposed.pullRequest!.branch)).to.equal(proposed.headCommitSha);
    expect(origin.tip()).to.equal(restored.headCommitSha);
  });

  it("get the webhook at their host, once", async () => {
    const { pipelineId } = (await git.create({ repoUrl, repoCredential: "CODE", ...atHost })).body.detail;
    const before = (await calls.pipeline("checkHostHook", { pipelineId })).hostHook!;
    expect(before).to.deep.include({ provider: "gitea", hookId: "", address: "", webhook: undefined });
    expect(before.problems.map(({ code }) => code)).to.deep.equal(["missing"]);
    const made = (await calls.pipeline("connectHostHook", { pipelineId })).hostHook!;
    expect(made).to.deep.include({ outcome: "HOST_HOOK_OUTCOME_MADE", problems: [] });
    expect(made.address).to.equal(`https://ci.example.com/api/v1/hooks/${made.hookId}`);
    expect(made.webhook).to.include({ url: made.address, active: true, lastStatus: undefined });
    const again = (await calls.pipeline("connectHostHook", { pipelineId })).hostHook!;
    expect(again).to.deep.equal({ ...made, outcome: "HOST_HOOK_OUTCOME_UNCHANGED" });
    expect((await calls.pipeline("checkHostHook", { pipelineId })).hostHook).to.deep.equal(again);
    expect(
      await refusalOf(
        calls.pipeline("moveDefinition", { pipelineId, to: "DEFINITION_PLACE_GIT", repoUrl: `${repoUrl}x` }),
      ),
    ).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
  });

  it("list what their hosts are told of runs", async () => {
    const place = { repoUrl, repoCredential: "CODE", ...atHost };
    const { pipelineId } = (await git.create(place)).body.detail;
    const { runId } = await calls.pipeline("triggerPipeline", { pipelineId });
    expect(await calls.pipeline("listCommitStatuses", { runId })).to.deep.equal({ statuses: [], next: "" });
    expect((await calls.pipeline("getPipelineRun", { runId })).run!.commitStatus).to.equal(undefined);
    const wrong = calls.pipeline("listCommitStatuses", { runId, state: "lost" });
    expect(await refusalOf(wrong)).to.include({ code: INVALID_ARGUMENT });
  });
});

import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { saveTurn } from "../support/stored-runs.ts";
import { Gateway } from "./gateway.ts";
import { newPipeline, newRun, NO_FIELDS, savedPipeline, SPEC } from "./pipeline-samples.ts";
import { refusalOf, tokenOf, UserCalls } from "./user-calls.ts";

const { FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, ALREADY_EXISTS, ABORTED } = status;

describe("pipelines over gRPC", () => {
  let gateway: Gateway;
  let calls: UserCalls;

  before(async () => {
    gateway = await Gateway.start();
    calls = await UserCalls.open(gateway.context, gateway.port);
  });
  after(async () => {
    calls.close();
    await gateway.stop();
  });

  describe("records", () => {
    it("are created, read, changed, listed and deleted", async () => {
      const fields = {
        ...NO_FIELDS,
        name: "life",
        description: "d",
        metadata: { team: "core" },
        saveMode: "SAVE_MODE_DIRECT",
      } as const;
      const { pipeline } = await calls.pipeline("createPipeline", { fields, createdBy: "admin" });
      const { pipelineId, createdAtMs, updatedAtMs, ...rest } = pipeline!;
      expect(rest).to.deep.equal({
        projectId: "default",
        name: "life",
        description: "d",
        repoUrl: "",
        defaultBranch: "",
        pipelineFilePath: "",
        saveMode: "SAVE_MODE_DIRECT",
        prTargetBranch: "",
        repoCredential: "",
        repoProvider: "",
        repoApiCredential: "",
        commitStatuses: "",
        metadata: { team: "core" },
        createdBy: "admin",
        status: "RUN_STATUS_PENDING",
        headCommitSha: "",
        lastRun: undefined,
      });
      expect(Number(createdAtMs)).to.be.closeTo(Date.now(), 60_000);
      expect(updatedAtMs).to.equal(createdAtMs);
      expect((await calls.pipeline("getPipeline", { pipelineId })).pipeline).to.deep.equal(pipeline);

      const change = async (changed: object) =>
        (await calls.pipeline("updatePipeline", { pipelineId, fields: { ...NO_FIELDS, ...changed } })).pipeline!;
      expect(await change({ description: "e" })).to.deep.include({
        name: "life",
        description: "e",
        metadata: { team: "core" },
      });
      expect((await change({ metadata: { a: "b" } })).metadata).to.deep.equal({ a: "b" });
      expect((await change({ replaceMetadata: true })).metadata).to.deep.equal({});

      const { pipelines, total } = await calls.pipeline("listPipelines", { name: "LIF", sort: "name" });
      expect([pipelines.map(({ name }) => name), total]).to.deep.equal([["life"], 1n]);
      expect(await calls.pipeline("deletePipeline", { pipelineId })).to.deep.equal({});
      expect(await refusalOf(calls.pipeline("getPipeline", { pipelineId }))).to.include({ code: NOT_FOUND });
    });

    it("are refused with the reason that HTTP gives, and every problem", async () => {
      const error = await refusalOf(
        calls.pipeline("createPipeline", { fields: { ...NO_FIELDS, name: " ", projectId: "x".repeat(65) } }),
      );
      expect(error).to.include({ code: INVALID_ARGUMENT, reason: "malformed_request" });
      expect(error.text).to.include("/projectId").and.to.include("/name");
      expect(await refusalOf(calls.pipeline("createPipeline", {}))).to.include({ code: INVALID_ARGUMENT });
      const fields = { ...NO_FIELDS, name: "twice" };
      await calls.pipeline("createPipeline", { fields });
      expect(await refusalOf(calls.pipeline("createPipeline", { fields }))).to.include({ code: ALREADY_EXISTS });
    });

    it("are listed in pages with the same bounds as over HTTP", async () => {
      for (const [page, pageSize, field] of [
        [-1, 0, "/page"],
        [0, 101, "/pageSize"],
        [0, -1, "/pageSize"],
      ] as const) {
        const error = await refusalOf(calls.pipeline("listPipelines", { page, pageSize }));
        expect(error).to.include({ code: INVALID_ARGUMENT });
        expect(error.text).to.include(`${field} must be a whole number from 1`);
      }
      expect((await calls.pipeline("listPipelines", { pageSize: 1 })).pipelines).to.have.length(1);
      expect((await refusalOf(calls.pipeline("listPipelines", { sort: "colour" }))).text).to.include("/sort");
    });

    it("show their newest run, and are not deleted while a run is live", async () => {
      const { pipelineId, runId } = await newRun(gateway, calls);
      const read = async () => (await calls.pipeline("getPipeline", { pipelineId })).pipeline!;
      expect(await read()).to.include({ status: "RUN_STATUS_RUNNING" });
      const refused = await refusalOf(calls.pipeline("deletePipeline", { pipelineId }));
      expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
      await saveTurn(gateway.context, { runId, pipelineId, jobIds: [], stepIds: [] }, { run: { state: "partial" } });
      const { status: shown, lastRun } = await read();
      expect([shown, lastRun!.runId, lastRun!.status]).to.deep.equal([
        "RUN_STATUS_FAILED",
        runId,
        "RUN_STATUS_PARTIAL",
      ]);
      const live = await newRun(gateway, calls);
      await calls.pipeline("deletePipeline", { pipelineId: live.pipelineId, force: true });
      expect((await gateway.stores.inbox.pending(live.runId)).map(({ kind }) => kind)).to.deep.equal(["stop"]);
    });
  });

  describe("definitions", () => {
    it("are saved and read, and a repeat of a request id saves nothing twice", async () => {
      const pipelineId = await newPipeline(calls);
      expect(await refusalOf(calls.pipeline("getSpec", { pipelineId }))).to.include({ code: NOT_FOUND });
      const request = { pipelineId, spec: SPEC, commitMessage: "first", requestId: "s1" } as const;
      const { headCommitSha } = await calls.pipeline("saveSpec", request);
      expect((await calls.pipeline("saveSpec", request)).headCommitSha).to.equal(headCommitSha);
      const read = await calls.pipeline("getSpec", { pipelineId });
      expect(read).to.deep.include({
        spec: SPEC,
        format: "SPEC_FORMAT_YAML",
        headCommitSha,
        commitMessage: "first",
        editor: "admin",
      });
      expect(read.text).to.include("name: make");
      const reused = await refusalOf(calls.pipeline("saveSpec", { ...request, commitMessage: "other" }));
      expect(reused).to.include({ code: ALREADY_EXISTS, reason: "request_id_reused" });
      const stale = { pipelineId, spec: { ...SPEC, version: "2" }, expectedHeadCommitSha: "rev_old" };
      expect(await refusalOf(calls.pipeline("saveSpec", stale))).to.include({ code: ABORTED, reason: "head_moved" });
      const proposed = { pipelineId, spec: SPEC, saveMode: "SAVE_MODE_PR" } as const;
      expect(await refusalOf(calls.pipeline("saveSpec", proposed))).to.include({ reason: "malformed_request" });
      expect(await refusalOf(calls.pipeline("saveSpec", { pipelineId, spec: {} }))).to.include({
        code: INVALID_ARGUMENT,
        reason: "invalid_definition",
      });
    });
  });

  describe("revisions", () => {
    it("are listed, read, compared and restored, as over HTTP", async () => {
      const pipelineId = await savedPipeline(calls);
      const { headCommitSha: first, text } = await calls.pipeline("getSpec", { pipelineId });
      const spec = { ...SPEC, namespace: "changed" };
      const { headCommitSha: second } = await calls.pipeline("saveSpec", { pipelineId, spec });
      const page = await calls.pipeline("listRevisions", { pipelineId, pageSize: 1 });
      expect(page.revisions.map(({ revisionId, isHead }) => [revisionId, isHead])).to.deep.equal([[second, true]]);
      const rest = await calls.pipeline("listRevisions", { pipelineId, after: page.next });
      expect(rest.revisions.map(({ revisionId }) => revisionId)).to.deep.equal([first]);
      expect(rest.next).to.equal("");
      const read = await calls.pipeline("getRevision", { pipelineId, revisionId: first });
      expect(read).to.deep.include({ spec: SPEC, text });
      const { from, diff } = await calls.pipeline("diffRevisions", { pipelineId, revisionId: second });
      expect(from).to.equal(first);
      expect(diff).to.include("+namespace: changed");
      const stale = { pipelineId, revisionId: first, expectedHeadCommitSha: first };
      expect(await refusalOf(calls.pipeline("restoreRevision", stale))).to.include({
        code: ABORTED,
        reason: "head_moved",
      });
      const { headCommitSha } = await calls.pipeline("restoreRevision", { pipelineId, revisionId: first });
      expect((await calls.pipeline("getSpec", { pipelineId })).text).to.equal(text);
      expect(headCommitSha).to.not.be.oneOf([first, second]);
    });
  });

  describe("projects", () => {
    it("are made once for each request id, listed, read, changed and archived", async () => {
      const request = { name: "over gRPC", description: "d", requestId: "once" };
      const { project } = await calls.pipeline("createProject", request);
      expect((await calls.pipeline("createProject", request)).project).to.deep.equal(project);
      const { projectId } = project!;
      expect(project).to.include({ tenantId: "default", name: "over gRPC", archived: false });
      expect((await calls.pipeline("listProjects", {})).projects).to.deep.include(project);
      const changed = (await calls.pipeline("updateProject", { projectId, description: "", archived: true })).project;
      expect(changed).to.deep.equal({ ...project, description: "", archived: true });
      expect((await calls.pipeline("getProject", { projectId })).project).to.deep.equal(changed);
      expect(await calls.pipeline("deleteProject", { projectId })).to.deep.equal({});
      expect(await refusalOf(calls.pipeline("getProject", { projectId }))).to.include({ code: NOT_FOUND });
      const unknown = calls.pipeline("getProject", { projectId: "prj_none" });
      expect(await refusalOf(unknown)).to.include({ code: NOT_FOUND });
    });
  });

  describe("callers", () => {
    /** Each operation with the lowest role that may call it. */
    const ROLES: Readonly<
      Record<keyof typeof PipelineService, "viewer" | "operator" | "maintainer" | "admin" | "owner">
    > = {
      createPipeline: "maintainer",
      updatePipeline: "maintainer",
      getPipeline: "viewer",
      listPipelines: "viewer",
      deletePipeline: "maintainer",
      triggerPipeline: "operator",
      stopPipeline: "operator",
      pausePipeline: "operator",
      resumePipeline: "operator",
      rerunPipeline: "operator",
      getPipelineRun: "viewer",
      listPipelineRuns: "viewer",
      findRuns: "viewer",
      getRunTimeline: "viewer",
      getRunOutputs: "viewer",
      cancelJob: "operator",
      getSpec: "viewer",
      validateSpec: "viewer",
      saveSpec: "maintainer",
      planPipeline: "viewer",
      listApprovals: "viewer",
      listRunApprovals: "viewer",
      approve: "viewer",
      reject: "viewer",
      listRevisions: "viewer",
      getRevision: "viewer",
      diffRevisions: "viewer",
      restoreRevision: "maintainer",
      listProjects: "viewer",
      getProject: "viewer",
      createProject: "admin",
      updateProject: "admin",
      deleteProject: "owner",
    };
    const VALID = {
      fields: { ...NO_FIELDS, name: "x" },
      spec: SPEC,
      variables: {},
      scope: "RERUN_SCOPE_ALL",
      runId: "run_none",
      pipelineId: "pl_none",
      jobId: "job_none",
      projectId: "default",
      revisionId: "rev_none",
      name: "x",
      description: "d",
    };

    it("need the same role as over HTTP, and the token of a user", async () => {
      const below = {
        viewer: undefined,
        operator: await tokenOf(gateway.context, "viewer"),
        maintainer: await tokenOf(gateway.context, "operator"),
        admin: await tokenOf(gateway.context, "maintainer"),
        owner: await tokenOf(gateway.context, "admin"),
      };
      const { metadata: agent } = await gateway.register("curious");
      for (const [name, role] of Object.entries(ROLES)) {
        const method = name as keyof typeof PipelineService;
        const call = (caller: Parameters<typeof calls.pipeline>[2]) =>
          refusalOf(calls.pipeline(method, VALID as object, caller));
        expect(await call(""), name).to.include({ code: status.UNAUTHENTICATED });
        expect(await call(agent), name).to.include({ code: PERMISSION_DENIED, reason: "forbidden" });
        if (role === "viewer") continue;
        const refused = await call(below[role]);
        expect(refused, name).to.include({ code: PERMISSION_DENIED });
        expect(refused.text, name).to.include(`needs the role ${role}`);
      }
    });

    it("act for others only with the scope act-as", async () => {
      const pipelineId = await savedPipeline(calls);
      const operator = await tokenOf(gateway.context, "operator");
      const refused = await refusalOf(calls.pipeline("triggerPipeline", { pipelineId, triggeredBy: "ann" }, operator));
      expect(refused).to.include({ code: PERMISSION_DENIED });
      expect(refused.text).to.include("act-as");
      const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, triggeredBy: "ann" });
      const { summary } = (await calls.pipeline("getPipelineRun", { runId })).run!;
      expect(summary).to.include({ triggeredBy: "ann", actor: "admin" });
    });
  });
});

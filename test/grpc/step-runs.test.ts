import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { StepRunSpec } from "../../proto/generated/steprun/v1/steprun.ts";
import { asId, newId, type JobRunId, type RevisionId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import type { JobState } from "../../actors/job/state.ts";
import { GRANT, saveTurn } from "../support/stored-runs.ts";
import { parseManifest } from "../../src/plugins/manifest.ts";
import { storeArtifact } from "../contracts/artifact-store.ts";
import { lines } from "../contracts/samples.ts";
import { greeter } from "../support/plugin-packages.ts";
import { Gateway, refusal } from "./gateway.ts";
import { decideNext, newPipeline, SHELL } from "./pipeline-samples.ts";
import { refusalOf, tokenOf, UserCalls } from "./user-calls.ts";

const { FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, ALREADY_EXISTS } = status;

const BARE: StepRunSpec = {
  name: "",
  uses: "shell",
  action: "",
  argsJson: '{"script":"make"}',
  env: [],
  when: "",
  timeoutMs: 0n,
  continueOnError: false,
  retry: undefined,
  workingDirectory: "",
  artifactPaths: [],
  agentSelector: undefined,
};
const FULL: StepRunSpec = {
  ...BARE,
  name: "make it",
  env: [
    { name: "A", value: "0" },
    { name: "A", value: "1" },
    { name: "REF", value: "${{ trigger.ref }}" },
  ],
  when: "always()",
  timeoutMs: 90_500n,
  continueOnError: true,
  retry: { maxAttempts: 3, delayMs: 1_500n, backoff: 2, maxDelayMs: 9_000n, on: ["timeout", "exit:3"] },
  workingDirectory: "src",
  artifactPaths: ["out/**"],
  agentSelector: {
    trusted: false,
    matchLabels: { os: "linux" },
    matchExpressions: [
      { key: "zone", operator: "LABEL_OPERATOR_IN", values: ["a", "b"] },
      { key: "zone", operator: "LABEL_OPERATOR_NOT_IN", values: ["c"] },
      { key: "gpu", operator: "LABEL_OPERATOR_EXISTS", values: [] },
      { key: "spot", operator: "LABEL_OPERATOR_NOT_EXISTS", values: [] },
      { key: "cores", operator: "LABEL_OPERATOR_GT", values: ["3"] },
      { key: "cores", operator: "LABEL_OPERATOR_LT", values: ["65"] },
    ],
  },
};

describe("step runs one by one over gRPC", () => {
  let gateway: Gateway;
  let calls: UserCalls;
  let pipelineId: string;

  before(async () => {
    gateway = await Gateway.start();
    calls = await UserCalls.open(gateway.context, gateway.port);
    pipelineId = await newPipeline(calls);
  });
  after(async () => {
    calls.close();
    await gateway.stop();
  });

  const create = async (spec: StepRunSpec | undefined = BARE, requestId = "") =>
    (await calls.stepRun("createStepRun", { pipelineId, spec, requestId })).stepRun!;
  type Created = Awaited<ReturnType<typeof create>>;

  /** Saves a turn as the owner of the shard would. */
  async function end(stepRun: Created, isSettled = true): Promise<void> {
    const { runId, jobId, stepRunId } = stepRun;
    const run = { runId: asId<RunId>(runId), pipelineId: asId<never>(pipelineId), jobIds: [], stepIds: [] };
    const ended = { endedAt: 2_000, grant: GRANT };
    await saveTurn(gateway.context, run, {
      run: { state: "failed", endedAt: 2_000 },
      jobs: [{ jobId: asId<JobRunId>(jobId), state: "failed", ...ended }],
      steps: [{ stepRunId: asId<StepRunId>(stepRunId), state: "failed", exitCode: 7, lastLine: 2, ...ended }],
    });
    if (isSettled) return;
    const head = (await gateway.stores.aggregates.loadHead(run.runId))!;
    const next = { ...head, settled: false, version: head.version + 1 };
    await gateway.stores.aggregates.save({ expectedVersion: head.version, head: next, changed: [], events: [] });
  }

  describe("CreateStepRun", () => {
    it("creates a run of one job, and answers the step as requested", async () => {
      const stepRun = await create(FULL);
      const { spec, runId, waitingFor, ...rest } = stepRun;
      expect(rest).to.deep.include({
        pipelineId,
        stepIndex: 0,
        status: "STEP_RUN_STATUS_PENDING",
        attempt: 1,
        retryOf: "",
      });
      expect(waitingFor).to.include("no agent is online");
      expect(spec).to.deep.equal({
        ...FULL,
        env: [
          { name: "A", value: "1" },
          { name: "REF", value: "main" },
        ],
        retry: { ...FULL.retry, on: ["timeout", "failed", "exit:3"] },
      });
      const { run } = await calls.pipeline("getPipelineRun", { pipelineId, runId });
      expect(run!.summary).to.deep.include({
        adHoc: true,
        trigger: { kind: "TRIGGER_KIND_MANUAL", ref: "main" },
        triggeredBy: "admin",
        commitSha: "",
        retryOf: "",
      });
      expect(run!.jobs.map(({ name, steps }) => [name, steps.map((step) => step.name)])).to.deep.equal([
        ["ad-hoc", ["make it"]],
      ]);
      const { runs } = await calls.pipeline("listPipelineRuns", { pipelineId });
      expect(runs.find((each) => each.runId === runId)!.adHoc).to.equal(true);
    });

    it("offers it to agents by its selector at once", async () => {
      const labels = { os: "linux", zone: "a", gpu: "yes", cores: "8" };
      const { runId } = await create(FULL);
      const { actors } = (await gateway.stores.aggregates.load(asId<RunId>(runId)))!;
      expect(actors.find(({ kind }) => kind === "job")!.state as JobState).to.include({ state: "queued" });
      const offered = async (agent: Record<string, string>) => {
        const { metadata } = await gateway.register(`agent-${Object.values(agent).join("-")}`, 1, agent);
        const request = { bootId: "b", requestId: "r", freeSlots: 1, waitMs: 200n };
        const before = gateway.messages("claimRequested").length;
        await new Promise<void>((resolve) => gateway.agents().fetchStepRun(request, metadata, () => resolve()));
        return gateway.messages("claimRequested").length - before;
      };
      expect(await offered({ ...labels, spot: "yes" })).to.equal(0);
      expect(await offered({ ...labels, cores: "3" })).to.equal(0);
      expect(await offered(labels)).to.equal(1);
    });

    it("plans it with the plugin of the registry, against which its arguments are checked", async () => {
      const { plugins } = gateway.stores;
      const record = {
        owner: "installation",
        name: "team/greet",
        version: "1.2.0",
        packageId: newId("pkg"),
        sha256: "ab".repeat(32),
        sizeBytes: 1_234,
        state: "storing",
        createdAt: 1,
        createdBy: "admin",
        manifest: JSON.stringify(parseManifest(String(greeter("1.2.0")[0]!.content))),
      } as const;
      await plugins.begin(record);
      await plugins.store(record);
      const spec = { ...BARE, uses: "team/greet@1", action: "greet", argsJson: '{"to":"x"}' };
      const { runId } = await create(spec);
      const job = await gateway.stores.plans.loadJob(asId<RunId>(runId), 0);
      expect(job!.steps[0]!.plugin).to.include({ sha256: record.sha256, sizeBytes: 1_234 });
      const refused = await refusal(create({ ...spec, argsJson: '{"times":0}' }));
      expect(refused.code).to.equal(INVALID_ARGUMENT);
      const problems = JSON.parse(String(refused.metadata.get("problems-bin")[0])) as { pointer: string }[];
      expect(problems.map(({ pointer }) => pointer)).to.have.members(["/spec/args", "/spec/args/times"]);
      const later = await refusalOf(create({ ...spec, uses: "team/greet@2" }));
      expect(later.text).to.include('the plugin "team/greet" has no version 2');
    });

    it("answers the same step run to a repeated request id, and refuses another body", async () => {
      const first = await create(BARE, "once");
      expect(await create(BARE, "once")).to.deep.equal(first);
      const other = await refusalOf(create(FULL, "once"));
      expect(other).to.include({ code: ALREADY_EXISTS, reason: "request_id_reused" });
    });

    it("is refused with every problem, named by fields of the request", async () => {
      const bad: StepRunSpec = {
        ...BARE,
        uses: "",
        timeoutMs: -5n,
        agentSelector: {
          trusted: false,
          matchLabels: {},
          matchExpressions: [{ key: "cores", operator: "LABEL_OPERATOR_GT", values: ["many"] }],
        },
      };
      const error = await refusal(create(bad));
      expect(error.code).to.equal(INVALID_ARGUMENT);
      const problems = JSON.parse(String(error.metadata.get("problems-bin")[0])) as { pointer: string }[];
      expect(problems.map(({ pointer }) => pointer)).to.include.members(["/spec/uses", "/spec/timeout"]);
      const selector = await refusal(create({ ...bad, uses: "shell", timeoutMs: 0n }));
      expect(String(selector.metadata.get("problems-bin")[0])).to.include("/spec/agentSelector/matchExpressions/0");
      for (const [spec, text] of [
        [{ ...BARE, argsJson: "{" }, "args_json is not valid JSON"],
        [{ ...BARE, artifactPaths: ["../out"] }, "workspace"],
        [{ ...BARE, when: "nonsense(" }, "problems"],
        [{ ...BARE, retry: { ...FULL.retry!, on: ["agent_lost"] } }, "item 1 of"],
      ] as const) {
        const refused = await refusalOf(create(spec as StepRunSpec));
        expect(refused, text).to.include({ code: INVALID_ARGUMENT });
        expect(refused.text).to.include(text);
      }
      expect(await refusalOf(calls.stepRun("createStepRun", { pipelineId }))).to.include({ code: INVALID_ARGUMENT });
      const nowhere = calls.stepRun("createStepRun", { pipelineId: "pl_none", spec: BARE });
      expect(await refusalOf(nowhere)).to.include({ code: NOT_FOUND });
    });

    it("can be run again, from the same definition", async () => {
      const stepRun = await create(FULL);
      await end(stepRun);
      const again = (await calls.stepRun("retryStepRun", { stepRunId: stepRun.stepRunId })).stepRun!;
      expect(again).to.deep.include({ spec: stepRun.spec, attempt: 2, retryOf: stepRun.stepRunId });
      const { run } = await calls.pipeline("getPipelineRun", { runId: again.runId });
      expect(run!.summary).to.include({ adHoc: true, retryOf: stepRun.runId });
    });
  });

  describe("reading", () => {
    it("shows a step run, and lists those of a run in the order of the plan", async () => {
      const several = await newPipeline(calls);
      const step = (name: string) => ({ name, ...SHELL });
      const spec = {
        jobs: [
          { name: "b", needs: ["a"], steps: [step("b0")] },
          { name: "a", steps: [step("a0"), step("a1")] },
        ],
      };
      await calls.pipeline("saveSpec", { pipelineId: several, spec });
      const { runId } = await calls.pipeline("triggerPipeline", { pipelineId: several, variables: {} });
      const list = async (request: object = {}) => {
        const { stepRuns, total } = await calls.stepRun("listStepRuns", { runId, ...request });
        return [stepRuns.map((each) => each.spec!.name), Number(total)];
      };
      expect(await list()).to.deep.equal([["b0", "a0", "a1"], 3]);
      expect(await list({ page: 2, pageSize: 2 })).to.deep.equal([["a1"], 3]);
      const { stepRuns } = await calls.stepRun("listStepRuns", { runId });
      expect(await list({ jobId: stepRuns[1]!.jobId })).to.deep.equal([["a0", "a1"], 2]);
      expect(await list({ status: "STEP_RUN_STATUS_RUNNING" })).to.deep.equal([[], 0]);
      const { stepRun } = await calls.stepRun("getStepRun", { stepRunId: stepRuns[0]!.stepRunId });
      expect(stepRun).to.deep.equal(stepRuns[0]);
      expect(stepRun!.waitingFor).to.include("waits for a");
      expect((await refusalOf(calls.stepRun("listStepRuns", { runId, pageSize: 101 }))).text).to.include("/pageSize");
      expect(await refusalOf(calls.stepRun("listStepRuns", { runId: "run_none" }))).to.include({ code: NOT_FOUND });
      expect(await refusalOf(calls.stepRun("getStepRun", { stepRunId: "step_none" }))).to.include({ code: NOT_FOUND });
    });

    it("lists no artifacts for a step run without any", async () => {
      const { stepRunId } = await create();
      const none = await calls.stepRun("listStepRunArtifacts", { stepRunId });
      expect(none).to.deep.equal({ artifacts: [], total: 0n });
      const unknown = calls.stepRun("listStepRunArtifacts", { stepRunId: "step_none" });
      expect(await refusalOf(unknown)).to.include({ code: NOT_FOUND });
    });
  });

  describe("CancelStepRun", () => {
    it("answers with the decision of the job, once for a request id", async () => {
      const { stepRunId, jobId, runId } = await create();
      const request = { stepRunId, reason: "slow", requestId: "c1" };
      const [answer, command] = await Promise.all([
        calls.stepRun("cancelStepRun", request),
        decideNext(gateway, runId, { outcome: "accepted", status: "running" }),
      ]);
      expect(answer).to.deep.equal({ status: "STEP_RUN_STATUS_RUNNING" });
      expect(command).to.include({ kind: "cancelStep", jobId, stepRunId, reason: "slow", operator: "admin" });
      expect(await calls.stepRun("cancelStepRun", request)).to.deep.equal(answer);
      const [refused] = await Promise.all([
        refusalOf(calls.stepRun("cancelStepRun", { stepRunId })),
        decideNext(gateway, runId, { outcome: "refused", status: "pending" }),
      ]);
      expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
      expect(refused.text).to.include("is pending: only one that is queued or running");
      expect(await refusalOf(calls.stepRun("cancelStepRun", { stepRunId: "step_none" }))).to.include({
        code: NOT_FOUND,
      });
    });
  });

  describe("UpdateStepRun", () => {
    it("asks the job of a step run to change its priority and its metadata", async () => {
      const { stepRunId, jobId, runId } = await create();
      const request = { stepRunId, priority: 0, metadata: { entries: { ticket: "7" } }, requestId: "u1" };
      const [{ stepRun }, command] = await Promise.all([
        calls.stepRun("updateStepRun", request),
        decideNext(gateway, runId, { outcome: "accepted", status: "pending" }),
      ]);
      expect(stepRun).to.include({ stepRunId, jobId, priority: 0 });
      const change = { priority: 0, metadata: [["ticket", "7"]] };
      expect(command).to.deep.include({ kind: "updateStep", jobId, stepRunId, change, operator: "admin" });
      const bad = calls.stepRun("updateStepRun", { stepRunId, priority: 101 });
      expect((await refusalOf(bad)).text).to.include("/priority");
    });

    it("is refused, and says what to do", async () => {
      const { stepRunId } = await create();
      const refused = await refusalOf(calls.stepRun("updateStepRun", { stepRunId, spec: FULL }));
      expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
      expect(refused.text).to.include("cancel it and create another one");
      const unknown = calls.stepRun("updateStepRun", { stepRunId: "step_none" });
      expect(await refusalOf(unknown)).to.include({ code: NOT_FOUND });
    });
  });

  describe("DeleteStepRun", () => {
    const remove = (stepRunId: string) => calls.stepRun("deleteStepRun", { stepRunId });

    it("removes the run with everything that belongs to it, and is safe to repeat", async () => {
      const { stepRunId, runId } = await create(BARE, "to be deleted");
      const stepId = asId<StepRunId>(stepRunId);
      const { revisionId } = (await gateway.stores.aggregates.loadHead(asId<RunId>(runId)))!.origin;
      await gateway.stores.logs.append({ stepRunId: stepId, agentId: "a", lines: lines(1, 2) });
      const artifact = await storeArtifact(gateway.stores, { runId: asId<RunId>(runId), stepRunId: stepId });
      await end({ stepRunId, runId, jobId: (await read(stepRunId)).jobId } as Created);
      for (const _ of ["once", "again"]) expect(await remove(stepRunId)).to.deep.equal({});
      expect(await refusalOf(calls.pipeline("getPipelineRun", { runId }))).to.include({ code: NOT_FOUND });
      expect(await refusalOf(calls.stepRun("getStepRun", { stepRunId }))).to.include({ code: NOT_FOUND });
      const { runs } = await calls.pipeline("listPipelineRuns", { pipelineId, pageSize: 100 });
      expect(runs.map((run) => run.runId)).not.to.include(runId);
      expect(await gateway.stores.logs.read(stepId, 1, 1)).to.deep.equal([]);
      expect(await gateway.stores.artifacts.find(artifact.artifactId)).to.equal(undefined);
      expect(await gateway.stores.blobs.read(artifact.artifactId, 0, 1)).to.have.length(0);
      expect(await gateway.stores.plans.loadPlan(asId<RunId>(runId))).to.equal(undefined);
      expect(await gateway.stores.pipelines.findRevision(asId<RevisionId>(revisionId))).to.equal(undefined);
      const repeated = await refusalOf(create(BARE, "to be deleted"));
      expect(repeated, "no repeat brings it back").to.include({ code: FAILED_PRECONDITION });
      expect(repeated.text).to.include("was deleted");
    });

    it("finishes an interrupted deletion", async () => {
      const stepRun = await create();
      const stepRunId = asId<StepRunId>(stepRun.stepRunId);
      const { stores } = gateway;
      await stores.logs.append({ stepRunId, agentId: "a", lines: lines(1, 2) });
      await end(stepRun);
      const { removeRun } = stores;
      const replace = (other: typeof removeRun) => Object.assign(stores, { removeRun: other });
      replace(async (run) => {
        await removeRun({ ...run, stepRunIds: [] });
        throw new Error("cut off");
      });
      await refusal(remove(stepRunId));
      replace(removeRun);
      expect(await stores.aggregates.findStep(stepRunId)).to.equal(undefined);
      expect(await stores.logs.storedThrough(stepRunId)).to.equal(2);
      await remove(stepRunId);
      expect(await stores.logs.storedThrough(stepRunId)).to.equal(0);
    });

    it("is refused for live step runs, for those of pipelines, and for retried ones", async () => {
      const live = await create();
      const refused = await refusalOf(remove(live.stepRunId));
      expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
      expect(refused.text).to.include("has not ended");
      const ending = await create();
      await end(ending, false);
      expect(await refusalOf(remove(ending.stepRunId))).to.include({ code: status.UNAVAILABLE });

      await end(live);
      const again = (await calls.stepRun("retryStepRun", { stepRunId: live.stepRunId })).stepRun!;
      expect((await refusalOf(remove(live.stepRunId))).text).to.include(`again as run ${again.runId}`);
      await end(again);
      await remove(again.stepRunId);
      const repeated = await refusalOf(calls.stepRun("retryStepRun", { stepRunId: live.stepRunId }));
      expect(repeated.text, "a rerun that was deleted does not come back").to.include("was deleted since");
      await remove(live.stepRunId);

      await calls.pipeline("saveSpec", { pipelineId, spec: { jobs: [{ name: "a", steps: [SHELL] }] } });
      const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, variables: {} });
      const { stepRuns } = await calls.stepRun("listStepRuns", { runId });
      await end(stepRuns[0]!);
      const kept = await refusalOf(remove(stepRuns[0]!.stepRunId));
      expect(kept).to.include({ code: FAILED_PRECONDITION });
      expect(kept.text).to.include(`part of run ${runId}`);
      expect(await refusalOf(remove("step_none"))).to.include({ code: NOT_FOUND });
    });
  });

  describe("callers", () => {
    it("need the role of the operation, and the token of a user", async () => {
      const { stepRunId } = await create();
      const { metadata: agent } = await gateway.register("curious");
      const viewer = await tokenOf(gateway.context, "viewer");
      const operator = await tokenOf(gateway.context, "operator");
      for (const [method, below] of [
        ["createStepRun", operator],
        ["updateStepRun", operator],
        ["deleteStepRun", operator],
        ["cancelStepRun", viewer],
        ["retryStepRun", viewer],
        ["getStepRun", null],
        ["listStepRuns", null],
        ["listStepRunArtifacts", null],
      ] as const) {
        const request = { stepRunId, pipelineId, spec: BARE, runId: "run_none" };
        const call = (caller: Parameters<typeof calls.stepRun>[2]) => refusalOf(calls.stepRun(method, request, caller));
        expect(await call(""), method).to.include({ code: status.UNAUTHENTICATED });
        expect(await call(agent), method).to.include({ code: PERMISSION_DENIED, reason: "forbidden" });
        if (below !== null) expect((await call(below)).text, method).to.include("needs the role");
      }
    });

    it("act for others only with the scope act-as", async () => {
      const maintainer = await tokenOf(gateway.context, "maintainer");
      const request = { pipelineId, spec: BARE, triggeredBy: "ann" };
      expect((await refusalOf(calls.stepRun("createStepRun", request, maintainer))).text).to.include("act-as");
      const { stepRun } = await calls.stepRun("createStepRun", request);
      const { run } = await calls.pipeline("getPipelineRun", { runId: stepRun!.runId });
      expect(run!.summary).to.include({ triggeredBy: "ann", actor: "admin" });
    });
  });

  const read = async (stepRunId: string) => (await calls.stepRun("getStepRun", { stepRunId })).stepRun!;
});

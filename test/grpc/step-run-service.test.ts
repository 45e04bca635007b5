import { credentials, type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  type GetStepRunResponse,
  type RetryStepRunResponse,
  StepRunClient,
} from "../../proto/generated/steprun/v1/steprun.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import { authenticate } from "../../src/app/identity/access.ts";
import { firstStart } from "../support/first-start.ts";
import { saveSpec } from "../../src/app/catalogue/definitions.ts";
import { saveBody } from "../../src/app/catalogue/spec-shapes.ts";
import { createPipeline, createPipelineBody } from "../../src/app/catalogue/pipelines.ts";
import { triggerBody, triggerRun } from "../../src/app/triggering/trigger.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../../src/domain/ids.ts";
import { GRANT, saveTurn } from "../support/stored-runs.ts";
import { bearer, Gateway, reasonOf, refusal } from "./gateway.ts";

const shell = { uses: "shell", args: { script: "make" } };
const SPEC = {
  jobs: [
    {
      name: "build",
      agentSelector: {
        matchLabels: { os: "linux" },
        matchExpressions: [{ key: "cpu", operator: "In", values: ["arm"] }],
      },
      steps: [
        { name: "fetch", ...shell },
        {
          name: "make",
          ...shell,
          env: { A: "1" },
          timeout: "90s",
          workingDirectory: "src",
          when: "always()",
          retry: { attempts: 2, on: ["failed"], exitCodes: [3], delay: "1s" },
        },
      ],
    },
  ],
};

describe("step runs over gRPC", () => {
  let gateway: Gateway;
  let client: StepRunClient;
  let token: string;
  let pipelineId: PipelineId;

  before(async () => {
    gateway = await Gateway.start();
    client = new StepRunClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    token = (await firstStart(gateway.context)).adminToken!;
    const admin = await authenticate(gateway.context, token);
    const body = createPipelineBody.parse({ name: "p", defaultBranch: "main" });
    ({ pipelineId } = await createPipeline(gateway.context, admin, body));
    await saveSpec(gateway.context, admin, { ...saveBody.parse({ spec: SPEC }), pipelineId });
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });

  async function trigger(): Promise<{ readonly runId: RunId; readonly jobId: JobRunId; readonly steps: StepRunId[] }> {
    const admin = await authenticate(gateway.context, token);
    const { runId } = await triggerRun(gateway.context, admin, { ...triggerBody.parse({}), pipelineId });
    const { actors } = (await gateway.stores.aggregates.load(runId))!;
    const { jobId } = actors.find(({ kind }) => kind === "job")!.state as JobState;
    const steps = actors.flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
    return { runId, jobId, steps: steps.map(({ stepRunId }) => stepRunId) };
  }

  async function endedRun() {
    const run = await trigger();
    const ended = { startedAt: 1_000, endedAt: 2_000, grant: GRANT };
    await saveTurn(
      gateway.context,
      { runId: run.runId, pipelineId, jobIds: [run.jobId], stepIds: [run.steps] },
      {
        run: { state: "failed", endedAt: 2_000 },
        jobs: [{ jobId: run.jobId, state: "failed", ...ended }],
        steps: [
          { stepRunId: run.steps[0]!, state: "success", ...ended },
          { stepRunId: run.steps[1]!, state: "failed", ...ended, usage: { cpuMs: 40, maxRssBytes: 2 ** 31 } },
        ],
      },
    );
    return run;
  }

  const retry = (stepRunId: string, requestId = "", bearerToken = token): Promise<RetryStepRunResponse> =>
    new Promise((resolve, reject) =>
      client.retryStepRun({ stepRunId, requestId }, bearer(bearerToken), (error: ServiceError | null, answer) =>
        error === null ? resolve(answer) : reject(error),
      ),
    );

  it("shows the resources of a step, when its agent measured them", async () => {
    const run = await endedRun();
    const read = (stepRunId: string): Promise<GetStepRunResponse> =>
      new Promise((resolve, reject) =>
        client.getStepRun({ stepRunId }, bearer(token), (error, answer) =>
          error === null ? resolve(answer) : reject(error),
        ),
      );
    expect((await read(run.steps[0]!)).stepRun!.usage).to.equal(undefined);
    expect((await read(run.steps[1]!)).stepRun!.usage).to.deep.equal({ cpuMs: 40n, maxRssBytes: 2n ** 31n });
  });

  it("answers the next attempt of a step, in a run that begins with it", async () => {
    const run = await endedRun();
    const { stepRun } = await retry(run.steps[1]!);
    const { spec, stepRunId, runId, jobId, version, ...rest } = stepRun!;
    expect(rest).to.deep.equal({
      pipelineId,
      stepIndex: 1,
      status: "STEP_RUN_STATUS_PENDING",
      attempt: 2,
      retryOf: run.steps[1],
      retriedBy: "",
      reusedFrom: "",
      agentId: "",
      reason: "",
      waitingFor: "its job waits: no agent is online",
      exitCode: undefined,
      lastLine: 0n,
      queuedAtMs: 0n,
      startedAtMs: 0n,
      endedAtMs: 0n,
      usage: undefined,
      priority: 0,
      metadata: {},
    });
    expect(version).to.match(/^[\w-]{27}$/);
    expect(spec).to.deep.include({
      name: "make",
      uses: "shell",
      action: "",
      argsJson: '{"script":"make"}',
      env: [{ name: "A", value: "1" }],
      when: "always()",
      timeoutMs: 90_000n,
      continueOnError: false,
      workingDirectory: "src",
      artifactPaths: [],
      agentSelector: {
        trusted: false,
        matchLabels: { os: "linux" },
        matchExpressions: [{ key: "cpu", operator: "LABEL_OPERATOR_IN", values: ["arm"] }],
      },
    });
    expect(spec!.retry).to.deep.include({ maxAttempts: 2, delayMs: 1_000n, on: ["failed", "exit:3"] });
    const { head, actors } = (await gateway.stores.aggregates.load(runId as RunId))!;
    expect(head.origin).to.include({ retryOf: run.runId, attempt: 2 });
    expect(actors.map(({ id }) => id)).to.include.members([stepRunId, jobId]);
    expect(actors.find(({ id }) => id === jobId)!.state).to.include({ state: "queued", stepIndex: 1 });
  });

  it("answers the same attempt to a repeated request id, and refuses another id", async () => {
    const run = await endedRun();
    const first = await retry(run.steps[0]!, "once");
    expect(await retry(run.steps[0]!, "once")).to.deep.equal(first);
    const error = await refusal(retry(run.steps[0]!));
    expect([error.code, reasonOf(error)]).to.deep.equal([status.FAILED_PRECONDITION, "conflict"]);
    expect(error.details).to.include(first.stepRun!.runId);
  });

  it("refuses with the status and the reason of the error table", async () => {
    const running = await trigger();
    const outcomes: [number, string][] = [];
    for (const refused of [retry("step_none"), retry(running.steps[0]!), retry(running.steps[0]!, "", "none")]) {
      const error = await refusal(refused);
      outcomes.push([error.code, reasonOf(error)]);
    }
    expect(outcomes).to.deep.equal([
      [status.NOT_FOUND, "not_found"],
      [status.FAILED_PRECONDITION, "conflict"],
      [status.UNAUTHENTICATED, "unauthenticated"],
    ]);
  });
});

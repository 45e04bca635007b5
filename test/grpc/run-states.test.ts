import { status as codes } from "@grpc/grpc-js";
import { expect } from "chai";
import type { StreamRunsRequest, StreamRunsResponse } from "../../proto/generated/stream/v1/stream.ts";
import { planOf } from "../support/plans.ts";
import { publishHint, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { Gateway } from "./gateway.ts";
import { type Reader, StreamCaller } from "./streaming.ts";

describe("the stream of the states of runs", () => {
  let gateway: Gateway;
  let caller: StreamCaller;
  const readers: Reader<StreamRunsResponse>[] = [];
  before(async () => {
    gateway = await Gateway.start();
    caller = await StreamCaller.withRole(gateway.context, gateway.port, "viewer");
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.cancel();
  });
  after(async () => {
    caller.close();
    await gateway.stop();
  });

  const make = async () => {
    const run = await storeRun(gateway.context, planOf([[{}]]));
    await publishHint(gateway.context, run);
    return run;
  };
  const move = (run: StoredRun, state: "running" | "success") =>
    saveTurn(gateway.context, run, {
      run: { state },
      events: [{ object: "pipeline", lifecycle: "started", jobId: null, stepRunId: null, status: state, data: {} }],
    });
  async function follow(request: Partial<StreamRunsRequest> = {}) {
    const all = { tenantId: "", projectId: "", pipelineId: "", statuses: [], revision: "" };
    const reader = caller.read("streamRuns", { ...all, ...request });
    readers.push(reader);
    await until("all that is known", () => reader.received.some(({ caughtUp }) => caughtUp));
    return reader;
  }
  const statesOf = ({ received }: Reader<StreamRunsResponse>, { runId }: StoredRun) =>
    received.flatMap((message) => (message.runId === runId ? [message.status.slice("RUN_STATUS_".length)] : []));
  const tells = (reader: Reader<StreamRunsResponse>, run: StoredRun, status: string) =>
    until(status, () => statesOf(reader, run).at(-1) === status);

  it("sends the runs that have not ended, then each change, and resumes with its revision", async () => {
    const [run, ended] = [await make(), await make()];
    await move(ended, "success");
    const reader = await follow();
    expect(reader.received[0]).to.include({ reset: true, runId: "" });
    const first = reader.received.find(({ runId }) => runId === run.runId)!;
    expect(first).to.deep.include({
      pipelineId: run.pipelineId,
      projectId: "default",
      status: "RUN_STATUS_PENDING",
      eventNumber: 0n,
      removed: false,
    });
    expect(first.waitingFor!.reason).to.equal("worker");
    expect(statesOf(reader, ended)).to.deep.equal([]);
    const { revision } = reader.received.at(-1)!;
    await move(run, "running");
    await tells(reader, run, "RUNNING");
    const resumed = await follow({ revision });
    expect(resumed.received.some(({ reset }) => reset)).to.equal(false);
    expect(statesOf(resumed, run)).to.deep.equal(["RUNNING"]);
    await move(run, "success");
    await Promise.all([tells(reader, run, "SUCCESS"), tells(resumed, run, "SUCCESS")]);
  });

  it("keeps to its filters, and refuses a status that is none", async () => {
    const run = await make();
    const pending = await follow({ statuses: ["RUN_STATUS_PENDING"], pipelineId: run.pipelineId });
    const elsewhere = await follow({ projectId: "prj_other" });
    await move(run, "running");
    await tells(pending, run, "RUNNING");
    await move(run, "success");
    const all = await follow();
    const marker = await make();
    await tells(all, marker, "PENDING");
    expect(statesOf(pending, run)).to.deep.equal(["PENDING", "RUNNING"]);
    expect(elsewhere.received.filter(({ runId }) => runId !== "")).to.deep.equal([]);
    const request = { tenantId: "", projectId: "", pipelineId: "", statuses: [], revision: "" };
    const wrong = caller.read("streamRuns", { ...request, statuses: ["RUN_STATUS_UNSPECIFIED"] });
    expect((await wrong.ended()).code).to.equal(codes.INVALID_ARGUMENT);
  });
});

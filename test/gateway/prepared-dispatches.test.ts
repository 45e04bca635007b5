/** Dispatches that are built before their grants are stored. */
import { expect } from "chai";
import type { GrantedStep } from "../../src/domain/effects.ts";
import { asId, type RunId } from "../../src/domain/ids.ts";
import type { JobSpec } from "../../src/domain/plan.ts";
import { type Dispatch, DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import { PreparedDispatches } from "../../src/gateway/prepared-dispatches.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { connectResponse } from "../../src/grpc/messages/agent-messages.ts";
import { EarlyDispatches } from "../../src/grpc/messages/early-dispatches.ts";
import { ConnectResponse } from "../../proto/generated/agent/v1/agent.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const RUN = asId<RunId>("run_1");
const STEP: GrantedStep = {
  agentId: asId("agt_1"),
  bootId: "boot-1",
  runId: RUN,
  jobId: asId("job_1"),
  jobIndex: 0,
  jobAttempt: 1,
  stepRunId: asId("step_1"),
  stepIndex: 0,
  token: 7,
  requestId: "",
};

describe("a prepared dispatch", () => {
  it("is built after the turn in which its save began, and is taken once, for its own grant", async () => {
    const prepared = new PreparedDispatches<string>();
    let built = 0;
    prepared.prepare(STEP, () => Promise.resolve(`built ${++built}`));
    expect(built).to.equal(0);
    await nextTurn();
    for (const other of [{ token: 8 }, { requestId: "another" }, { agentId: asId<GrantedStep["agentId"]>("agt_2") }])
      expect(await prepared.take({ ...STEP, ...other })).to.equal(undefined);
    expect(await prepared.take(STEP)).to.equal("built 1");
    expect(await prepared.take(STEP)).to.equal(undefined);
  });

  it("is missing when it could not be built, and makes room for later ones when it is not taken", async () => {
    const prepared = new PreparedDispatches<string>();
    prepared.prepare(STEP, () => Promise.reject(new Error("the store is gone")));
    await nextTurn();
    expect(await prepared.take(STEP)).to.equal(undefined);
    for (let token = 0; token < 65; token++) prepared.prepare({ ...STEP, token }, () => Promise.resolve("built"));
    await nextTurn();
    expect(await prepared.take({ ...STEP, token: 0 })).to.equal(undefined);
    expect(await prepared.take({ ...STEP, token: 64 })).to.equal("built");
  });
});

describe("a builder of dispatches", () => {
  const plan = planOf([[{ steps: 2 }]]);
  const { head } = sampleAggregate({ plan });
  let reads: number;

  /** A builder for a run whose job has these steps. */
  function builderOf(
    steps: readonly Partial<JobSpec["steps"][number]>[],
    onPrepared?: (dispatch: Dispatch) => void,
  ): DispatchBuilder {
    const [spec] = jobSpecsOf(plan);
    const job = { ...spec!, steps: spec!.steps.map((step, index) => ({ ...step, ...steps[index] })) };
    const counted = <T>(value: T) => {
      reads++;
      return Promise.resolve(value);
    };
    reads = 0;
    const stores = {
      plans: { loadPlan: () => counted(plan), loadJob: () => counted(job) },
      aggregates: { loadHead: () => counted(head) },
    };
    return new DispatchBuilder({
      stores: stores as unknown as Pick<Stores, "aggregates" | "plans" | "outputs" | "runImages">,
      secrets: { read: () => counted(new Map([["TOKEN", `secret ${reads}`]])) },
      logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
      handout: { refusal: () => Promise.resolve(undefined) },
      onRefused: (_, reason) => Promise.reject(new Error(reason)),
      onPrepared,
    });
  }

  it("tells of a dispatch before it is asked for, and of none that was not prepared", async () => {
    const told: Dispatch[] = [];
    const builder = builderOf([{}, {}], (dispatch) => told.push(dispatch));
    await builder.build(STEP);
    expect(told).to.deep.equal([]);
    builder.prepare(STEP);
    await nextTurn();
    await nextTurn();
    expect(told).to.have.length(1);
    expect(await builder.build(STEP)).to.equal(told[0]);
  });

  it("has the dispatches that it prepares encoded as they would be when they are sent", async () => {
    const early = new EarlyDispatches();
    const builder = builderOf([{}, {}], (dispatch) => early.encode(dispatch));
    builder.prepare(STEP);
    await nextTurn();
    await nextTurn();
    const message = { type: "dispatch", dispatch: (await builder.build(STEP))! } as const;
    expect(ConnectResponse.decode(early.find(message)!)).to.deep.equal(
      ConnectResponse.decode(ConnectResponse.encode(connectResponse(message)).finish()),
    );
    expect(early.find({ type: "dispatch", dispatch: (await builder.build(STEP))! })).to.equal(undefined);
  });

  it("makes the same dispatch of a step whether it was prepared or not, and reads nothing more for a prepared one", async () => {
    const unprepared = await builderOf([{}, {}]).build(STEP);
    const builder = builderOf([{}, {}]);
    builder.prepare(STEP);
    await nextTurn();
    await nextTurn();
    const before = reads;
    expect(before).to.be.above(0);
    expect(await builder.build(STEP)).to.deep.equal(unprepared);
    expect(reads).to.equal(before);
  });

  it("prepares the step of a new run from what is being stored", async () => {
    const unprepared = await builderOf([{}, {}]).build(STEP);
    const builder = builderOf([{}, {}]);
    const aggregate = { head: { ...head, rootId: RUN }, actors: [] };
    builder.prepare(STEP, { aggregate, plan, jobs: jobSpecsOf(plan) });
    await nextTurn();
    expect(await builder.build(STEP)).to.deep.equal(unprepared);
    expect(reads).to.equal(0);
  });

  it("prepares no step that reads secrets: they are those of the time when its grant is stored", async () => {
    const builder = builderOf([
      { secrets: ["TOKEN"], late: ["/args/script"], args: { script: "${{ secrets.TOKEN }}" } },
    ]);
    builder.prepare(STEP);
    await nextTurn();
    await nextTurn();
    const before = reads;
    await builder.build(STEP).catch(() => {});
    expect(reads).to.be.above(before);
  });
});

/** How many jobs of a new run the first snapshot grants, from a real store. */
import { expect } from "chai";
import type { JobState } from "../../../actors/job/state.ts";
import type { TriggeringContext } from "../../../src/app/triggering/context.ts";
import { storeNewRun } from "../../../src/app/triggering/create-run.ts";
import { BegunRuns } from "../../../src/app/begun-runs.ts";
import { agentChannel, RUNS_CHANNEL } from "../../../src/feed/feed.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { type AgentId, asId, type RunId } from "../../../src/domain/ids.ts";
import type { Pipeline } from "../../../src/stores/ports/pipelines.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, MANUAL_ORIGIN, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";

const RUN_ID = asId<RunId>("run_01KDVDNCEN6MD712RRKVJ4EJDX");

describe("the grants of a new run", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let ports: RecordingPorts;
  let asked: number;

  beforeEach(async () => {
    opened = await openTestSqlite();
    ports = new RecordingPorts();
    asked = 0;
  });
  afterEach(() => opened.close());

  /** Stores a run of parallel jobs while agents have so many idle slots; answers how many jobs its snapshot grants. */
  async function granted(jobs: number, slots: number, more: Partial<TriggeringContext> = {}): Promise<number> {
    const reserve = () => {
      const requestId = `request ${asked}`;
      const reservation = { agentId: asId<AgentId>("agt_1"), bootId: "boot", requestId, quotas: [] };
      return Promise.resolve(asked++ < slots ? reservation : undefined);
    };
    const { feed, mailboxes } = ports;
    const context = {
      stores: opened.stores,
      shards: 1,
      clock: systemClock,
      log: silentLog,
      feed,
      mailboxes,
      board: { ...ports.board, reserve },
      ...more,
    } as unknown as TriggeringContext;
    const plan = planOf([Array.from({ length: jobs }, () => ({ steps: 1 }))]);
    const { pipelineId, projectId } = plan;
    const pipeline = { pipelineId, projectId, name: "test" } as Pipeline;
    await storeNewRun(context, {}, { runId: RUN_ID, origin: MANUAL_ORIGIN, pipeline, plan, jobs: jobSpecsOf(plan) });
    const { head, actors } = (await opened.stores.aggregates.load(RUN_ID))!;
    expect(head.version).to.equal(1);
    return actors.filter(({ kind, state }) => kind === "job" && (state as JobState).grant !== null).length;
  }

  it("are as many as there are idle slots, and the other jobs are offered", async () => {
    expect(await granted(40, 50)).to.equal(40);
    expect(ports.offered).to.deep.equal([]);
  });

  it("are at most 64", async () => {
    expect(await granted(200, 1_000)).to.equal(64);
    expect(ports.offered).to.have.length(136);
  });

  it("end with the slots, without a call for each job that finds none", async () => {
    expect(await granted(200, 12)).to.equal(12);
    expect(asked).to.equal(17);
    expect(ports.offered).to.have.length(188);
  });

  it("leave the process before other parts of it and those who follow runs hear of the run", async () => {
    const order: string[] = [];
    const begunRuns = new BegunRuns();
    begunRuns.listen(() => order.push("stored"));
    begunRuns.listenSent(() => order.push("sent"));
    // What is written to a connection leaves when the event loop turns.
    const publish = async (channel: string) => {
      if (channel === agentChannel(asId<AgentId>("agt_1"))) setImmediate(() => order.push("left"));
      if (channel === RUNS_CHANNEL) order.push("followed");
    };
    const feed = { publish, isFollowed: () => true } as unknown as TriggeringContext["feed"];
    await granted(1, 1, { begunRuns, feed });
    expect(order.slice(0, 2)).to.deep.equal(["stored", "left"]);
    expect(order.slice(2)).to.have.members(["sent", "followed"]);
  });

  it("are told to the other parts of the process before the offers of a run that has none", async () => {
    const order: string[] = [];
    const begunRuns = new BegunRuns();
    begunRuns.listenSent(() => order.push(`sent after ${ports.offered.length} offers`));
    await granted(1, 0, { begunRuns });
    expect(order).to.deep.equal(["sent after 0 offers"]);
  });

  it("are none, after one call, when the first job finds no slot", async () => {
    expect(await granted(200, 0)).to.equal(0);
    expect(asked).to.equal(1);
  });
});

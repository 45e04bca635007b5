import { expect } from "chai";
import type { Violation } from "../chaos/check/evidence.ts";
import { scheduleBeforeOutage } from "../support/missed-times.ts";
import { asId, scheduleIdOf, type PipelineId } from "../../src/domain/ids.ts";
import { SCHEDULED_SHAPE } from "./load/schedules.ts";
import { listenToPushes } from "./outside/pushes.ts";
import { reportRuns } from "./outside/reporting.ts";
import { Stage } from "./stage.ts";

/** Pushes, statuses and schedules: each case passes, and fails as soon as the store forgets what makes the promise hold. */
describe("the simulated outside world", () => {
  let stage: Stage;
  beforeEach(() => void (stage = new Stage()));

  const kinds = (violations: readonly Violation[]) => [...new Set(violations.map(({ kind }) => kind))];
  async function begin(): Promise<void> {
    const worker = stage.worker();
    await stage.until("the worker owns the shard", () => worker.owns(0));
    stage.agent();
  }

  /** One push that is told under two ids, and one of them twice. */
  async function pushTwice(): Promise<readonly Violation[]> {
    listenToPushes(stage.world);
    await begin();
    const push = stage.sender.push("main");
    const told = stage.sender.tell(push);
    await stage.until("the delivery is answered", () => told.deliveryId !== undefined);
    stage.sender.send(told);
    stage.sender.tell(push);
    await stage.until("all are answered", () => !stage.clients.isWaiting);
    expect(told.duplicates).to.equal(1);
    return stage.end();
  }

  it("finds one run of each trigger for a push that is told three times", async () => {
    expect(await pushTwice()).to.deep.equal([]);
  });

  it("finds the second run of a push whose change was claimed, when claims are forgotten", async () => {
    stage.world.store.claim = (key) => key;
    const violations = await pushTwice();
    expect(kinds(violations), JSON.stringify(violations)).to.deep.equal(["doubled"]);
  });

  it("finds the second record of a delivery, when its id is not unique", async () => {
    const { hooks } = stage.world.store;
    hooks.take = (delivery, body) => {
      hooks.deliveries.set(delivery.deliveryId, { delivery, body });
      return delivery;
    };
    listenToPushes(stage.world);
    await begin();
    const told = stage.sender.tell(stage.sender.push("main"));
    stage.sender.send(told);
    expect(kinds(await stage.end())).to.include("doubled");
  });

  it("finds runs that two workers have made of one delivery, when the later save of verdicts counts too", async () => {
    const { hooks } = stage.world.store;
    hooks.save = (delivery) => {
      hooks.deliveries.set(delivery.deliveryId, { ...hooks.deliveries.get(delivery.deliveryId)!, delivery });
      return true;
    };
    listenToPushes(stage.world);
    await begin();
    const [first] = stage.workers;
    let frozen = false;
    stage.world.storeService.fateOf = (process, what) => {
      if (process !== first!.process || frozen || !what.startsWith("save v2 hdl_")) return undefined;
      frozen = true;
      process.freeze(40_000);
      return { delayMs: 30_000 };
    };
    stage.sender.tell(stage.sender.push("main"));
    await stage.until("the worker saves its verdicts", () => frozen);
    stage.worker();
    await stage.pass(45_000);
    expect(kinds(await stage.end())).to.include("doubled");
  });

  /** A reported run, whose host is away for a while. */
  async function report(): Promise<readonly Violation[]> {
    reportRuns(stage.world, "jobs");
    await begin();
    const { service } = stage.world.host;
    service.isDown = true;
    const run = stage.trigger("chain");
    await stage.until("the run has begun", () => stage.executions.marks.length > 0);
    service.isDown = false;
    await stage.until("the run is stored", () => stage.world.store.documents.has(run.runId));
    return stage.end();
  }

  it("finds the end of a run and of its jobs at a host that was away", async () => {
    expect(await report()).to.deep.equal([]);
    const shown = [...stage.world.host.statuses.values()].map((given) => given.at(-1)!.state);
    expect(shown).to.deep.equal(["success", "success", "success", "success"]);
  });

  it("shows the end of a job that its condition has skipped", async () => {
    reportRuns(stage.world, "jobs");
    await begin();
    stage.trigger("failing");
    expect(await stage.end()).to.deep.equal([]);
  });

  it("shows the end of a run whose creator's clock is ahead of that of the worker", async () => {
    reportRuns(stage.world, "run");
    stage.edges[0]!.process.aheadMs = 50_000;
    stage.world.haveClocksJumped = true;
    await begin();
    stage.trigger("single");
    expect(await stage.end()).to.deep.equal([]);
  });

  it("finds a status that is lost, when events are told before their statuses are owed", async () => {
    const { telling } = stage.world.store;
    telling.owe = () => undefined;
    expect(kinds(await report())).to.deep.equal(["lost"]);
  });

  it("finds an older status that is shown last, when the host is told of everything", async () => {
    const { telling } = stage.world.store;
    reportRuns(stage.world, "run");
    await begin();
    const run = stage.trigger("chain");
    await stage.until("the run has ended", () => stage.world.store.documents.get(run.runId)?.head.final === true);
    await stage.until("the host knows it", () => telling.deliveries.size > 0 && stage.world.host.statuses.size > 0);
    await stage.pass(5_000);
    const [given] = stage.world.host.statuses.values();
    given!.push(given![0]!);
    expect(kinds(await stage.end())).to.deep.equal(["lost"]);
  });

  describe("of a schedule whose worker's clock jumps", () => {
    const PIPELINE = asId<PipelineId>(`pl_${SCHEDULED_SHAPE.name}`);

    /** Five times are missed, and the clock jumps over two more and back while the runs are made. */
    async function jump(): Promise<readonly Violation[]> {
      const { world } = stage;
      const missed = { pipelineId: PIPELINE, name: "each minute", schedule: "* * * * *", overlap: "allow" } as const;
      world.store.insert(scheduleBeforeOutage({ ...missed, definedAt: world.now - 300_000 }, world.shards));
      const worker = stage.worker();
      worker.process.aheadMs = 120_000;
      world.haveClocksJumped = true;
      await stage.until("the worker owns the shard", () => worker.owns(0));
      const isStarted = () => [...world.store.documents.keys()].some((id) => id.startsWith("run_"));
      await stage.until("runs are made", isStarted);
      worker.process.aheadMs = 0;
      stage.agent();
      await stage.pass(200_000);
      return stage.end();
    }

    it("finds one run for each time", async () => {
      expect(await jump()).to.deep.equal([]);
      const runs = [...stage.world.store.documents.keys()].filter((id) => id.startsWith("run_"));
      expect(runs.length).to.be.greaterThan(6);
    });

    it("finds the second run of a time, when the schedule forgets what it has decided", async () => {
      const { store } = stage.world;
      const id = scheduleIdOf(PIPELINE, "each minute");
      let saves = 0;
      const update = store.update.bind(store);
      // Every third save of the schedule is answered and not kept.
      store.update = (change) => (change.head.rootId === id && ++saves % 3 === 0 ? true : update(change));
      expect(kinds(await jump())).to.not.deep.equal([]);
    });
  });
});

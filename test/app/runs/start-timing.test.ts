import { expect } from "chai";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { type StartTiming, StartTimes, type Waits } from "../../../src/app/runs/start-timing.ts";
import { timeOf } from "../../../src/domain/ids.ts";
import { type JobSketch, planOf } from "../../support/plans.ts";
import { AGENT, RUN_ID, SimulatedRun } from "../../support/simulated-run.ts";

const LOST = { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "its lease ran out" } as const;

/** A run that was planned 7 ms after its trigger, and began 3 ms later. */
function begun(...stages: readonly (readonly JobSketch[])[]): SimulatedRun {
  const run = new SimulatedRun(planOf(stages));
  run.now += 3;
  return run.start();
}

function timingOf(run: SimulatedRun, job: number, step = 0, attempt = 1): StartTiming {
  const head = { rootId: RUN_ID, summary: RUN_AGGREGATE.summarise(run.run as never, false, [], run.plan) };
  const previous = step === 0 ? undefined : run.step(job, step - 1, attempt);
  return new StartTimes(head, run.plan, run.jobs(), run.now).of(
    run.step(job, step, attempt),
    run.job(job, attempt),
    previous,
  );
}

function pass(run: SimulatedRun, ms: number, what: () => unknown): void {
  run.now += ms;
  what();
}

/** The waits that are not null. */
function waitsOf(...where: Parameters<typeof timingOf>): Partial<Waits> {
  return Object.fromEntries(Object.entries(timingOf(...where).waits).filter(([, ms]) => ms !== null));
}

const at = (ms: number) => new Date(timeOf(RUN_ID) + ms).toISOString();

describe("the timing of a step's start", () => {
  it("has every time since the trigger, and waits that add up", () => {
    const run = begun([{}]);
    pass(run, 20, () => run.claim(0));
    pass(run, 5, () => run.report(0, 0, "started"));
    const { waits, ...moments } = timingOf(run, 0);
    expect(moments).to.deep.equal({
      triggeredAt: at(0),
      plannedAt: at(7),
      offeredAt: at(10),
      claimedAt: at(30),
      dispatchedAt: at(30),
      startedAt: at(35),
    });
    expect(waits).to.deep.equal({ plan: 10, stage: 0, needs: 0, paused: 0, agent: 20, start: 5 });
  });

  it("counts the present wait until now, and has null for later waits", () => {
    const run = new SimulatedRun(planOf([[{}]]));
    run.now += 40;
    expect(waitsOf(run, 0)).to.deep.equal({ plan: 47 });
    run.start();
    run.now += 1_000;
    expect(timingOf(run, 0)).to.deep.include({ offeredAt: at(47), claimedAt: null, startedAt: null });
    expect(waitsOf(run, 0)).to.deep.include({ plan: 47, agent: 1_000 }).and.not.have.property("start");
  });

  it("stops counting when the step ends without a start", () => {
    const run = begun([{}]);
    pass(run, 50, () => run.command("stop"));
    run.now += 1_000;
    expect(waitsOf(run, 0)).to.include({ agent: 50 }).and.not.have.property("start");
  });

  it("tells waits for earlier stages and needed jobs from waits for an agent", () => {
    const run = begun([{}, {}], [{}, { needs: [2] }]);
    pass(run, 100, () => run.runJob(0));
    expect(waitsOf(run, 3), "the first stage has not ended").to.deep.equal({ plan: 10, stage: 100 });
    pass(run, 11, () => run.runJob(1));
    pass(run, 200, () => run.runJob(2));
    pass(run, 30, () => run.claim(3));
    pass(run, 4, () => run.report(3, 0, "started"));
    expect(waitsOf(run, 2)).to.include({ stage: 111, needs: 0, agent: 200 });
    expect(timingOf(run, 3).waits).to.deep.equal({
      plan: 10,
      stage: 111,
      needs: 200,
      paused: 0,
      agent: 30,
      start: 4,
    });
  });

  it("counts the wait for a needed job until the attempt that succeeded", () => {
    const run = begun([{}, { needs: [0] }]);
    run.claim(0);
    pass(run, 60, () => run.tellJob(0, LOST));
    pass(run, 40, () => run.runJob(0, 2));
    expect(waitsOf(run, 1)).to.include({ stage: 0, needs: 100, agent: 0 });
  });

  it("counts a pause of the run as a pause, also for a job that was offered before", () => {
    const run = begun([{}, {}, { needs: [1] }]);
    pass(run, 10, () => run.claim(1));
    run.command("pause");
    pass(run, 500, () => run.report(1, 0, "succeeded"));
    expect(timingOf(run, 0).offeredAt).to.equal(null);
    expect(waitsOf(run, 0)).to.include({ paused: 510 }).and.not.have.property("agent");
    pass(run, 90, () => run.command("resume"));
    pass(run, 2, () => [run.claim(0), run.claim(2)]);
    expect(waitsOf(run, 0)).to.include({ needs: 0, paused: 600, agent: 2 });
    expect(waitsOf(run, 2)).to.include({ needs: 510, paused: 90, agent: 2 });
  });

  it("begins for a later step at the end of the step before it, with the offer and claim of their job", () => {
    const run = begun([{ steps: 3 }]);
    pass(run, 20, () => run.claim(0));
    expect(waitsOf(run, 0, 1), "the first step has not ended").to.deep.equal({});
    pass(run, 100, () => run.report(0, 0, "succeeded"));
    pass(run, 6, () => run.report(0, 1, "started"));
    expect(waitsOf(run, 0, 1)).to.deep.equal({ paused: 0, start: 6 });
    expect(timingOf(run, 0, 1)).to.include({ claimedAt: at(30), dispatchedAt: at(130), startedAt: at(136) });
    run.command("pause");
    run.report(0, 1, "succeeded");
    pass(run, 70, () => run.command("resume"));
    pass(run, 8, () => run.report(0, 2, "started"));
    expect(waitsOf(run, 0, 2)).to.deep.equal({ paused: 70, start: 8 });
  });

  it("begins for a new attempt of a job with the loss of the attempt before it", () => {
    const run = begun([{}]);
    run.claim(0);
    pass(run, 35_000, () => run.tellJob(0, LOST));
    pass(run, 12, () => run.claim(0, 2));
    expect(timingOf(run, 0, 0, 2)).to.include({ triggeredAt: at(0), offeredAt: at(35_010), claimedAt: at(35_022) });
    expect(waitsOf(run, 0, 0, 2)).to.deep.equal({ paused: 0, agent: 12, start: 0 });
  });

  it("is never negative, even when the clocks of nodes differ", () => {
    const run = begun([{}]);
    run.now -= 1_000;
    run.claim(0);
    run.report(0, 0, "started");
    expect(waitsOf(run, 0)).to.include({ agent: 0, start: 0 });
  });
});

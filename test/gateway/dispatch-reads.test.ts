/** What the build of a dispatch reads of a large run, from a real store. */
import { expect } from "chai";
import { toStored } from "../../actors/kernel/head.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import type { GrantedStep } from "../../src/domain/effects.ts";
import { asId, type RunId } from "../../src/domain/ids.ts";
import type { JobSpec, RunPlan } from "../../src/domain/plan.ts";
import { DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { jobSpecsOf, planOf, retryOf } from "../support/plans.ts";
import { AGENT, SimulatedRun } from "../support/simulated-run.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";
import { openTestSqlite } from "../support/stores.ts";

const CELLS = 8;
const OTHERS = 500;
const READER = CELLS;

/** A matrix with an output, a job that reads it, and many jobs that have nothing to do with either. */
const PLAN = planOf([
  Array.from({ length: CELLS }, (_, cell) => ({
    name: `build (${cell})`,
    baseName: "build",
    matrix: [["cell", cell]],
    outputs: [["path", "${{ steps.make.outputs.path }}"]],
    steps: [{ id: "make" }],
  })),
  [
    { name: "test", baseName: "test", steps: [{ id: "first", retry: { ...retryOf(3), on: ["failed"] } }, {}] },
    ...Array.from({ length: OTHERS }, () => ({ steps: 3 })),
  ],
]);

describe("the dispatch of a step of a large run", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let run: SimulatedRun;
  let calls: number;
  let actorsRead: number;

  beforeEach(async () => {
    opened = await openTestSqlite();
    run = new SimulatedRun(PLAN).start();
    for (let cell = 0; cell < CELLS; cell++) {
      // The second cell loses its first agent: its outputs are those of its second attempt.
      if (cell === 1) {
        run.claim(cell);
        run.tellJob(cell, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
      }
      await succeed(cell, cell === 1 ? 2 : 1, `/out/${cell}`);
    }
    run.claim(READER);
    run.report(READER, 0, "failed");
    const retried = run.steps().find(({ jobIndex, attempt }) => jobIndex === READER && attempt === 2)!;
    await opened.stores.outputs.put({ ...keyOf(retried), values: [["version", "7"]] }, Infinity);
    run.tell("step", retried.stepRunId, { ...succeeded(retried.grant!.token), hasOutputs: true });
    expect(run.undecided).to.deep.equal([]);
    const { head } = sampleAggregate({ plan: PLAN });
    const actors = toStored(run.actors.values(), RUN_AGGREGATE);
    await opened.stores.aggregates.create({ head: { ...head, rootId: run.runId }, actors });
  });
  afterEach(() => opened.close());

  const keyOf = (step: ReturnType<SimulatedRun["step"]>) => {
    return { runId: run.runId, stepRunId: step.stepRunId, token: step.grant!.token };
  };

  function succeeded(token: number) {
    const numbers = { exitCode: 0, lastLine: 0, durationMs: 1 };
    return { type: "reported", agentId: AGENT, token, phase: "succeeded", reason: "", usage: null, ...numbers };
  }

  async function succeed(cell: number, jobAttempt: number, path: string): Promise<void> {
    run.claim(cell, jobAttempt);
    await opened.stores.outputs.put({ ...keyOf(run.step(cell, 0, jobAttempt)), values: [["path", path]] }, Infinity);
    run.report(cell, 0, "succeeded", { jobAttempt, hasOutputs: true });
  }

  async function build(script: string) {
    const step: Partial<JobSpec["steps"][number]> = { args: { script }, late: ["/args/script"] };
    const specs = jobSpecsOf(PLAN).map((spec, index) =>
      index === READER ? { ...spec, steps: [spec.steps[0]!, { ...spec.steps[1]!, ...step }] } : spec,
    );
    await opened.stores.plans.put(run.runId, PLAN, specs);
    calls = actorsRead = 0;
    const builder = new DispatchBuilder({
      stores: { ...opened.stores, aggregates: counted(opened.stores.aggregates) },
      secrets: { read: () => Promise.reject(new Error("no secret is needed")) },
      logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
      handout: { refusal: () => Promise.resolve(undefined) },
      onRefused: (_, reason) => Promise.reject(new Error(reason)),
    });
    return JSON.parse((await builder.build(granted()))!.argsJson).script as string;
  }

  /** Counts the calls that read actors, and the actors that they answer. */
  function counted(aggregates: Stores["aggregates"]): Stores["aggregates"] {
    return new Proxy(aggregates, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== "load" && name !== "loadActors") return (member as () => unknown).bind(target);
        return async (...args: readonly unknown[]) => {
          const found = (await Reflect.apply(member as () => unknown, target, args)) as { actors: unknown[] };
          calls++;
          actorsRead += found.actors.length;
          return found;
        };
      },
    });
  }

  function granted(): GrantedStep {
    const { jobId, jobIndex, jobAttempt, stepRunId, index: stepIndex, grant } = run.step(READER, 1);
    return { ...grant!, runId: run.runId, jobId, jobIndex, jobAttempt, stepRunId, stepIndex };
  }

  it("reads the matrix and the steps that its texts name, whatever their attempts, and no other actor", async () => {
    const script = "test ${{ join(jobs.build.outputs.path, ' ') }} ${{ steps.first.outputs.version }}";
    const paths = Array.from({ length: CELLS }, (_, cell) => `/out/${cell}`);
    expect(await build(script)).to.equal(`test ${paths.join(" ")} 7`);
    // The job, its first step twice; each cell and its step; the failed attempt of one cell, and the step of that attempt.
    expect(actorsRead).to.equal(3 + 2 * CELLS + 2);
    expect(calls).to.be.at.most(6);
  });

  describe("of a run that was created here", () => {
    function learned(plan: RunPlan): DispatchBuilder {
      const unread = () => Promise.reject(new Error("the store is read"));
      const builder = new DispatchBuilder({
        stores: {
          ...opened.stores,
          aggregates: { ...opened.stores.aggregates, loadHead: unread, loadActors: unread },
          plans: { ...opened.stores.plans, loadPlan: unread, loadJob: unread },
        },
        secrets: { read: unread },
        logLimits: { of: () => Promise.resolve(LOG_LIMIT) },
        handout: { refusal: () => Promise.resolve(undefined) },
        onRefused: (_, reason) => Promise.reject(new Error(reason)),
      });
      const { head } = sampleAggregate({ plan });
      const owed = [{ effect: { type: "dispatch", order: granted() }, eventNumber: null, at: 0 }] as const;
      const begun = { head: { ...head, rootId: run.runId, owed }, actors: [] };
      builder.learn({ aggregate: begun, plan, jobs: jobSpecsOf(plan) });
      return builder;
    }

    it("reads nothing", async () => {
      expect((await learned(PLAN).build(granted()))!.stepName).to.equal(jobSpecsOf(PLAN)[READER]!.steps[1]!.name);
    });

    it("reads nothing for the other jobs of a run either, small or large", async () => {
      for (const jobs of [READER + 2, 1_000]) {
        const plan = planOf([Array.from({ length: jobs }, () => ({ steps: 2 }))]);
        const other = { ...granted(), jobIndex: jobs - 1, stepIndex: 0 };
        expect((await learned(plan).build(other))!.stepName).to.equal(jobSpecsOf(plan)[jobs - 1]!.steps[0]!.name);
      }
    });

    it("keeps the jobs of the last large runs only", async () => {
      const large = planOf([Array.from({ length: 100 }, () => ({ steps: 2 }))]);
      const builder = learned(large);
      const { head } = sampleAggregate({ plan: large });
      const owed = [{ effect: { type: "dispatch", order: granted() }, eventNumber: null, at: 0 }] as const;
      for (const rootId of ["run_2", "run_3"].map((id) => asId<RunId>(id))) {
        const aggregate = { head: { ...head, rootId, owed }, actors: [] };
        builder.learn({ aggregate, plan: large, jobs: jobSpecsOf(large) });
      }
      const refused = await builder.build({ ...granted(), jobIndex: 99 }).catch(String);
      expect(refused).to.include("the store is read");
    });
  });

  it("reads its own job alone when its texts name no other", async () => {
    expect(await build("echo ${{ env.NONE }}")).to.equal("echo ");
    expect([calls, actorsRead]).to.deep.equal([1, 1]);
  });
});

import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { Fate } from "./engine/service.ts";
import type { Triggered } from "./load/clients.ts";
import type { Agent } from "./parts/agent.ts";
import { Edge } from "./parts/edge.ts";
import type { Worker } from "./parts/worker.ts";
import { Stage } from "./stage.ts";

/** A run whose first snapshot holds the grant, while something fails between reservation, save and notice. */
describe("a grant in the first turn", () => {
  let stage: Stage;
  let agent: Agent;
  let worker: Worker;

  beforeEach(async () => {
    stage = new Stage();
    stage.edges.push(new Edge(stage.world, stage.effects));
    worker = stage.worker();
    await stage.until("the worker owns the shard", () => worker.owns(0));
    agent = stage.agent(1);
    await isVacant();
  });

  const vacancies = (of = agent): readonly string[] => stage.world.redis.vacancies.of(of.agentId, of.process.name);
  const isVacant = (ms?: number): Promise<void> => {
    return stage.until("the agent shows its slot", () => vacancies().length === 1, ms);
  };
  const jobs = (): readonly JobState[] =>
    [...stage.world.store.documents.values()].flatMap(({ actors }) =>
      [...actors.values()].flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : [])),
    );
  const isStored = (run: Triggered) => (): boolean => stage.world.store.documents.has(run.runId);
  const offers = (): readonly string[] =>
    [...stage.effects.counts.keys()].filter((effect) => effect.startsWith("offer"));
  const meetEdges = (call: string, fate: Exclude<Fate, undefined>): void => {
    const rules = stage.edges.map(({ process }) => ({ of: process, call, fate }));
    // Whichever edge the client asks: the first call alone meets the fault.
    let met = false;
    stage.world.storeService.fateOf = stage.world.redis.service.fateOf = (process, what) => {
      if (met || !rules.some((rule) => rule.of === process && what.startsWith(rule.call))) return undefined;
      met = true;
      return fate;
    };
  };

  /** Everything has ended, the step ran once, and the slot is free again. */
  async function endsWithOneAttempt(): Promise<void> {
    expect(await stage.end()).to.deep.equal([]);
    expect(jobs().map(({ state, attempt }) => [state, attempt])).to.deep.equal([["success", 1]]);
    expect(stage.executions.marks.filter(({ word }) => word === "start")).to.have.length(1);
    await isVacant(5_000);
  }

  it("is stored by the save that creates the run, and nothing is offered", async () => {
    const run = stage.trigger("single");
    await stage.until("the run is stored", isStored(run));
    expect(jobs()[0]).to.include({ state: "running" });
    await endsWithOneAttempt();
    expect(offers()).to.deep.equal([]);
    expect([...stage.effects.counts].filter(([, times]) => times > 1)).to.deep.equal([]);
  });

  it("is dispatched once to a step that runs for longer than the creator's grace", async () => {
    const other = stage.agent(1);
    await stage.until("both agents show their slots", () => vacancies(other).length === 1);
    stage.trigger("long");
    expect(await stage.end()).to.deep.equal([]);
    expect([...stage.effects.counts].filter(([, times]) => times > 1)).to.deep.equal([]);
    expect(offers()).to.deep.equal([]);
  });

  it("gives the job that finds no slot an offer", async () => {
    stage.trigger("long");
    expect(await stage.end()).to.deep.equal([]);
    expect(offers()).to.have.length(1);
  });

  for (const [when, call, fate] of [
    ["dies before the slot is reserved", "reserve", "crashBefore"],
    ["dies after the slot is reserved", "reserve", "crashAfter"],
    ["gets no answer about the slot", "reserve", "answerLost"],
    ["dies before the save", "create", "crashBefore"],
    ["dies after the save, before the notice", "create", "crashAfter"],
    ["does not reach the store", "create", "callLost"],
    ["gets no answer to the save", "create", "answerLost"],
    ["dies before the notice is published", "publish agent", "crashBefore"],
    ["dies after the notice is published", "publish agent", "crashAfter"],
    ["loses the notice", "publish agent", "callLost"],
  ] as const) {
    it(`runs the step once when the edge ${when}`, async () => {
      meetEdges(call, fate);
      stage.trigger("single");
      await endsWithOneAttempt();
    });
  }

  it("is not made with a reservation that is too old", async () => {
    meetEdges("reserve", { delayMs: 1_200 });
    const run = stage.trigger("single");
    await stage.until("the run is stored", isStored(run));
    expect(jobs()[0]).to.include({ state: "queued" });
    await endsWithOneAttempt();
    expect(offers()).to.have.length(1);
  });

  it("reaches an agent whose gateway has died, at the next gateway", async () => {
    const former = stage.gateways[0]!;
    stage.gateways = [];
    stage.gateway();
    former.process.kill();
    const run = stage.trigger("single");
    await stage.until("the run is stored", isStored(run));
    await endsWithOneAttempt();
  });

  it("is given to no agent of a gateway that has been dead for longer than its vacancies count", async () => {
    stage.gateways[0]!.process.kill();
    stage.gateways = [];
    await stage.pass(3_500);
    const run = stage.trigger("single");
    await stage.until("the run is stored", isStored(run));
    expect(jobs()[0]).to.include({ state: "queued" });
    stage.gateway();
    await endsWithOneAttempt();
  });

  it("comes back as another attempt when the agent dies before the step arrives", async () => {
    stage.trigger("single");
    await stage.until("the slot is reserved", () => vacancies().length === 0);
    agent.process.kill();
    agent = stage.agent(1);
    expect(await stage.end()).to.deep.equal([]);
    expect(jobs().map(({ state, attempt }) => [state, attempt])).to.deep.equal([
      ["failed", 1],
      ["success", 2],
    ]);
  });

  it("is made again after Redis has lost all vacancies", async () => {
    stage.world.redis.empty();
    await isVacant(5_000);
    stage.trigger("single");
    await endsWithOneAttempt();
    expect(offers()).to.deep.equal([]);
  });

  it("goes to an agent that pulls, in answer to its fetch", async () => {
    agent.process.kill();
    await stage.pass(3_500);
    agent = stage.agent(1, true);
    await isVacant();
    const [requestId] = vacancies();
    stage.trigger("single");
    expect(await stage.end()).to.deep.equal([]);
    expect(jobs().map(({ attempt, grant }) => [attempt, grant!.requestId])).to.deep.equal([[1, requestId]]);
  });
});

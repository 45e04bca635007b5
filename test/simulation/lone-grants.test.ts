import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { Agent } from "./parts/agent.ts";
import { Stage } from "./stage.ts";

/** A run whose slot is reserved in the process, while what the node knows of other nodes changes, or a part of it dies. */
describe("a grant of a node that is alone", () => {
  let stage: Stage;
  let agent: Agent;
  let isAlone: boolean;

  beforeEach(async () => {
    stage = new Stage();
    isAlone = true;
    stage.world.lone = { board: undefined, isAlone: () => isAlone };
    startGateway();
    const worker = stage.worker();
    await stage.until("the worker owns the shard", () => worker.owns(0));
    agent = stage.agent(1);
    await stage.pass(2_000);
  });

  function startGateway(): void {
    for (const { process } of stage.gateways.splice(0)) process.kill();
    stage.gateway();
  }
  const shown = (): readonly string[] => stage.world.redis.vacancies.of(agent.agentId, agent.process.name);
  const jobs = (): readonly JobState[] =>
    [...stage.world.store.documents.values()].flatMap(({ actors }) =>
      [...actors.values()].flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : [])),
    );
  const offers = (): readonly string[] =>
    [...stage.effects.counts.keys()].filter((effect) => effect.startsWith("offer"));

  async function endsWithOneAttempt(): Promise<void> {
    expect(await stage.end()).to.deep.equal([]);
    for (const job of jobs()) expect(job).to.include({ state: "success", attempt: 1 });
    expect(stage.executions.marks.filter(({ word }) => word === "start")).to.have.length(jobs().length);
  }

  it("needs no vacancy in Redis and no offer, also for the run that comes when the slot is free again", async () => {
    for (let run = 0; run < 3; run++) {
      const { runId } = stage.trigger("single");
      await stage.until("the run has ended", () => stage.world.store.documents.get(runId)?.head.final === true);
      await stage.pass(100);
    }
    await endsWithOneAttempt();
    expect(shown()).to.deep.equal([]);
    expect(offers()).to.deep.equal([]);
  });

  it("gives the run that finds no slot an offer", async () => {
    stage.trigger("single");
    stage.trigger("single");
    await endsWithOneAttempt();
    expect(offers()).to.have.length(1);
  });

  it("finds the slot in Redis once another node lives, and in the process again when it has gone", async () => {
    for (const alone of [false, true, false]) {
      isAlone = alone;
      await stage.until("the slot is where it belongs", () => shown().length === (alone ? 0 : 1));
      await stage.pass(2_000);
      stage.trigger("single");
      await stage.pass(2_000);
    }
    await endsWithOneAttempt();
    expect(offers()).to.deep.equal([]);
  });

  it("runs once when the gateway dies with the slots that it knew", async () => {
    const { runId } = stage.trigger("single");
    await stage.until("the run is stored", () => stage.world.store.documents.has(runId));
    startGateway();
    await endsWithOneAttempt();
  });
});

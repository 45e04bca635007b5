import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import { FIRST_BOUND_CHECK_MS } from "../../actors/kernel/bound-check.ts";
import type { Fate } from "./engine/service.ts";
import type { Triggered } from "./load/clients.ts";
import { Edge } from "./parts/edge.ts";
import type { Worker } from "./parts/worker.ts";
import type { Agent } from "./parts/agent.ts";
import { Stage } from "./stage.ts";

/** Each of these faults has once broken a promise. */
describe("the simulated control plane", () => {
  let stage: Stage;
  beforeEach(() => void (stage = new Stage()));

  const jobOf = (run: Triggered): JobState | undefined => {
    const actors = [...(stage.world.store.documents.get(run.runId)?.actors.values() ?? [])];
    return actors.find(({ kind }) => kind === "job")?.state as JobState | undefined;
  };
  const isIn = (run: Triggered, state: JobState["state"]) => (): boolean => jobOf(run)?.state === state;
  const isVacant = ({ agentId, process }: Agent): Promise<void> => {
    const { vacancies } = stage.world.redis;
    return stage.until("the agent shows its slots", () => vacancies.of(agentId, process.name).length > 0);
  };
  const owner = async (): Promise<Worker> => {
    const worker = stage.worker();
    await stage.until("the worker owns the shard", () => worker.owns(0));
    return worker;
  };
  const isOffered = (run: Triggered): boolean => {
    return stage.world.redis.offers.all().some(({ runId }) => runId === run.runId);
  };

  it("notices the loss of an agent after the answer to the save of its grant was lost", async () => {
    const { process } = await owner();
    const agent = stage.agent();
    const run = stage.trigger("single");
    await stage.until("the run is stored", () => jobOf(run) !== undefined);
    stage.meet({ of: process, call: "save v2 run_", fate: "answerLost" });
    await stage.until("the job is bound", isIn(run, "running"));
    agent.process.kill();
    stage.agent();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("watches no job whose end was saved by an owner that died before it wrote the look-ups", async () => {
    const { process } = await owner();
    stage.agent();
    const run = stage.trigger("single");
    await stage.until("the step has ended", () => stage.executions.marks.some(({ word }) => word === "end"));
    stage.meet({ of: process, call: "rows of job", fate: "crashBefore" });
    await stage.until("the owner dies", () => !process.isAlive);
    expect(jobOf(run)).to.include({ state: "success" });
    await owner();
    stage.beQuiet();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("watches no job of a run that had ended before its creator could go on", async () => {
    const { kernel } = await owner();
    stage.world.beside = {
      adopt: ({ aggregate, plan }) => kernel.adopt(aggregate, plan),
      creatorIsDone: (runId) => kernel.creatorIsDone(runId),
      take: () => undefined,
    };
    await isVacant(stage.agent());
    // The next check of what is watched comes late.
    await stage.pass(FIRST_BOUND_CHECK_MS + 1_000);
    const [edge] = stage.edges;
    stage.meet({ of: edge!.process, call: "deletion of", fate: { delayMs: 4_000 } });
    const run = stage.trigger("single");
    await stage.until("the job has ended", isIn(run, "success"));
    stage.beQuiet();
    // Places in quotas are kept every ten seconds.
    await stage.pass(15_000);
    expect(await stage.end()).to.deep.equal([]);
  });

  it("offers a job again whose run could not be read while an emptied Redis was recovered", async () => {
    const first = await owner();
    const run = stage.trigger("single");
    await stage.until("the job is offered", () => isOffered(run));
    // The run leaves the memory of its owner.
    await stage.pass(8_000);
    stage.meet({ of: first.process, call: `load ${run.runId}`, fate: "callLost" });
    stage.world.redis.empty();
    await stage.until("the recovery is recorded, or goes on", () => isRecorded(), 4_000).catch(() => undefined);
    first.process.kill();
    await owner();
    await stage.pass(5_000);
    stage.agent();
    expect(await stage.end()).to.deep.equal([]);
  });

  /** True when the store says that the Redis of now was told everything. */
  function isRecorded(): boolean {
    const { redis, store } = stage.world;
    const generation = redis.leases.generation(0);
    return generation !== "" && store.shard(0).redis?.generation === generation;
  }

  it("serves a shard whose earlier opening on the same node ends after the later one", async () => {
    const worker = stage.worker();
    stage.meet({ of: worker.process, call: "bound jobs", fate: { delayMs: 7_000 } });
    await stage.until("the worker opens the shard", () => stage.world.store.shard(0).epoch > 0);
    await stage.pass(100);
    stage.world.redis.service.cutOff.add(worker.process);
    await stage.pass(4_000);
    stage.world.redis.service.cutOff.delete(worker.process);
    await stage.until("the worker owns the shard again", () => worker.owns(0));
    await stage.pass(7_000);
    stage.agent();
    stage.trigger("single");
    expect(await stage.end(20_000)).to.deep.equal([]);
  });

  it("offers a job once, and not again after its grant", async () => {
    await owner();
    stage.agent();
    const run = stage.trigger("long");
    await stage.until("the job is bound", isIn(run, "running"));
    stage.beQuiet();
    await stage.pass(2_000);
    expect(isOffered(run)).to.equal(false);
    expect(await stage.end()).to.deep.equal([]);
    const offers = [...stage.effects.counts].filter(([effect]) => effect.startsWith("offer"));
    expect(offers.filter(([, times]) => times > 1)).to.deep.equal([]);
  });

  it("keeps the offer of a job that was made again while an earlier owner was frozen", async () => {
    const zombie = await owner();
    const run = stage.trigger("single");
    await stage.until("the job is offered", () => isOffered(run));
    await stage.pass(2_000);
    stage.clients.control(run, "pause");
    await stage.until("the offer is withdrawn", () => !isOffered(run));
    await stage.pass(1_000);
    // The zombie is frozen while a claim of the paused job is on its way to it.
    stage.world.redis.service.fateOf = (process, what) => {
      if (process !== zombie.process || !what.startsWith("fetch")) return undefined;
      process.freeze(9_000);
      return { delayMs: 1 };
    };
    stage.world.redis.mailboxes.add(0, claimOf(run));
    await stage.until("the zombie is frozen", () => zombie.process.isFrozen);
    await stage.pass(10);
    stage.meet();
    await owner();
    await stage.pass(500);
    stage.clients.control(run, "resume");
    await stage.until("the job is offered again", () => isOffered(run), 8_000);
    await stage.until("the zombie wakes up", () => !zombie.process.isFrozen);
    await stage.pass(1_000);
    stage.beQuiet();
    await stage.pass(4_000);
    stage.agent();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("offers no job again that was granted while its former owner was frozen between reading and offering", async () => {
    const former = await owner();
    const run = stage.trigger("long");
    stage.world.storeService.fateOf = (process, what) => {
      if (process === former.process && what === "read rows") process.freeze(9_000);
      return undefined;
    };
    await stage.until("the owner is frozen", () => former.process.isFrozen);
    stage.meet();
    await owner();
    stage.agent();
    await stage.until("the job is bound", isIn(run, "running"));
    await stage.until("the former owner wakes up", () => !former.process.isFrozen);
    stage.beQuiet();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("keeps no dead letter for a vote on an approval that an earlier owner does not know", async () => {
    const former = await owner();
    stage.agent();
    const run = stage.trigger("approved");
    await stage.until("the job is bound", isIn(run, "running"));
    stage.meet({ of: former.process, call: "inbox of", fate: { delayMs: 9_000 } });
    stage.clients.control(run, "resume");
    const readAt = stage.world.now + 9_000;
    await stage.pass(50);
    stage.world.redis.service.cutOff.add(former.process);
    const successor = await owner();
    const { approval } = stage.world.store.rows;
    await stage.until("the approval is asked for", () => approval.size > 0);
    await stage.pass(readAt - 500 - stage.world.now);
    stage.meet(
      { of: stage.edges[0]!.process, call: "send doorbell", fate: "callLost" },
      { of: successor.process, call: "roots with commands", fate: { delayMs: 2_000 }, times: 2 },
    );
    stage.clients.vote();
    await stage.pass(1_500);
    stage.world.redis.service.cutOff.clear();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("takes no job away from an agent that was started again, for a heartbeat of its earlier process", async () => {
    await owner();
    const agent = stage.agent();
    const former = stage.gateways[0]!;
    await stage.pass(2_800);
    // The agent's heartbeat reaches the gateway while the gateway is frozen.
    former.process.freeze(6_000);
    await stage.pass(800);
    agent.process.kill();
    stage.gateways = [];
    stage.gateway();
    agent.start();
    await isVacant(agent);
    const run = stage.trigger("long");
    await stage.until("the job is bound", isIn(run, "running"));
    await stage.until("the former gateway wakes up", () => !former.process.isFrozen);
    await endsInFirstAttempts();
  });

  it("takes no job away from such an agent either when Redis has forgotten which process is the newest", async () => {
    await owner();
    const agent = stage.agent();
    const former = stage.gateways[0]!;
    await stage.pass(2_800);
    former.process.freeze(6_000);
    const wakesAt = stage.world.now + 6_000;
    await stage.pass(800);
    agent.process.kill();
    stage.gateways = [];
    stage.gateway();
    agent.start();
    await isVacant(agent);
    const run = stage.trigger("long");
    await stage.until("the job is bound", isIn(run, "running"));
    await stage.pass(wakesAt - 20 - stage.world.now);
    stage.world.redis.empty();
    await stage.until("the former gateway wakes up", () => !former.process.isFrozen);
    await endsInFirstAttempts();
  });

  /** From now on the worker neither beats nor renews its leases; its other calls succeed until its leases are over. */
  const becomeZombie = ({ process }: Worker): void => {
    stage.world.redis.service.fateOf = (caller, what) => {
      return caller === process && /^(identity|beat)/.test(what) ? "callLost" : undefined;
    };
  };
  const onSave = (worker: Worker, does: () => Fate): void => {
    stage.world.storeService.fateOf = (process, what) => {
      return process === worker.process && what.startsWith("save v") ? does() : undefined;
    };
  };

  it("sees what an earlier owner has saved, also when nothing that comes changes what the owner has in memory", async () => {
    const zombie = await owner();
    const agent = stage.agent();
    const run = stage.trigger("long");
    let isSaving = false;
    onSave(zombie, () => {
      if (isSaving) return undefined;
      isSaving = true;
      return { delayMs: 2_000 };
    });
    await stage.until("the first owner saves a grant", () => isSaving);
    const { redis } = stage.world;
    becomeZombie(zombie);
    redis.empty();
    await owner();
    await stage.pass(1_700);
    redis.mailboxes.add(0, { rootId: run.runId, to: null, message: null });
    await stage.until("the grant is saved", isIn(run, "running"));
    agent.process.kill();
    await stage.pass(100);
    agent.start();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("keeps no place for a job whose end an earlier owner saved after the shard was opened", async () => {
    const zombie = await owner();
    stage.agent(1);
    const run = stage.trigger("long");
    const ends = (): number => stage.executions.marks.filter(({ word }) => word === "end").length;
    // The two jobs run one after the other. Meanwhile the run leaves the memory of its owner and owes nothing.
    await stage.until("both steps have ended", () => ends() === 2);
    let isEnding = false;
    becomeZombie(zombie);
    onSave(zombie, () => {
      isEnding = true;
      return { delayMs: 1_000 };
    });
    await stage.until("the first owner saves the end of the job", () => isEnding);
    stage.world.redis.empty();
    await owner();
    await stage.until("the run is settled", () => stage.world.store.documents.get(run.runId)!.head.settled);
    await stage.pass(8_000);
    stage.beQuiet();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("offers no job again for a creator whose offer comes after the job has left the queue", async () => {
    await owner();
    stage.agent();
    stage.meet({ of: stage.edges[0]!.process, call: "offer", fate: { delayMs: 4_000 } });
    const run = stage.trigger("single");
    await stage.until("the job has ended", isIn(run, "success"));
    stage.beQuiet();
    // The only agent is gone: no agent takes an offer that stands on the board for nothing.
    for (const gateway of stage.gateways) gateway.process.kill();
    expect(await stage.end()).to.deep.equal([]);
  });

  it("repeats no offer that the creator has made when the shard is handed over right after the creation", async () => {
    const former = await owner();
    stage.agent(1);
    const run = stage.trigger("long");
    await stage.until("a job is bound", isIn(run, "running"));
    expect(isOffered(run)).to.equal(true);
    const successor = stage.worker();
    former.leave();
    await stage.until("the successor owns the shard", () => successor.owns(0));
    stage.beQuiet();
    expect(await stage.end()).to.deep.equal([]);
    expect([...stage.effects.counts].filter(([, times]) => times > 1)).to.deep.equal([]);
  });

  it("stores the first events of a run that ends within the grace of its creator by a save whose answer is lost", async () => {
    const { process } = await owner();
    stage.meet(
      { of: stage.edges[0]!.process, call: "create", fate: "answerLost" },
      { of: process, call: "save v2 run_", fate: "answerLost" },
    );
    const run = stage.trigger("single");
    await stage.until("the run is acknowledged", () => run.isAcknowledged);
    stage.clients.control(run, "stop");
    expect(await stage.end()).to.deep.equal([]);
  });

  it("keeps no place for a job that is cancelled within the grace of a creator that has died", async () => {
    await owner();
    const edge = stage.edges[0]!;
    stage.meet({ of: edge.process, call: "deletion of", fate: "crashBefore" });
    const cancelled = stage.trigger("exclusive");
    await stage.until("the edge dies", () => !edge.process.isAlive);
    expect(jobOf(cancelled)).to.include({ state: "queued" });
    stage.edges.push(new Edge(stage.world, stage.effects));
    stage.clients.cancelJob(cancelled, 1);
    await isLeaving();
    await stage.pass(3_000);
    stage.agent();
    stage.trigger("exclusive");
    expect(await stage.end()).to.deep.equal([]);
  });

  it("keeps no place for a run that is stopped before its creator has entered it", async () => {
    await owner();
    stage.meet({ of: stage.edges[0]!.process, call: "insert enter", fate: { delayMs: 1_000 } });
    const stopped = stage.trigger("queueing");
    await stage.until("the run is acknowledged", () => stopped.isAcknowledged);
    stage.clients.control(stopped, "stop");
    await isLeaving();
    await stage.pass(3_000);
    stage.agent();
    stage.trigger("queueing");
    expect(await stage.end()).to.deep.equal([]);
  });

  function isLeaving(): Promise<void> {
    const { inbox } = stage.world.store;
    return stage.until("the member leaves its group", () =>
      [...inbox.values()].some(({ command }) => command.kind === "leave"),
    );
  }

  it("takes no job away from an agent that pulls, for a first heartbeat whose sender has died since", async () => {
    await owner();
    stage.meet({ of: stage.gateways[0]!.process, call: "agent agt_0", fate: { delayMs: 4_000 } });
    const agent = stage.agent(2, true);
    await stage.pass(100);
    agent.process.kill();
    agent.start();
    const run = stage.trigger("long");
    await stage.until("the job is bound", isIn(run, "running"));
    await endsInFirstAttempts();
  });

  it("takes no job away from an agent, for a greeting of its earlier process that was cut off in the middle", async () => {
    await owner();
    // The greeting has passed everything but the reading of the agent when its process dies.
    stage.meet({ of: stage.gateways[0]!.process, call: "agent agt_0", fate: { delayMs: 6_000 } });
    const agent = stage.agent();
    await stage.pass(100);
    agent.process.kill();
    stage.gateways = [];
    stage.gateway();
    agent.start();
    const run = stage.trigger("long");
    await stage.until("the job is bound", isIn(run, "running"));
    await endsInFirstAttempts();
  });

  /** Nothing is violated from now on, and each of the two jobs has needed one attempt. */
  async function endsInFirstAttempts(): Promise<void> {
    stage.beQuiet();
    expect(await stage.end()).to.deep.equal([]);
    const jobs = [...stage.world.store.rows.job.values()].map(({ actor }) => actor.state as JobState);
    expect(jobs.map(({ attempt }) => attempt)).to.deep.equal([1, 1]);
  }

  function claimOf(run: Triggered) {
    const { jobId } = jobOf(run)!;
    const message = { type: "claimRequested", agentId: "agt_X", bootId: "boot", requestId: "late" };
    return { rootId: run.runId, to: { kind: "job", id: jobId }, message };
  }
});

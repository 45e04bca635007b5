import { expect } from "chai";
import type { JobEffect } from "../../../actors/job/effects.ts";
import { outstandingJob } from "../../../actors/job/decide.ts";
import type { AgentWait } from "../../../src/domain/agent-wait.ts";
import type { StepChange, StepFacts } from "../../../src/domain/commands.ts";
import { asId, type CommandId, type StepRunId } from "../../../src/domain/ids.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import { planOf, retryOf } from "../../support/plans.ts";
import { AGENT, jobIdOf, OTHER_AGENT, SimulatedRun, typesOf } from "../../support/simulated-run.ts";

const LOST = { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "its lease ran out" } as const;

describe("a job", () => {
  it("dispatches no step while paused between two steps, also when its claim is repeated", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    run.claim(0);
    run.command("pause");
    run.report(0, 0, "succeeded");
    expect(typesOf(run.claim(0))).to.deep.equal([]);
    expect(run.step(0, 1).state).to.equal("pending");
  });

  it("times out once, also when its timer fires twice", () => {
    const run = new SimulatedRun(planOf([[{ timeoutMs: 1_000 }]])).start();
    run.claim(0);
    const { generation } = run.job(0).timeoutTimer!;
    run.tellJob(0, { type: "timer", timer: "timeout", generation });
    const asked = run.job(0);
    expect(typesOf(run.tellJob(0, { type: "timer", timer: "timeout", generation }))).to.deep.equal([]);
    expect(run.job(0)).to.equal(asked);
    expect(run.undecided).to.deep.equal([]);
  });

  it("accepts a user's cancel also while it is ending, and refuses one that cannot apply", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }], [{}]])).start();
    const ask = (job: number, stepRunId?: StepRunId) => {
      const asked = { commandId: asId<CommandId>("cmd_1"), operator: "ann", reason: "slow" };
      const effects = run.tellJob(
        job,
        stepRunId === undefined ? { type: "cancelJob", ...asked } : { type: "cancelStep", stepRunId, ...asked },
      );
      return effects.flatMap((effect) => (effect.type === "answer" ? [effect.verdict] : []));
    };
    const refused = (status: string) => [{ outcome: "refused", status }];
    expect(ask(1), "of a later stage").to.deep.equal(refused("pending"));
    expect(ask(0, run.stepId(0, 0)), "before its job is taken").to.deep.equal(refused("pending"));
    run.claim(0);
    expect(ask(0, run.stepId(0, 1)), "behind the one that runs").to.deep.equal(refused("pending"));
    expect(ask(0, run.stepId(0, 0))).to.deep.equal([{ outcome: "accepted", status: "queued" }]);
    expect(run.step(0, 0).state).to.equal("cancelling");
    expect(ask(0, run.stepId(0, 0)), "again").to.deep.equal([{ outcome: "accepted", status: "running" }]);
    expect(ask(0), "the job").to.deep.equal([{ outcome: "accepted", status: "running" }]);
    // The step had ended before the cancel reached it; its job ends as cancelled all the same.
    run.report(0, 0, "succeeded");
    expect(run.job(0)).to.include({ state: "cancelled", reason: "cancelled" });
    expect(ask(0, run.stepId(0, 0))).to.deep.equal(refused("success"));
    expect(ask(0)).to.deep.equal(refused("cancelled"));
    expect(run.run.state).to.equal("failed");
    expect(run.undecided).to.deep.equal([]);
  });

  it("takes a change of a step that is not dispatched, and refuses every other one", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2, retry: retryOf(2) }], [{}]])).start();
    const ask = (job: number, step: number, change: StepChange, expected?: StepFacts) => {
      const asked = { commandId: asId<CommandId>("cmd_1"), operator: "ann", stepRunId: run.stepId(job, step) };
      return run.tellJob(job, { type: "updateStep", ...asked, change, ...(expected && { expected }) });
    };
    const verdict = (effects: readonly JobEffect[]) =>
      effects.flatMap((effect) =>
        effect.type === "answer" ? [`${effect.verdict.outcome} ${effect.verdict.status}`] : [],
      );
    const before = run.job(0).queuedAt!;
    const effects = ask(0, 0, { priority: 5, metadata: [["ticket", "7"]] });
    expect(verdict(effects)).to.deep.equal(["accepted pending"]);
    expect(typesOf(effects)).to.deep.equal(["answer", "publish", "offer", "withdraw"]);
    expect(effects[1]).to.have.nested.include({
      "event.object": "step",
      "event.lifecycle": "updated",
      "event.status": "pending",
      "event.stepRunId": run.stepId(0, 0),
      "event.data.priority": 5,
      "event.data.metadataKeys": "ticket",
    });
    expect(effects[2]).to.have.nested.include({ "offer.priority": 5, "offer.queuedAt": before + 1 });
    expect(effects[3]).to.include({ queuedAt: before });
    expect(outstandingJob(run.job(0), run.plan)[0]).to.have.nested.include({ "offer.priority": 5 });
    expect(run.step(0, 0).metadata).to.deep.equal([["ticket", "7"]]);
    expect(typesOf(ask(0, 0, { priority: 5 })), "the same again").to.deep.equal(["answer"]);
    const seen = { priority: 5, metadata: [["ticket", "7"]] } as const;
    for (const stale of [
      { ...seen, priority: 4 },
      { ...seen, metadata: [] },
    ]) {
      expect(verdict(ask(0, 0, { priority: 9 }, stale)), "changed meanwhile").to.deep.equal(["refused pending"]);
    }
    expect(run.job(0).priority).to.equal(5);
    expect(verdict(ask(0, 0, { metadata: [["ticket", "7"]] }, seen))).to.deep.equal(["accepted pending"]);
    expect(verdict(ask(1, 0, { priority: -3 })), "of a later stage").to.deep.equal(["accepted pending"]);
    run.command("pause");
    expect(typesOf(ask(0, 0, { priority: 6 })), "while paused").to.deep.equal(["answer", "publish"]);
    expect(run.command("resume").find(({ type }) => type === "offer")).to.have.nested.include({ "offer.priority": 6 });

    run.claim(0);
    expect(verdict(ask(0, 0, { metadata: [] })), "dispatched").to.deep.equal(["refused queued"]);
    expect(verdict(ask(0, 1, { priority: 1, metadata: [] })), "with an agent").to.deep.equal(["refused pending"]);
    expect(verdict(ask(0, 1, { metadata: [["a", "b"]] }))).to.deep.equal(["accepted pending"]);
    run.tellJob(0, LOST);
    const offered = run.effects.findLast(({ type }) => type === "offer");
    expect(offered, "the next attempt keeps it").to.have.nested.include({ "offer.priority": 6 });
    const retried = run.steps().filter(({ jobAttempt }) => jobAttempt === 2);
    expect(retried.map(({ metadata }) => metadata)).to.deep.equal([[["ticket", "7"]], [["a", "b"]]]);
    expect(verdict(ask(0, 0, { metadata: [] })), "ended").to.deep.equal(["refused failed"]);
    expect(run.undecided).to.deep.equal([]);
  });

  it("publishes a user's cancel and its reason at once, since its end may take a while", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    run.claim(0);
    const asked = { type: "cancelJob", commandId: asId<CommandId>("cmd_1"), operator: "ann", reason: "slow" } as const;
    const published = () =>
      run.tellJob(0, asked).flatMap((effect) => (effect.type === "publish" ? [effect.event] : []));
    const [stopping, ...others] = published();
    expect(stopping).to.include({ object: "job", lifecycle: "stopping", status: "running" });
    expect(stopping!.data).to.include({ reason: "slow" });
    expect(others).to.deep.equal([]);
    expect(published(), "again").to.deep.equal([]);
  });

  it("is offered when its stage opens and it needs no other job", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    expect(run.job(0).state).to.equal("queued");
    expect(typesOf(run.effects)).to.include("offer");
  });

  it("is queued once the last job that it needs has succeeded", () => {
    const run = new SimulatedRun(planOf([[{}, {}, { needs: [0, 1] }]])).start();
    run.runJob(0);
    expect(run.job(2)).to.deep.include({ state: "pending", openNeeds: [1] });
    run.runJob(1);
    expect(run.job(2).state).to.equal("queued");
  });

  it("is cancelled, and its steps are skipped, when a job that it needs has failed", () => {
    const run = new SimulatedRun(planOf([[{}, { needs: [0], steps: 2 }, { needs: [1] }]])).start();
    run.claim(0);
    run.report(0, 0, "failed");
    expect(run.job(1)).to.include({ state: "cancelled", reason: "upstream_failed" });
    expect(run.job(2)).to.include({ state: "cancelled", reason: "upstream_failed" });
    expect(run.step(1, 1)).to.include({ state: "skipped", reason: "upstream_failed" });
    expect(run.run.state).to.equal("failed");
  });

  it("with continueOnError lets its dependents run after it has failed, and the run is partial", () => {
    const run = new SimulatedRun(planOf([[{ continueOnError: true }, { needs: [0] }]])).start();
    run.claim(0);
    run.report(0, 0, "failed");
    run.runJob(1);
    expect(run.job(0).state).to.equal("failed");
    expect(run.run.state).to.equal("partial");
  });

  it("runs its steps one after the other on the agent that it is bound to", () => {
    const run = new SimulatedRun(planOf([[{ steps: 3 }]])).start();
    run.claim(0);
    expect(run.step(0, 1).state).to.equal("pending");
    const effects = run.report(0, 0, "succeeded");
    const dispatch = effects.find(({ type }) => type === "dispatch");
    expect(dispatch).to.have.nested.property("order.stepRunId", run.stepId(0, 1));
    expect(dispatch).to.have.nested.property("order.agentId", AGENT);
  });

  it("skips the steps behind a failed one, unless that one has continueOnError", () => {
    const strict = new SimulatedRun(planOf([[{ steps: 3 }]])).start();
    strict.claim(0);
    strict.report(0, 0, "failed");
    expect(strict.steps().map(({ state }) => state)).to.deep.equal(["failed", "skipped", "skipped"]);
    const tolerant = new SimulatedRun(planOf([[{ steps: [{ continueOnError: true }, {}] }]])).start();
    tolerant.claim(0);
    tolerant.report(0, 0, "timedOut");
    tolerant.report(0, 1, "succeeded");
    expect(tolerant.job(0).state).to.equal("success");
    expect(tolerant.run.state).to.equal("success");
  });

  it("is granted once: it refuses another claim, and answers the granted one again", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    expect(typesOf(run.claim(0))).to.include.members(["withdraw", "dispatch"]);
    expect(typesOf(run.claim(0, 1, OTHER_AGENT, "other"))).to.deep.equal(["withdraw", "refuseClaim"]);
    expect(typesOf(run.claim(0))).to.deep.equal(["dispatch"]);
    expect(run.job(0).grant).to.include({ agentId: AGENT, token: 1 });
  });

  it("gets a higher token with each attempt", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    run.claim(0);
    run.tellJob(0, LOST);
    run.claim(0, 2, OTHER_AGENT);
    expect(run.job(0, 2).grant).to.include({ agentId: OTHER_AGENT, token: 2 });
  });

  it("whose agent is lost makes another attempt that names the one before", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    run.claim(0);
    run.report(0, 0, "succeeded");
    const effects = run.tellJob(0, LOST);
    expect(run.job(0)).to.include({ state: "failed", reason: "agent_lost" });
    expect(run.step(0, 0).state).to.equal("success");
    expect(run.step(0, 1)).to.include({ state: "failed", reason: "agent_lost" });
    expect(run.job(0, 2)).to.include({ state: "queued", attempt: 2, retryOf: jobIdOf(0) });
    expect(run.step(0, 0, 2).state).to.equal("pending");
    expect(typesOf(effects)).to.include.members(["offer", "release"]);
    run.runJob(0, 2);
    expect(run.run.state).to.equal("success");
  });

  it("whose step could not be started makes another attempt, when its retry rules say so", () => {
    const retried = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    retried.claim(0);
    retried.report(0, 0, "succeeded");
    const effects = retried.report(0, 1, "notStarted");
    expect(retried.job(0)).to.include({ state: "failed", reason: "dispatch_failed" });
    expect(retried.job(0, 2)).to.include({ state: "queued", attempt: 2, retryOf: jobIdOf(0) });
    expect(typesOf(effects)).to.include.members(["offer", "release"]);
    retried.claim(0, 2);
    retried.report(0, 0, "notStarted", { jobAttempt: 2 });
    expect(retried.job(0, 2)).to.include({ state: "failed", reason: "dispatch_failed" });
    const only = new SimulatedRun(planOf([[{ retry: { ...retryOf(3), on: ["agent_lost"] } }]])).start();
    only.claim(0);
    only.report(0, 0, "notStarted");
    expect(only.job(0)).to.include({ state: "failed", reason: "dispatch_failed" });
    expect(only.run.state).to.equal("failed");
  });

  it("has its places in quotas from its grant to its end, also after a loss of Redis", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    const quotas = ["project:default", "label:pool=gpu"];
    const ofQuotas = (effects: readonly OwedEffect[]) =>
      effects.filter(({ type }) => type === "occupy" || type === "vacate");
    const places = (type: string, attempt = 1) => [{ type, jobId: jobIdOf(0, attempt), quotas }];
    const claim = { type: "claimRequested", agentId: AGENT, bootId: "boot-1", requestId: "r", quotas } as const;
    expect(ofQuotas(run.tellJob(0, claim))).to.deep.equal(places("occupy"));
    expect(ofQuotas(outstandingJob(run.job(0), run.plan))).to.deep.equal(places("occupy"));
    expect(ofQuotas(run.report(0, 0, "succeeded"))).to.deep.equal([]);
    expect(ofQuotas(run.tellJob(0, LOST))).to.deep.equal(places("vacate"));
    expect(ofQuotas(outstandingJob(run.job(0), run.plan))).to.deep.equal([]);
    expect(ofQuotas(run.tellJob(0, claim, 2))).to.deep.equal(places("occupy", 2));
    run.report(0, 0, "succeeded", { jobAttempt: 2 });
    expect(ofQuotas(run.report(0, 1, "succeeded", { jobAttempt: 2 }))).to.deep.equal(places("vacate", 2));
  });

  it("publishes why no agent takes it, once for each reason, until an agent does", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    const wait = (reason: AgentWait["reason"], clause = "", text = "") =>
      run.tellJob(0, { type: "waits", reason, clause, text });
    const [waiting, ...more] = wait("no_agent_online", "", "no agent is online");
    expect(more).to.deep.equal([]);
    expect(waiting)
      .to.have.property("event")
      .that.deep.includes({ object: "job", lifecycle: "waiting", status: "queued" });
    expect(waiting).to.have.nested.property("event.data.waitingFor", "no_agent_online");
    expect(waiting).to.have.nested.property("event.data.text", "no agent is online");
    expect(wait("no_agent_online")).to.deep.equal([]);
    expect(wait("no_agent_matches", "os=linux")).to.have.length(1);
    expect(wait("no_agent_matches", "os=linux", "on more agents")).to.deep.equal([]);
    expect(wait("no_agent_matches", "gpu Exists")).to.have.length(1);
    run.command("pause");
    expect(wait("all_busy"), "the pause is reason enough").to.deep.equal([]);
    run.command("resume");
    expect(wait("no_agent_matches", "gpu Exists"), "it waits again").to.have.length(1);
    run.claim(0);
    expect(wait("all_busy")).to.deep.equal([]);
    expect(run.job(0)).to.include({ state: "running", waits: null });
    expect(run.undecided).to.deep.equal([]);
  });

  it("fails when its attempts are used up", () => {
    const run = new SimulatedRun(planOf([[{ retry: retryOf(2) }]])).start();
    for (const attempt of [1, 2]) {
      run.claim(0, attempt);
      run.tellJob(0, LOST, attempt);
    }
    expect(run.job(0, 2)).to.include({ state: "failed", reason: "agent_lost" });
    expect(run.run).to.include({ state: "failed", failedJobs: 1 });
  });

  it("ignores the loss of an agent, or of a boot, that does not hold it", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    run.claim(0);
    run.tellJob(0, { ...LOST, agentId: OTHER_AGENT });
    run.tellJob(0, { ...LOST, bootId: "boot-0" });
    expect(run.job(0).state).to.equal("running");
    expect(run.last!.late).to.equal(1);
  });

  it("fails by its queue timeout and leaves the board", () => {
    const run = new SimulatedRun(planOf([[{ queueTimeoutMs: 1_000 }]])).start();
    const { generation } = run.job(0).queueTimer!;
    const effects = run.tellJob(0, { type: "timer", timer: "queueTimeout", generation });
    expect(run.job(0)).to.include({ state: "failed", reason: "queue_timeout" });
    expect(typesOf(effects)).to.include("withdraw");
  });

  it("ignores a timer of an earlier generation", () => {
    const run = new SimulatedRun(planOf([[{ queueTimeoutMs: 1_000 }]])).start();
    const { generation } = run.job(0).queueTimer!;
    run.claim(0);
    run.tellJob(0, { type: "timer", timer: "queueTimeout", generation });
    expect(run.job(0).state).to.equal("running");
  });

  it("that times out ends its step and fails with the reason timeout", () => {
    const run = new SimulatedRun(planOf([[{ timeoutMs: 1_000, steps: 2 }]])).start();
    run.claim(0);
    run.report(0, 0, "started");
    const effects = run.tellJob(0, {
      type: "timer",
      timer: "timeout",
      generation: run.job(0).timeoutTimer!.generation,
    });
    expect(typesOf(effects)).to.include("revoke");
    expect(run.job(0).state).to.equal("cancelling");
    run.report(0, 0, "cancelled");
    expect(run.job(0)).to.include({ state: "failed", reason: "timeout" });
    expect(run.step(0, 1).state).to.equal("skipped");
    expect(run.run.state).to.equal("failed");
  });

  it("leaves the board while the run is paused, and its queue timeout stands still", () => {
    const run = new SimulatedRun(planOf([[{ queueTimeoutMs: 1_000 }]])).start();
    run.now += 400;
    expect(typesOf(run.command("pause"))).to.include("withdraw");
    expect(run.job(0)).to.include({ paused: true, queueTimer: null, queueLeftMs: 600 });
    expect(typesOf(run.claim(0))).to.deep.equal(["withdraw", "refuseClaim"]);
    run.now += 60_000;
    expect(typesOf(run.command("resume"))).to.include.members(["offer", "schedule"]);
    expect(run.job(0)).to.deep.nested.include({ queuedAt: run.now, "queueTimer.dueAt": run.now + 600 });
  });

  it("dispatches no next step while paused, and dispatches it when resumed", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
    run.claim(0);
    run.command("pause");
    expect(typesOf(run.report(0, 0, "succeeded"))).to.not.include("dispatch");
    expect(run.step(0, 1).state).to.equal("pending");
    expect(typesOf(run.command("resume"))).to.include("dispatch");
    run.report(0, 1, "succeeded");
    expect(run.run.state).to.equal("success");
  });

  it("paused between two steps ends at once by a stop, and is retried when its agent is lost", () => {
    const between = (): SimulatedRun => {
      const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
      run.claim(0);
      run.command("pause");
      run.report(0, 0, "succeeded");
      return run;
    };
    const stopped = between();
    stopped.command("stop");
    expect(stopped.run.state).to.equal("cancelled");
    expect(stopped.step(0, 1).state).to.equal("skipped");
    const lost = between();
    lost.tellJob(0, LOST);
    expect(lost.job(0, 2)).to.include({ state: "queued", paused: true });
  });
});

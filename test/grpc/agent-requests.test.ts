import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, refusal, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

describe("requests of an agent about itself", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    agent = await gateway.register(`agent-${++agents}`, 2, { os: "linux", pool: "a" });
    run = await StoredRun.create(gateway.stores, [{ cancelGraceMs: 4_000 }]);
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  const cancel = (reason = "Ctrl-C") =>
    invoke(gateway.agents(), "cancelStepRun", { stepRunId: run.stepRunId(), reason }, agent.metadata);
  const update = (labels: Record<string, string>, replace = false) =>
    invoke(gateway.agents(), "updateLabels", { labels, replace }, agent.metadata);
  const claims = () => gateway.messages("claimRequested").length;

  describe("CancelStepRun", () => {
    it("sends a revoke over the channel within 100 ms, with the job's grace, also repeatedly", async () => {
      await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "r", token: 5 }, "running");
      const held = [{ runId: run.runId, jobId: run.jobId(), stepRunId: run.stepRunId(), token: 5n }];
      const channel = await Channel.open(gateway, agent, { held, heldJobIds: [run.jobId()] });
      const before = performance.now();
      await cancel();
      const notice = await channel.next("revoke");
      expect(performance.now() - before).to.be.below(100);
      expect(notice).to.deep.equal({
        jobId: run.jobId(),
        stepRunId: run.stepRunId(),
        token: 5n,
        graceMs: 4_000n,
        reason: "Ctrl-C",
      });
      await cancel("");
      expect((await channel.next("revoke", 2)).reason).to.equal("cancelled at the agent");
      expect(gateway.sentMessages, "nothing is decided by that").to.deep.equal([]);
    });

    it("is refused for a step that has ended, was never held, or is unknown", async () => {
      expect((await refusal(cancel())).code, "not granted").to.equal(status.NOT_FOUND);
      await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "r", token: 5 }, "running");
      await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 0 } });
      expect((await refusal(cancel())).code, "ended").to.equal(status.FAILED_PRECONDITION);
      const unknown = { stepRunId: "step_unknown", reason: "" };
      const error = await refusal(invoke(gateway.agents(), "cancelStepRun", unknown, agent.metadata));
      expect(error.code).to.equal(status.NOT_FOUND);
      expect((await refusal(cancel("x".repeat(1_001)))).code).to.equal(status.INVALID_ARGUMENT);
    });
  });

  describe("UpdateLabels", () => {
    it("merges or replaces labels, stores them, and shows them at once", async () => {
      const labels = { os: "linux", pool: "a" };
      await Channel.open(gateway, agent, { labels, heldJobIds: ["job_unknown"] });
      expect((await update({ pool: "b", gpu: "yes" })).labels).to.deep.equal({ os: "linux", pool: "b", gpu: "yes" });
      const shown = async () =>
        (await gateway.context.presence.online(60_000)).find(({ agentId }) => agentId === agent.agentId)!;
      await until("presence", async () => (await shown()).labels["gpu"] === "yes");
      expect(await shown()).to.include({ busy: 1, bootId: "boot-1" });
      expect((await update({ gpu: "no" }, true)).labels).to.deep.equal({ gpu: "no" });
      expect((await gateway.stores.identity.findAgent(agent.agentId))!.labels).to.deep.equal({ gpu: "no" });
    });

    it("counts for the next job of an agent with an open channel", async () => {
      const offer = { ...run.offer(), selector: { matchLabels: [["pool", "b"]], matchExpressions: [] } } as const;
      const channel = await Channel.open(gateway, agent, { labels: { pool: "a" } });
      await gateway.context.board.offer(offer);
      await channel.beat();
      expect(claims()).to.equal(0);
      await update({ pool: "b" });
      await until("the claim", () => claims() === 1);
      await gateway.context.board.withdraw(offer.jobId);
    });

    it("ends the matches of labels that it replaced", async () => {
      const channel = await Channel.open(gateway, agent, { labels: { pool: "a" } });
      await update({ pool: "b" });
      await channel.beat();
      const offer = { ...run.offer(), selector: { matchLabels: [["pool", "a"]], matchExpressions: [] } } as const;
      await gateway.context.board.offer(offer);
      await channel.beat();
      expect(claims()).to.equal(0);
      await update({ pool: "a" });
      await until("the claim", () => claims() === 1);
      await gateway.context.board.withdraw(offer.jobId);
    });

    it("counts for an agent that waits in a fetch already", async () => {
      const offer = { ...run.offer(), selector: { matchLabels: [["pool", "b"]], matchExpressions: [] } } as const;
      const request = { bootId: "boot-1", requestId: "fetch", freeSlots: 1, waitMs: 20_000n };
      const hangUp = new AbortController();
      const fetching = invoke(gateway.agents(), "fetchStepRun", request, agent.metadata, {
        deadlineMs: 30_000,
        hangUp: hangUp.signal,
      }).catch(() => {});
      await until("it listens", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
      await gateway.context.board.offer(offer);
      await update({ pool: "b" });
      await until("the claim", () => claims() === 1);
      hangUp.abort();
      await fetching;
      await gateway.context.board.withdraw(offer.jobId);
    });

    it("is refused when the labels would be too many with those that stay", async () => {
      const many = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`l${at}`, ""]));
      expect((await refusal(update(many))).code).to.equal(status.INVALID_ARGUMENT);
      expect((await refusal(update({ "": "x" }))).code).to.equal(status.INVALID_ARGUMENT);
      expect((await refusal(update({ x: "y".repeat(257) }))).code).to.equal(status.INVALID_ARGUMENT);
      expect((await gateway.stores.identity.findAgent(agent.agentId))!.labels).to.deep.equal({
        os: "linux",
        pool: "a",
      });
      await update(many, true);
    });
  });
});

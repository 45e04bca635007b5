/** Faults of the network between an agent and its gateway. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "../../../src/domain/ids.ts";
import type { RunEvent } from "../../../src/domain/events.ts";
import { until } from "../../support/until.ts";
import type { AgentNode } from "../world/installation.ts";
import { type Fault, type FaultContext, startHeldRun } from "./fault.ts";
import { agentIdOf } from "./processes.ts";

const SHORT_MS = 20_000;
const LONG_MS = 60_000;
const REQUEUE_BOUND_MS = 40_000;

/** The silence is shorter than a step lease: the step continues and its report counts. */
export const shortPartition: Fault = {
  name: "an agent cut off for 20 s",
  lastsMs: 35_000,
  target: "all",
  async inject(context) {
    const seat = context.random.pick(context.installation.agents).seat;
    const { runId, agentName } = await startHeldRun(context, { key: "seat", value: String(seat) }, 240);
    await silence(context, agentName, SHORT_MS);
    const since = performance.now();
    await until("the held run ends", async () => (await head(context, runId)).final, 90_000);
    context.record.addRecovery("report after 20 s", performance.now() - since);
    const { jobs } = await context.load.run(runId);
    if (jobs.length !== 1)
      context.record.addViolation("wrong", `run ${runId} was repeated although its agent was away for 20 s only`);
  },
};

/**
 * The silence is longer than a step lease: the agent kills its step before the control plane gives the job to another
 * agent. The steps' marks show it.
 */
export const longPartition: Fault = {
  name: "an agent cut off for 60 s",
  lastsMs: 70_000,
  target: "all",
  async inject(context) {
    const bench = Math.ceil(context.random.pick(context.installation.agents).seat / 2);
    const { runId, agentName } = await startHeldRun(context, { key: "bench", value: String(bench) }, 450);
    const since = Date.now();
    await silence(context, agentName, LONG_MS);
    const retried = await until("the job is retried on another agent", () => firstRetry(context, runId), 10_000);
    context.record.addRecovery("requeued", retried.timeMs - since, REQUEUE_BOUND_MS);
  },
};

async function silence(context: FaultContext, agentName: string, forMs: number): Promise<void> {
  const agent = context.installation.agents.find(({ name }) => name === agentName) as AgentNode;
  context.record.addKill(`the network of ${agentName}`);
  await context.record.whileAway(await agentIdOf(context, agent), "cutOff", async () => {
    agent.network.fallSilent();
    await sleep(forMs);
    agent.network.speak();
  });
}

async function firstRetry({ installation }: FaultContext, runId: RunId): Promise<RunEvent | undefined> {
  const events = await installation.stores.events.read(runId, 0, 1_000);
  return events.find(({ object, lifecycle }) => object === "job" && lifecycle === "retried");
}

async function head({ installation }: FaultContext, runId: RunId) {
  return (await installation.stores.aggregates.loadHead(runId))!;
}

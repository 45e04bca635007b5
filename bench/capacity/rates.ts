/** What agents without work and viewers of logs cost an installation, and what the removal of runs costs. */
import { setTimeout as pause } from "node:timers/promises";
import { openGatewayClients } from "../../src/agent/connection/gateway-clients.ts";
import { asId, jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import { until } from "../../test/support/until.ts";
import { registerOne } from "../fleet/fleet.ts";
import { type FleetListener, SimulatedAgent } from "../fleet/simulated-agent.ts";
import { keepInFlight } from "../measure/in-flight.ts";
import { LogViewer } from "../viewers/log-viewer.ts";
import type { Costs } from "./model.ts";
import { differenceOf, type Idle, rounded, scaled, usedBy } from "./usage.ts";
import type { CapacityWorld } from "./world.ts";

const AGENTS = 200;
const AGENTS_MS = 30_000;
const SETTLE_MS = 10_000;
const VIEWERS = 40;
const LINES = 200;
/** Until the viewers are there, seconds. */
const BEFORE_LINES = 5;
const BETWEEN_LINES = 0.05;
const REMOVAL_MS = 300_000;
const POLL_MS = 1_000;

const IGNORES_ALL: FleetListener = { dispatched() {}, welcomed() {}, lost() {}, refused() {} };

/** The cost of one connected agent that takes no jobs, for a second. `redisBytes` is the memory that Redis has for it. */
export async function idleAgents(world: CapacityWorld, idle: Idle): Promise<Costs> {
  const clients = await openGatewayClients({ address: world.grpc });
  const agents: SimulatedAgent[] = [];
  try {
    const before = await world.redisBytes();
    await keepInFlight(AGENTS, 10, async (at) => {
      const token = await registerOne(clients.agent, `idle-${at}`);
      const options = { address: world.grpc, token, labels: { pool: "idle" }, stepMs: () => 0, listener: IGNORES_ALL };
      const agent = await SimulatedAgent.open(options);
      agent.takesNoJobs = "it is measured";
      agents.push(agent);
    });
    await until("all agents are connected", () => agents.every(({ isConnected }) => isConnected), 60_000);
    await pause(SETTLE_MS);
    const redisBytes = ((await world.redisBytes()) - before) / AGENTS;
    const used = await usedBy(world, idle, () => pause(AGENTS_MS));
    return rounded({ ...scaled(used, 1_000 / AGENTS_MS / AGENTS), redisBytes });
  } finally {
    for (const agent of agents) agent.close();
    clients.close();
  }
}

/** The cost of a line for each viewer that follows it: a run with viewers, less the same run without. */
export async function viewedLines(world: CapacityWorld, idle: Idle): Promise<Costs> {
  const pipelineId = await pipelineOfLines(world);
  const without = await usedBy(world, idle, () => follow(world, pipelineId, 0));
  const viewed = await usedBy(world, idle, () => follow(world, pipelineId, VIEWERS));
  return rounded(scaled(differenceOf(viewed, without), 1 / (VIEWERS * LINES)));
}

async function pipelineOfLines({ api }: CapacityWorld): Promise<string> {
  const script = `sleep ${BEFORE_LINES}
    i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "$i of the lines of a log that is followed"; sleep ${BETWEEN_LINES}; done`;
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name: "followed" });
  const spec = { jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script } }] }] };
  await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
  return pipelineId;
}

/** Resolves when the run has ended and each viewer has each line. */
async function follow({ api, http }: CapacityWorld, pipelineId: string, viewers: number): Promise<void> {
  const { runId: id } = await api.call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {});
  const runId = asId<RunId>(id);
  const jobId = jobRunId(runId, 0, 1);
  const step = { pipelineId, runId, jobId, stepRunId: stepRunId(runId, jobId, 0, 1) };
  const followers = Array.from({ length: viewers }, () => new LogViewer(step, [http]));
  try {
    await Promise.all(followers.map((viewer) => viewer.open()));
    const hasEnded = async (): Promise<boolean> => {
      await pause(POLL_MS);
      const { status } = await api.call<{ status: string }>("GET", `/pipelines/runs/${runId}`);
      return status === "success";
    };
    await until("the run with viewers has ended", hasEnded, 120_000);
    await until("each viewer has each line", () => followers.every((viewer) => viewer.lines().length >= LINES));
  } finally {
    for (const viewer of followers) viewer.close();
  }
}

/** The cost of a run that retention removes. Keeps one run of each pipeline, and waits until the others are gone. */
export async function removals(world: CapacityWorld, idle: Idle): Promise<Costs> {
  const before = await world.storedRuns();
  const { total } = await world.api.call<{ total: number }>("GET", "/pipelines?pageSize=1");
  const used = await usedBy(world, idle, async () => {
    await world.api.call("PUT", "/projects/default/retention", { runs: { perPipeline: 1 } });
    const isDone = async (): Promise<boolean> => {
      await pause(POLL_MS);
      return (await world.storedRuns()) <= total;
    };
    await until("retention has removed the runs", isDone, REMOVAL_MS);
  });
  return rounded(scaled(used, 1 / (before - (await world.storedRuns()))));
}

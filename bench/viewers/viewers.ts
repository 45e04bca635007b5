/**
 * W16: many viewers of live logs. A viewer that misses a line, or gets one twice or out of order, fails the measurement.
 *
 *   one step    1,000 viewers of a step that writes 10 lines a second; in the middle, the edge of all viewers is killed
 *   many steps  200 steps with a viewer each, 10,000 lines a second in all
 */
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../test/support/until.ts";
import { cpuTime } from "../measure/cpu.ts";
import { percentile } from "../measure/percentiles.ts";
import { residentMb } from "../millrace/idle.ts";
import type { Figure } from "../system.ts";
import { type FollowedStep, LogViewer, type SeenLine } from "./log-viewer.ts";
import { LinePacer, type Pace } from "./line-pacer.ts";
import { ViewersWorld } from "./viewers-world.ts";

const VIEWERS = 1_000;
const SLOW = { linesPerSecond: 10, seconds: 24 };
const STEPS = 200;
const FAST = { linesPerSecond: 50, seconds: 20 };
/** Node compiles what runs often; only the lines behind this time are measured. */
const WARM_UP_MS = 10_000;
/** Viewers that warm the edge up before its memory is measured. */
const WARM_UP_VIEWERS = 50;
const SETTLE_MS = 5_000;
/** The edge is killed so long after the step began to write. */
const KILL_AFTER_MS = 14_000;
const OPENED_AT_ONCE = 50;
const DEADLINE_MS = 120_000;

/** Measures one round. The agent must be on this machine. */
export async function measureViewers(folder: string): Promise<readonly Figure[]> {
  const world = await ViewersWorld.start(folder, STEPS);
  try {
    return [...(await measureManySteps(world, folder)), ...(await measureOneStep(world, folder))];
  } finally {
    await world.stop();
  }
}

async function measureManySteps(world: ViewersWorld, folder: string): Promise<readonly Figure[]> {
  const pacer = await LinePacer.create(`${folder}/many`);
  const steps = await startSteps(world, STEPS, pacer);
  const edges = world.edges.map(({ http }) => http!);
  // Every second viewer is on the other edge.
  const viewers = steps.map((step, at) => new LogViewer(step, at % 2 === 0 ? edges : edges.toReversed()));
  await openAll(viewers);
  pacer.start(FAST);
  await pause(WARM_UP_MS);
  const warmAt = process.hrtime.bigint();
  const before = cpuOfParts(world, pacer);
  await pause(FAST.seconds * 1_000 - WARM_UP_MS);
  const after = cpuOfParts(world, pacer);
  const lines = await linesOf(world, viewers, FAST);
  for (const viewer of viewers) viewer.close();
  const measured = lines.flatMap((seen) => seen.filter((line) => writtenAt(line) >= warmAt));
  const delays = measured.map(delayMs);
  const took = Number(maxOf(measured.map(({ at }) => at)) - warmAt) / 1e9;
  const written = (STEPS * FAST.linesPerSecond * (FAST.seconds * 1_000 - WARM_UP_MS)) / 1_000;
  return [
    { metric: `${STEPS} steps with a viewer each: lines received`, unit: "lines/s", value: delays.length / took },
    { metric: `${STEPS} steps: p50`, unit: "ms", value: percentile(delays, 0.5) },
    { metric: `${STEPS} steps: p99`, unit: "ms", value: percentile(delays, 0.99) },
    ...Object.entries(after).map(([part, ms]) => ({
      metric: `CPU for 1,000 lines: ${part}`,
      unit: "ms",
      value: ((ms - before[part]!) / written) * 1_000,
    })),
  ];
}

/** Processor time of the parts of the installation, and of what measures it. */
function cpuOfParts({ pids }: ViewersWorld, pacer: LinePacer): Readonly<Record<string, number>> {
  const sum = (processes: readonly number[]) => processes.reduce((ms, pid) => ms + cpuTime(pid).ownMs, 0);
  const parts = Object.entries(pids).map(([part, processes]) => [part, sum(processes)]);
  return { ...Object.fromEntries(parts), "the benchmark": sum([process.pid, pacer.pid]) };
}

async function measureOneStep(world: ViewersWorld, folder: string): Promise<readonly Figure[]> {
  const pacer = await LinePacer.create(`${folder}/one`);
  const [step] = await startSteps(world, 1, pacer);
  const edges = world.edges.map(({ http }) => http!);
  const viewers = Array.from({ length: VIEWERS }, () => new LogViewer(step!, edges));
  const [edge] = world.edges;
  await openAll(viewers.slice(0, WARM_UP_VIEWERS));
  await pause(SETTLE_MS);
  const before = residentMb(edge!.pid);
  await openAll(viewers.slice(WARM_UP_VIEWERS));
  pacer.start(SLOW);
  const startedAt = performance.now();
  await pause(KILL_AFTER_MS);
  const memory = (residentMb(edge!.pid) - before) / (VIEWERS - WARM_UP_VIEWERS);
  edge!.kill("SIGKILL");
  const killedAt = process.hrtime.bigint();
  await pause(SLOW.seconds * 1_000 - (performance.now() - startedAt));
  const lines = await linesOf(world, viewers, SLOW);
  const reconnects = viewers.map((viewer) => viewer.reconnects);
  for (const viewer of viewers) viewer.close();
  const steady = lines.flatMap((seen) => seen.filter(({ at }) => at < killedAt).map(delayMs));
  const back = lines.map((seen) => Number(seen.find(({ at }) => at > killedAt)!.at - killedAt) / 1e6);
  return [
    { metric: `${VIEWERS} viewers of a step: p50`, unit: "ms", value: percentile(steady, 0.5) },
    { metric: `${VIEWERS} viewers: p99`, unit: "ms", value: percentile(steady, 0.99) },
    { metric: "memory of the edge for a viewer", unit: "kB", value: memory * 1_000 },
    { metric: "kill of the edge to the next line: p99", unit: "ms", value: percentile(back, 0.99) },
    { metric: "reconnects of a viewer, at most", unit: "", value: Math.max(...reconnects) },
  ];
}

/** Triggers a run with so many jobs of one step, and resolves when all steps run. The pacer writes their lines. */
async function startSteps({ api }: ViewersWorld, count: number, pacer: LinePacer): Promise<readonly FollowedStep[]> {
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", {
    name: `viewers-${process.hrtime.bigint()}`,
    createdBy: "bench",
  });
  const steps = [{ name: "write", uses: "shell", args: { command: "sh", args: ["-c", pacer.script] } }];
  const jobs = Array.from({ length: count }, (_, at) => ({ name: `job-${at}`, steps }));
  await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
  const { runId } = await api.call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {});
  return until(
    "all steps run",
    async () => {
      const run = await api.call<RunDetails>("GET", `/pipelines/${pipelineId}/runs/${runId}`);
      const running = run.jobs.filter(({ steps: [first] }) => first!.status === "running");
      return (
        running.length === count &&
        run.jobs.map(({ jobId, steps: [first] }) => ({ pipelineId, runId, jobId, stepRunId: first!.stepRunId }))
      );
    },
    DEADLINE_MS,
  );
}

interface RunDetails {
  readonly status: string;
  readonly jobs: readonly {
    readonly jobId: string;
    readonly steps: readonly { readonly stepRunId: string; readonly status: string }[];
  }[];
}

async function openAll(viewers: readonly LogViewer[]): Promise<void> {
  for (let at = 0; at < viewers.length; at += OPENED_AT_ONCE) {
    await Promise.all(viewers.slice(at, at + OPENED_AT_ONCE).map((viewer) => viewer.open()));
  }
}

/** Resolves with the lines of each viewer when all have come. Rejects unless each came once and in order. */
async function linesOf(
  { api }: ViewersWorld,
  viewers: readonly LogViewer[],
  pace: Pace,
): Promise<readonly (readonly SeenLine[])[]> {
  const count = linesAt(pace);
  await until(
    "every viewer has the last line",
    () => viewers.every((viewer) => viewer.lines().length >= count),
    DEADLINE_MS,
  );
  for (const viewer of viewers) {
    const seen = viewer.lines();
    const wrong = seen.findIndex(({ number, content }, at) => number !== at + 1 || !content.startsWith(`${number} `));
    if (wrong !== -1 || seen.length !== count) {
      throw new Error(`of ${count} lines a viewer saw ${seen.length}; the first wrong one is at ${wrong + 1}`);
    }
  }
  const { pipelineId, runId } = viewers[0]!.step;
  await until(
    "the run has ended",
    async () => (await api.call<RunDetails>("GET", `/pipelines/${pipelineId}/runs/${runId}`)).status === "success",
    DEADLINE_MS,
  );
  return viewers.map((viewer) => viewer.lines());
}

const linesAt = ({ linesPerSecond, seconds }: Pace): number => linesPerSecond * seconds;

const writtenAt = ({ content }: SeenLine): bigint => BigInt(content.split(" ")[1]!);

const delayMs = (seen: SeenLine): number => Number(seen.at - writtenAt(seen)) / 1e6;

const maxOf = (values: readonly bigint[]): bigint => values.reduce((most, value) => (value > most ? value : most));

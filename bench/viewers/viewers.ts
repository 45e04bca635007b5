/**
 * W16: many viewers of live logs. A viewer that misses a line, or gets one twice or out of order, fails the measurement.
 *
 *   one step    1,000 viewers of a step that writes 10 lines a second; in the middle, the edge of all viewers is killed
 *   many steps  200 steps with a viewer each, 10,000 lines a second in all
 */
import { writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../test/support/until.ts";
import { percentile } from "../measure/percentiles.ts";
import { residentMb } from "../millrace/idle.ts";
import type { Figure } from "../system.ts";
import { type FollowedStep, LogViewer, type SeenLine } from "./log-viewer.ts";
import { ViewersWorld } from "./viewers-world.ts";

const VIEWERS = 1_000;
const SLOW = { linesPerSecond: 10, seconds: 24 };
const STEPS = 200;
const FAST = { linesPerSecond: 50, seconds: 10 };
/** Viewers that warm the edge up before its memory is measured. */
const WARM_UP_VIEWERS = 50;
const SETTLE_MS = 5_000;
/** The edge is killed so long after the step began to write. */
const KILL_AFTER_MS = 14_000;
const OPENED_AT_ONCE = 50;
const DEADLINE_MS = 120_000;

/**
 * A Perl program: it waits for the file that its second argument names, and writes lines at a steady pace. Each line holds
 * its number and the time of its writing, by the monotonic clock, which all processes share.
 */
const WRITER = `
use strict; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
my ($rate, $count, $go) = @ARGV;
$| = 1;
sleep(0.05) until -e $go;
my $from = clock_gettime(CLOCK_MONOTONIC) + rand(1 / $rate);
for my $line (1 .. $count) {
  my $left = $from + $line / $rate - clock_gettime(CLOCK_MONOTONIC);
  sleep($left) if $left > 0;
  printf("%d %.0f src/packages/module-%d.ts and its tests are compiled\\n", $line, clock_gettime(CLOCK_MONOTONIC) * 1e9, $line);
}`;

interface Pace {
  readonly linesPerSecond: number;
  readonly seconds: number;
}

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
  const go = `${folder}/many`;
  const steps = await startSteps(world, STEPS, go, FAST);
  const edges = world.edges.map(({ http }) => http!);
  // Every second viewer is on the other edge.
  const viewers = steps.map((step, at) => new LogViewer(step, at % 2 === 0 ? edges : edges.toReversed()));
  await openAll(viewers);
  await writeFile(go, "");
  const lines = await linesOf(world, viewers, FAST);
  for (const viewer of viewers) viewer.close();
  const delays = lines.flatMap((seen) => seen.map(delayMs));
  const took =
    Number(maxOf(lines.map((seen) => seen.at(-1)!.at)) - minOf(lines.map((seen) => writtenAt(seen[0]!)))) / 1e9;
  return [
    { metric: `${STEPS} steps with a viewer each: lines received`, unit: "lines/s", value: delays.length / took },
    { metric: `${STEPS} steps: p50`, unit: "ms", value: percentile(delays, 0.5) },
    { metric: `${STEPS} steps: p99`, unit: "ms", value: percentile(delays, 0.99) },
  ];
}

async function measureOneStep(world: ViewersWorld, folder: string): Promise<readonly Figure[]> {
  const go = `${folder}/one`;
  const [step] = await startSteps(world, 1, go, SLOW);
  const edges = world.edges.map(({ http }) => http!);
  const viewers = Array.from({ length: VIEWERS }, () => new LogViewer(step!, edges));
  const [edge] = world.edges;
  await openAll(viewers.slice(0, WARM_UP_VIEWERS));
  await pause(SETTLE_MS);
  const before = residentMb(edge!.pid);
  await openAll(viewers.slice(WARM_UP_VIEWERS));
  await writeFile(go, "");
  await pause(KILL_AFTER_MS);
  const memory = (residentMb(edge!.pid) - before) / (VIEWERS - WARM_UP_VIEWERS);
  edge!.kill("SIGKILL");
  const killedAt = process.hrtime.bigint();
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

/** Triggers a run with so many jobs of one step, and resolves when all steps run; they write once the file `go` exists. */
async function startSteps(
  { api }: ViewersWorld,
  count: number,
  go: string,
  pace: Pace,
): Promise<readonly FollowedStep[]> {
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", {
    name: `viewers-${process.hrtime.bigint()}`,
    createdBy: "bench",
  });
  const args = ["-e", WRITER, String(pace.linesPerSecond), String(linesAt(pace)), go];
  const steps = [{ name: "write", uses: "shell", args: { command: "perl", args } }];
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
  await pause(pace.seconds * 1_000);
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

const minOf = (values: readonly bigint[]): bigint => values.reduce((least, value) => (value < least ? value : least));

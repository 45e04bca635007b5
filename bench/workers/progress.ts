/**
 * Runs that go on while workers change, and the longest time in which one of them made no progress: from the end of a
 * step to the begin of the next one, from a trigger to the first step, and from the end of the last step to that of the
 * run.
 */
import { setTimeout as pause } from "node:timers/promises";
import { FINAL_RUN_STATUSES, type RunStatus } from "../../src/domain/status.ts";
import { percentile } from "../measure/percentiles.ts";
import type { WorkersWorld } from "./workers-world.ts";

/** Runs of many steps that are always under way. */
const LONG_RUNS = 8;
const STEPS = 20;
const STEP_SECONDS = "1";
/** Between two triggers of a run of one step. */
const SHORT_EVERY_MS = 500;
const LOOK_MS = 1_000;
const END_MS = 120_000;
const SHOWN_CHARS = 1_500;

/** Where a run waited: for its first step, for the next one, or for its end after the last one. */
export type Place = "first step" | "next step" | "end";

export interface Pauses {
  readonly runs: number;
  readonly longestOf: Readonly<Record<Place, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

interface Gap {
  readonly place: Place;
  readonly ms: number;
}

/** A line of the agent's log. */
interface LogLine {
  readonly msg: string;
  readonly time: number;
  readonly runId: string;
  readonly stepRunId: string;
}

/** Keeps runs under way until `work` has ended. Rejects when a run fails, or when a step begins twice. */
export async function pausesDuring(world: WorkersWorld, work: () => Promise<void>): Promise<Pauses> {
  const long = await savePipeline(world, "long", STEPS, { command: "sleep", args: [STEP_SECONDS] });
  const short = await savePipeline(world, "short", 1, { command: "true" });
  const runs = new Runs(world);
  let isOver = false;
  const slot = async (): Promise<void> => {
    while (!isOver) await runs.end(await runs.trigger(long));
  };
  const stream = async (): Promise<void> => {
    while (!isOver) await Promise.all([runs.trigger(short), pause(SHORT_EVERY_MS)]);
  };
  const worked = work().finally(() => (isOver = true));
  await Promise.all([worked, stream(), ...Array.from({ length: LONG_RUNS }, slot)]);
  await runs.endAll();
  const found = gapsOf(world.agent.stderr, runs.triggered, runs.ended);
  const longest = (place: Place) => Math.max(...found.filter((gap) => gap.place === place).map(({ ms }) => ms));
  const gaps = found.map(({ ms }) => ms);
  return {
    runs: runs.triggered.size,
    longestOf: { "first step": longest("first step"), "next step": longest("next step"), end: longest("end") },
    p50Ms: percentile(gaps, 0.5),
    p99Ms: percentile(gaps, 0.99),
    longestMs: Math.max(...gaps),
  };
}

/** The runs that were triggered, and their ends. */
class Runs {
  /** By run: when it was triggered, Unix milliseconds. */
  readonly triggered = new Map<string, number>();
  /** By run: its `endTime`, Unix milliseconds. */
  readonly ended = new Map<string, number>();
  readonly #world: WorkersWorld;
  readonly #pipelines = new Map<string, string>();

  constructor(world: WorkersWorld) {
    this.#world = world;
  }

  async trigger(pipelineId: string): Promise<string> {
    const at = Date.now();
    const { runId } = await this.#world.api.call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {});
    this.triggered.set(runId, at);
    this.#pipelines.set(runId, pipelineId);
    return runId;
  }

  /** Resolves when the run has ended. Looks rarely, because the looks cost what is measured. */
  async end(runId: string): Promise<void> {
    const path = `/pipelines/${this.#pipelines.get(runId)}/runs/${runId}`;
    for (const begunAt = performance.now(); ; await pause(LOOK_MS)) {
      const run = await this.#world.api.call<{ status: RunStatus; endTime: string | null }>("GET", path);
      if (run.status === "success") {
        this.ended.set(runId, Date.parse(run.endTime!));
        return;
      }
      if (FINAL_RUN_STATUSES.includes(run.status)) throw new Error(`the run ${runId} ended as ${run.status}`);
      if (performance.now() > begunAt + END_MS)
        throw new Error(`the run ${runId} did not end in time: ${JSON.stringify(run).slice(0, SHOWN_CHARS)}`);
    }
  }

  async endAll(): Promise<void> {
    for (const runId of this.triggered.keys()) if (!this.ended.has(runId)) await this.end(runId);
  }
}

async function savePipeline({ api }: WorkersWorld, name: string, steps: number, args: object): Promise<string> {
  const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", {
    name: `${name}-${process.hrtime.bigint()}`,
  });
  const spec = {
    jobs: [{ name: "job", steps: Array.from({ length: steps }, (_, at) => ({ name: `s${at}`, uses: "shell", args })) }],
  };
  await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
  return pipelineId;
}

/** All times in which a run had no step at the agent, milliseconds. */
function gapsOf(
  log: string,
  triggered: ReadonlyMap<string, number>,
  ended: ReadonlyMap<string, number>,
): readonly Gap[] {
  /** By run: until when it made progress. */
  const last = new Map(triggered);
  const begun = new Set<string>();
  const gaps: Gap[] = [];
  for (const { msg, time, runId, stepRunId } of linesOf(log)) {
    const since = last.get(runId);
    if (since === undefined) continue;
    if (msg === "a step run begins") {
      if (begun.has(stepRunId)) throw new Error(`the step ${stepRunId} began twice`);
      begun.add(stepRunId);
      gaps.push({ place: since === triggered.get(runId) ? "first step" : "next step", ms: time - since });
    } else if (msg === "a step run has ended") last.set(runId, time);
  }
  for (const [runId, at] of ended) gaps.push({ place: "end", ms: at - last.get(runId)! });
  return gaps;
}

function linesOf(log: string): readonly LogLine[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{") && line.includes("a step run "))
    .map((line) => JSON.parse(line) as LogLine);
}

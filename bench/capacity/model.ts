/**
 * The model of capacity: what a load needs, from what runs of a few shapes cost. Each figure of a run is taken as a sum: a
 * part for the run, one for each job, each step and each log line. Pure.
 */

/** A figure of a run that was measured. */
export const FIGURES = ["nodeMs", "redisMs", "storeCalls", "redisCalls", "bytes"] as const;
export type Figure = (typeof FIGURES)[number];

export interface Shape {
  readonly jobs: number;
  /** Of all jobs together. */
  readonly steps: number;
  /** Log lines of all steps together. */
  readonly lines: number;
}

export type MeasuredRun = Shape & Readonly<Record<Figure, number>>;

/** What the run itself, a job, a step and a line add to a figure. */
export interface Parts {
  readonly run: number;
  readonly job: number;
  readonly step: number;
  readonly line: number;
}

export type Costs = Readonly<Record<Figure, Parts>>;

/**
 * The parts that explain four measured runs exactly: one of one step, then one with more steps, one with more jobs, and one
 * with lines. A part that the noise of a measurement made negative counts as 0.
 */
export function fitCosts([one, steps, jobs, lines]: readonly [
  MeasuredRun,
  MeasuredRun,
  MeasuredRun,
  MeasuredRun,
]): Costs {
  return Object.fromEntries(
    FIGURES.map((figure) => {
      const step = Math.max(0, (steps[figure] - one[figure]) / (steps.steps - one.steps));
      const job = Math.max(0, (jobs[figure] - one[figure]) / (jobs.jobs - one.jobs) - step);
      const line = Math.max(0, (lines[figure] - one[figure]) / lines.lines);
      return [figure, { run: Math.max(0, one[figure] - job - step), job, step, line }];
    }),
  ) as unknown as Costs;
}

/** A figure of a run of this shape. */
export function costOf(costs: Costs, figure: Figure, { jobs, steps, lines }: Shape): number {
  const { run, job, step, line } = costs[figure];
  return run + job * jobs + step * steps + line * lines;
}

/** What an operator expects. */
export interface Load extends Shape {
  readonly runsPerDay: number;
  readonly agents: number;
  /** How many times the average the busiest minutes have. */
  readonly peak: number;
  /** Jobs that wait for an agent at once, at most. */
  readonly waiting: number;
  readonly keepRunsDays: number;
  readonly keepLogsDays: number;
  /** Calls of the store that one replica set of MongoDB serves in a second. No measurement of this project. */
  readonly storeCallsPerSecond: number;
}

/** The share of a core that a process of one thread may use at the peak, so that queues stay short. */
const BUSY = 0.6;
/** Agents of a gateway. Source: docs/operations.md, "Many agents at once". */
const AGENTS_OF_GATEWAY = 1_500;
/** Bytes in Redis of a job that waits. Source: docs/operations.md, "Size Redis and MongoDB". */
const WAITING_BYTES = 1_400;
/** Redis without anything that waits. */
const REDIS_BYTES = 50e6;
/** Shards of one worker, at least. Source: docs/operations.md, "The number of shards". */
const SHARDS_OF_WORKER = 8;
const LEAST_SHARDS = 64;
const MOST_SHARDS = 1_024;
const DAY_SECONDS = 86_400;

/** A part of the installation that grows by the piece. */
export interface Part {
  readonly name: string;
  readonly needed: number;
  /** Runs of a day that one piece carries, at the same peak. Null: the part follows from the agents. */
  readonly runsPerDayOfOne: number | null;
}

export interface Capacity {
  readonly runsPerSecond: number;
  readonly linesPerSecond: number;
  readonly parts: readonly Part[];
  readonly shards: number;
  readonly redisBytes: number;
  /** Documents of all kept runs, and of all kept log lines, before the store compresses them. */
  readonly runBytes: number;
  readonly logBytes: number;
  /** The part of which one piece carries the fewest runs. */
  readonly firstLimit: string;
}

/** What the load needs. */
export function capacityFor(load: Load, costs: Costs): Capacity {
  const runsPerSecond = (load.runsPerDay / DAY_SECONDS) * load.peak;
  const partOf = (name: string, costOfRun: number, ofOne: number): Part => ({
    name,
    needed: Math.max(1, Math.ceil((runsPerSecond * costOfRun) / ofOne)),
    runsPerDayOfOne: Math.floor((ofOne / costOfRun / load.peak) * DAY_SECONDS),
  });
  const nodes = partOf("nodes of all roles", costOf(costs, "nodeMs", load), BUSY * 1_000);
  const parts: readonly Part[] = [
    nodes,
    { name: "gateways, for the agents", needed: Math.ceil(load.agents / AGENTS_OF_GATEWAY), runsPerDayOfOne: null },
    partOf("masters of Redis", costOf(costs, "redisMs", load), BUSY * 1_000),
    partOf("replica sets of MongoDB", costOf(costs, "storeCalls", load), load.storeCallsPerSecond),
  ];
  const limits = parts.filter(({ runsPerDayOfOne }) => runsPerDayOfOne !== null);
  const [first] = limits.toSorted((a, b) => a.runsPerDayOfOne! - b.runsPerDayOfOne!);
  const withoutLines = { ...load, lines: 0 };
  const bytesOfRun = costOf(costs, "bytes", withoutLines);
  return {
    runsPerSecond,
    linesPerSecond: runsPerSecond * load.lines,
    parts,
    shards: shardsFor(nodes.needed),
    redisBytes: REDIS_BYTES + load.waiting * WAITING_BYTES,
    runBytes: load.runsPerDay * load.keepRunsDays * bytesOfRun,
    logBytes: load.runsPerDay * Math.min(load.keepLogsDays, load.keepRunsDays) * costs.bytes.line * load.lines,
    firstLimit: first!.name,
  };
}

/** A power of two, so that workers have equal shares more often. */
function shardsFor(workers: number): number {
  const least = 2 ** Math.ceil(Math.log2(workers * SHARDS_OF_WORKER));
  return Math.min(MOST_SHARDS, Math.max(LEAST_SHARDS, least));
}

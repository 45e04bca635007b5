/** What a load needs, from what each kind of work costs. Pure. */
import { type Costs, isTime, type Model, predicted, type StoreRecord } from "./model.ts";
import { type Amounts, COMPRESSED_LINES } from "./shapes.ts";

/** What an operator expects. Steps, lines and so on are those of a mean run. */
export interface Load {
  readonly runsPerDay: number;
  readonly jobs: number;
  /** Of all jobs of a run together. */
  readonly steps: number;
  /** Of each step. */
  readonly lines: number;
  readonly lineBytes: number;
  /** How many times lines of a step arrive. */
  readonly pieces: number;
  /** Of a run. */
  readonly artifacts: number;
  readonly agents: number;
  readonly viewers: number;
  /** Lines that a viewer is shown in a second. */
  readonly viewedLines: number;
  /** How many times the mean of the day the busiest minutes have. */
  readonly peak: number;
  /** Jobs that wait for an agent at once, at most. */
  readonly waiting: number;
  readonly keepRunsDays: number;
  readonly keepLogsDays: number;
  /** Commands that one replica set of MongoDB serves in a second. No measurement of this project. */
  readonly mongoCommands: number;
  /** What the loop of unit.ts takes on the machines, ms. */
  readonly unitMs: number;
}

/** The share of a processor that a process may use at the peak, so that queues stay short. */
export const BUSY = 0.6;
/** Agents of a gateway. Source: docs/operations.md, "Many agents at once". */
const AGENTS_OF_GATEWAY = 1_500;
/** The heartbeats of a gateway share two reads, which go out every 20 ms at most. */
const READS_OF_GATEWAY = 100;
/** A gateway reads what is stored of an agent itself this often. */
const OWN_READ_SECONDS = 30;
/** Bytes in Redis of a job that waits. Source: docs/operations.md, "Size Redis and MongoDB". */
const WAITING_BYTES = 1_400;
/** Redis without anything that waits. */
const REDIS_BYTES = 50e6;
/** Shards of a worker: fewer make the shares uneven. */
const SHARDS_OF_WORKER = 8;
const LEAST_SHARDS = 64;
/** Source: `MAILBOX_SHARDS` in docs/configuration.md. */
const MOST_SHARDS = 1_024;
/** More agents than any installation has. */
const MOST_AGENTS = 1e9;
const DAY_SECONDS = 86_400;

/** Pieces of one kind. Two are needed where the failure of one must stop nothing. */
export interface Part {
  readonly name: string;
  /** Processors that all pieces together keep busy at the peak. */
  readonly processors: number;
  readonly needed: number;
}

/** Where an installation ends, at this shape of runs and this peak. */
export interface Limit {
  readonly name: string;
  /** 0 when agents and viewers leave nothing of it for runs. */
  readonly runsPerDay: number;
  /** So many agents use all of it without a run, beside the viewers; null when no number of agents does. */
  readonly agents: number | null;
}

export interface Capacity {
  /** Of one run; times in ms. */
  readonly run: Costs;
  readonly runsPerSecond: number;
  readonly linesPerSecond: number;
  readonly parts: readonly Part[];
  readonly shards: number;
  readonly redisProcessors: number;
  /** Servers of Redis that share that evenly. */
  readonly redisServers: number;
  readonly redisBytes: number;
  readonly commandsPerSecond: number;
  /** Replica sets of MongoDB that share that evenly. */
  readonly replicaSets: number;
  readonly runBytes: number;
  readonly logBytes: number;
  readonly logBytesOfRun: number;
  /** The one that comes first is the first. */
  readonly limits: readonly Limit[];
}

/**
 * The work of a mean run. On the safe side: every step counts as one that lasts, and whose start and end are reported alone.
 */
export function amountsOfLoad({ jobs, steps, lines, lineBytes, pieces, artifacts }: Load): Amounts {
  const writes = lines > 0;
  return {
    run: 1,
    job: jobs - 1,
    step: steps - jobs,
    alone: 2 * steps - jobs,
    lasting: steps,
    log: writes ? steps : 0,
    piece: writes ? steps * (pieces - 1) : 0,
    line: steps * lines,
    small: lines / pieces < COMPRESSED_LINES ? steps * lines : 0,
    kilobyte: (steps * lines * lineBytes) / 1_000,
    artifact: artifacts,
  };
}

/** What the load needs of an installation on the store that was measured. */
export function capacityFor(load: Load, model: Model, record: StoreRecord): Capacity {
  const amounts = amountsOfLoad(load);
  const run = inMs(predicted(model, amounts), load.unitMs);
  const perSecond = load.runsPerDay / DAY_SECONDS;
  const runsPerSecond = perSecond * load.peak;
  const ofLog = inMs(
    predicted(model, { ...amounts, run: 0, job: 0, step: 0, alone: 0, lasting: 0, artifact: 0 }),
    load.unitMs,
  );
  const logBytesOfRun = ofLog["storeBytes"] ?? 0;
  const [base, removal] = [baseOf(load, record), removalOf(load, record)];
  const used = (figure: string): number =>
    runsPerSecond * (run[figure] ?? 0) + perSecond * (removal[figure] ?? 0) + (base[figure] ?? 0);
  const parts = partsOf(load, used);
  const workers = parts.find(({ name }) => name === "workers") ?? parts[0]!;
  return {
    run,
    runsPerSecond,
    linesPerSecond: runsPerSecond * load.steps * load.lines,
    parts,
    shards: shardsFor(workers.needed),
    redisProcessors: used("redisMs") / 1_000,
    redisServers: piecesFor(used("redisMs") / 1_000, BUSY),
    redisBytes:
      REDIS_BYTES + load.waiting * WAITING_BYTES + load.agents * (record.rates.agentSecond["redisBytes"] ?? 0),
    commandsPerSecond: used("storeCalls"),
    replicaSets: piecesFor(used("storeCalls"), load.mongoCommands),
    runBytes: load.runsPerDay * load.keepRunsDays * ((run["storeBytes"] ?? 0) - logBytesOfRun),
    logBytes: load.runsPerDay * Math.min(load.keepLogsDays, load.keepRunsDays) * logBytesOfRun,
    logBytesOfRun,
    limits: limitsOf(load, run, removal, record).toSorted(
      (one, other) => one.runsPerDay - other.runsPerDay || (one.agents ?? MOST_AGENTS) - (other.agents ?? MOST_AGENTS),
    ),
  };
}

/** What agents and viewers use each second, in ms of these machines. */
function baseOf(load: Load, { store, rates }: StoreRecord): Costs {
  const perSecond = Object.keys(rates.idleSecond).map((figure) => {
    const ofAgents = load.agents * (rates.agentSecond[figure] ?? 0);
    const isShared = figure === "storeCalls" && store === "mongodb";
    const used =
      (isShared ? Math.min(ofAgents, sharedReads(load.agents)) : ofAgents) +
      load.viewers * load.viewedLines * (rates.viewedLine[figure] ?? 0);
    return [figure, Math.max(0, used)] as const;
  });
  return inMs(Object.fromEntries(perSecond), load.unitMs / rates.unitMs);
}

/** At most so many reads a second of MongoDB have agents without work (src/stores/mongo/cluster/shared-reads.ts). */
function sharedReads(agents: number): number {
  return gatewaysFor(agents) * READS_OF_GATEWAY + agents / OWN_READ_SECONDS;
}

function gatewaysFor(agents: number): number {
  return Math.max(1, Math.ceil(agents / AGENTS_OF_GATEWAY));
}

/** What the removal of a run takes. Retention removes as many runs as come in a day, at any time of the day. */
function removalOf(load: Load, { rates }: StoreRecord): Costs {
  const removed = Object.entries(rates.removedRun).map(([figure, value]) => [figure, Math.max(0, value)] as const);
  return inMs(Object.fromEntries(removed), load.unitMs / rates.unitMs);
}

/** What the loop took while the store was measured, ms: the mean of its rows. */
export function unitOf({ rows }: Pick<StoreRecord, "rows">): number {
  return rows.reduce((sum, { unitMs }) => sum + unitMs, 0) / rows.length;
}

function partsOf(load: Load, used: (figure: string) => number): readonly Part[] {
  const byGateway = gatewaysFor(load.agents);
  const kinds = [
    ["nodes of all roles", "nodeMs", byGateway],
    ["edges", "edgeMs", 1],
    ["gateways", "gatewayMs", byGateway],
    ["workers", "workerMs", 1],
  ] as const;
  return kinds.flatMap(([name, figure, least]) => {
    const processors = used(figure) / 1_000;
    if (processors === 0) return [];
    return [{ name, processors, needed: Math.max(least, piecesFor(processors, BUSY)) }];
  });
}

/** The parts of which an installation has one, however large it is, or not more than a number. */
function limitsOf(load: Load, run: Costs, removal: Costs, record: StoreRecord): readonly Limit[] {
  const limit = (name: string, figure: string, most: number): readonly Limit[] => {
    // For each run at the peak, fewer are removed.
    const each = (run[figure] ?? 0) + (removal[figure] ?? 0) / load.peak;
    if (each <= 0) return [];
    const usedBy = (agents: number): number => baseOf({ ...load, agents }, record)[figure] ?? 0;
    const perSecondOfRuns = Math.max(0, most - usedBy(load.agents)) / each;
    const runsPerDay = Math.floor((perSecondOfRuns / load.peak) * DAY_SECONDS);
    return [{ name, runsPerDay, agents: leastThatUse(most, usedBy) }];
  };
  const workers = MOST_SHARDS / SHARDS_OF_WORKER;
  const isSplit = run["workerMs"] !== undefined;
  return [
    ...limit("one Redis server", "redisMs", BUSY * 1_000),
    ...(isSplit
      ? [
          ...limit("one replica set of MongoDB", "storeCalls", load.mongoCommands),
          ...limit(`${workers} workers, for ${MOST_SHARDS} shards`, "workerMs", workers * BUSY * 1_000),
        ]
      : limit("the one node", "nodeMs", BUSY * 1_000)),
  ];
}

/** The least number of agents that use so much; null when no number does. `usedBy` never falls. */
function leastThatUse(most: number, usedBy: (agents: number) => number): number | null {
  if (usedBy(0) >= most) return 0;
  if (usedBy(MOST_AGENTS) < most) return null;
  let [few, enough] = [0, MOST_AGENTS];
  while (enough - few > 1) {
    const between = Math.floor((few + enough) / 2);
    if (usedBy(between) >= most) enough = between;
    else few = between;
  }
  return enough;
}

function piecesFor(used: number, most: number): number {
  return Math.max(1, Math.ceil(used / most));
}

/** Costs with their times in ms of a machine, in place of units. */
export function inMs(costs: Costs, unitMs: number): Costs {
  return Object.fromEntries(
    Object.entries(costs).map(([figure, value]) => [figure, isTime(figure) ? value * unitMs : value]),
  );
}

/** A power of two, so that workers have equal shares more often. */
function shardsFor(workers: number): number {
  const least = 2 ** Math.ceil(Math.log2(workers * SHARDS_OF_WORKER));
  return Math.min(MOST_SHARDS, Math.max(LEAST_SHARDS, least));
}

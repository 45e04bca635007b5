/** The command line of the benchmark. */
import { parseArgs } from "node:util";

/** The workloads of system.ts, and W6 to W16, which only millrace can do. */
const OF_ALL_SYSTEMS = ["W1", "W2", "W3", "W4", "W5"] as const;
export const WORKLOADS = [
  ...OF_ALL_SYSTEMS,
  "W6",
  "W7",
  "W8",
  "W9",
  "W10",
  "W11",
  "W12",
  "W13",
  "W14",
  "W15",
  "W16",
] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface BenchSettings {
  readonly only: ReadonlySet<Workload>;
  /** At least 1. */
  readonly rounds: number;
  /** How many agents W14 simulates; its jobs, projects and rate are in proportion. */
  readonly agents: number;
  /** How many worker processes W13 starts, with eight shards each. */
  readonly workers: number;
  /** True to measure Restate too. */
  readonly peers: boolean;
  /** The program `node` that runs the measured node and agent of millrace. */
  readonly node: string;
  /** Path of the file for the results. */
  readonly json: string | null;
  /** Path of the page whose table is replaced. */
  readonly markdown: string | null;
  /** True to add the measured commit to the history. */
  readonly record: boolean;
  /** Why a run costs more than at the last recorded commit. */
  readonly reason: string | null;
}

const DEFAULT_ROUNDS = 5;
const LEAST_AGENTS = 40;
/** One quarter of the workers is killed, and the others take its shards. */
const LEAST_WORKERS = 4;

export const USAGE = `npm run bench -- [options]

  --only W1,W3     the workloads to measure; default all
  --rounds N       how often each workload is measured; default ${DEFAULT_ROUNDS}
  --agents N       how many agents W14 simulates, at least 40; default 2000
  --workers N      how many worker processes W13 starts, at least 4; default 32
  --peers          also measures Restate, which is installed from npm the first time
  --node PATH      the program node for the measured node and agent; default: the one that runs this
  --json FILE      writes the results to FILE after every round
  --markdown FILE  writes the table between the markers of the page FILE
  --record         adds this commit to bench/history; the checkout must have no changes
  --reason TEXT    with --record: why a run costs more than at the last recorded commit

Workloads:
  W1  one-step runs, 50 in flight           W5  one run with 1,000 parallel jobs
  W2  an idle trigger to the step's process W6  the log of a step to a live viewer
  W3  one run with 40 sequential steps      W7  memory and CPU when idle
  W4  one run with 40 parallel jobs         W8  cost of a run beside waiting or ended runs
  W9  validating and planning 1,000 steps   W10 a cancel to the step's process
  W11 the longest turn of runs at limits    W12 CPU when idle, with 10,000 pipelines
  W13 32 workers: idle, killed, replaced
  W14 2,000 agents and 20,000 queued jobs   W15 reading a run of 5,000 jobs
  W16 1,000 viewers of a log, 200 live logs
`;

/** Null for `--help`. Throws an error that says what is wrong with the arguments. */
export function readArguments(argv: readonly string[]): BenchSettings | null {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string", default: WORKLOADS.join(",") },
      rounds: { type: "string", default: String(DEFAULT_ROUNDS) },
      agents: { type: "string", default: "2000" },
      workers: { type: "string", default: "32" },
      peers: { type: "boolean", default: false },
      node: { type: "string", default: process.execPath },
      json: { type: "string" },
      markdown: { type: "string" },
      record: { type: "boolean", default: false },
      reason: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  if (!/^[1-9]\d{0,3}$/.test(values.rounds)) throw new Error("--rounds must be a whole number from 1 to 9999");
  if (!/^[1-9]\d{1,4}$/.test(values.agents) || Number(values.agents) < LEAST_AGENTS) {
    throw new Error(`--agents must be a whole number from ${LEAST_AGENTS} to 99999`);
  }
  if (!/^[1-9]\d{0,2}$/.test(values.workers) || Number(values.workers) < LEAST_WORKERS) {
    throw new Error(`--workers must be a whole number from ${LEAST_WORKERS} to 999`);
  }
  return {
    only: new Set(values.only.split(",").map(workloadNamed)),
    rounds: Number(values.rounds),
    agents: Number(values.agents),
    workers: Number(values.workers),
    peers: values.peers,
    node: values.node,
    json: values.json ?? null,
    markdown: values.markdown ?? null,
    record: values.record,
    reason: values.reason ?? null,
  };
}

function workloadNamed(name: string): Workload {
  const workload = WORKLOADS.find((known) => known === name);
  if (workload === undefined) throw new Error(`there is no workload ${name || "without a name"}`);
  return workload;
}

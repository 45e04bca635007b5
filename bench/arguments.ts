/** The command line of the benchmark. */
import { parseArgs } from "node:util";

/** Those of system.ts, and W6 to W10 of millrace alone. */
export const WORKLOADS = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10"] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface BenchSettings {
  readonly only: ReadonlySet<Workload>;
  /** From 1. */
  readonly rounds: number;
  readonly peers: boolean;
  /** The file for the results. */
  readonly json: string | null;
  /** The page whose table is replaced. */
  readonly markdown: string | null;
}

const STANDARD_ROUNDS = 5;

export const USAGE = `npm run bench -- [options]

  --only W1,W3     which workloads; default all
  --rounds N       how often each is measured; default ${STANDARD_ROUNDS}
  --peers          also Restate, which the first time is installed from npm
  --json FILE      writes the results there after every round
  --markdown FILE  puts the table between the markers of that page

Workloads:
  W1  one-step runs, 50 in flight           W5  one run with 1,000 parallel jobs
  W2  an idle trigger to the step's process W6  the log of a step to a live viewer
  W3  one run with 40 sequential steps      W7  memory and CPU when idle
  W4  one run with 40 parallel jobs         W8  how cost grows with what waits and what is over
  W9  validating and planning 1,000 steps   W10 a cancel to the step's process
`;

/** Null when help is asked for; throws with what is wrong. */
export function readArguments(argv: readonly string[]): BenchSettings | null {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string", default: WORKLOADS.join(",") },
      rounds: { type: "string", default: String(STANDARD_ROUNDS) },
      peers: { type: "boolean", default: false },
      json: { type: "string" },
      markdown: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  if (!/^[1-9]\d{0,3}$/.test(values.rounds)) throw new Error("--rounds must be a whole number from 1 to 9999");
  return {
    only: new Set(values.only.split(",").map(workloadNamed)),
    rounds: Number(values.rounds),
    peers: values.peers,
    json: values.json ?? null,
    markdown: values.markdown ?? null,
  };
}

function workloadNamed(name: string): Workload {
  const workload = WORKLOADS.find((known) => known === name);
  if (workload === undefined) throw new Error(`there is no workload ${name || "without a name"}`);
  return workload;
}

/** The command line of `npm run capacity`. Pure. */
import { parseArgs } from "node:util";
import type { Load } from "./plan.ts";

export class CommandLineError extends Error {}

/** What is asked for. Without `unitMs` the machines are as fast as the one that was measured. */
export interface GivenLoad extends Omit<Load, "unitMs"> {
  readonly unitMs: number | null;
}

const SUFFIXES = { "": 1, k: 1e3, M: 1e6, G: 1e9 } as const;

/** Each option: the default as a user would write it, the least value, and what it is. */
const OPTIONS = {
  "runs-per-day": ["1M", 0, "runs in a day"],
  jobs: ["1", 1, "jobs of a mean run"],
  steps: ["5", 1, "steps of a mean run, of all its jobs together"],
  lines: ["50", 0, "log lines of a mean step"],
  "line-bytes": ["80", 1, "bytes of a mean line"],
  pieces: ["10", 1, "how many times lines of a step arrive: what comes within some ms is one piece"],
  artifacts: ["0", 0, "artifacts of a mean run"],
  agents: ["1000", 0, "connected agents"],
  viewers: ["0", 0, "people who follow a log at once"],
  "viewed-lines": ["5", 0, "lines that each of them is shown in a second"],
  peak: ["3", 1, "how many times the mean of the day the busiest minutes have"],
  waiting: ["20k", 0, "jobs that wait for an agent at once, at most"],
  "keep-runs": ["90", 0, "days for which runs are kept"],
  "keep-logs": ["30", 0, "days for which logs are kept"],
  "mongodb-commands": ["10k", 1, "commands that a replica set of MongoDB serves in a second: measure yours"],
} as const;
type Option = keyof typeof OPTIONS;

export const HELP = `npm run capacity -- [options]

${Object.entries(OPTIONS)
  .map(([name, [standard, , meaning]]) => `  --${`${name} N`.padEnd(20)} ${meaning}; default ${standard}`)
  .join("\n")}
  --here                 the machines are as fast as this one; default: as fast as the one that was measured
  --write-docs FILE      writes into a page what it shows: docs/capacity.md
  --unit-ms N            the machines take N ms for the loop of bench/capacity/unit.ts

Numbers may end in k, M or G. docs/capacity.md says what the model knows.`;

export interface CommandLine {
  readonly load: GivenLoad;
  /** The machines are as fast as this one. */
  readonly here: boolean;
  /** The page into which the output and the tables are to be written, in place of those that it has. */
  readonly docs: string | null;
}

/** Null for `--help`. Throws a {@link CommandLineError}. */
export function readCommandLine(args: readonly string[]): CommandLine | null {
  const values = parse(args);
  if (values["help"] === true) return null;
  const number = (name: Option): number => numberOf(name, text(values, name) ?? OPTIONS[name][0], OPTIONS[name][1]);
  const unit = text(values, "unit-ms");
  const load: GivenLoad = {
    runsPerDay: number("runs-per-day"),
    jobs: number("jobs"),
    steps: number("steps"),
    lines: number("lines"),
    lineBytes: number("line-bytes"),
    pieces: number("pieces"),
    artifacts: number("artifacts"),
    agents: number("agents"),
    viewers: number("viewers"),
    viewedLines: number("viewed-lines"),
    peak: number("peak"),
    waiting: number("waiting"),
    keepRunsDays: number("keep-runs"),
    keepLogsDays: number("keep-logs"),
    mongoCommands: number("mongodb-commands"),
    unitMs: unit === undefined ? null : numberOf("unit-ms", unit, 0.001),
  };
  if (load.steps < load.jobs)
    throw new CommandLineError("--steps counts the steps of all jobs, so there are at least as many as --jobs");
  return { load, here: values["here"] === true, docs: text(values, "write-docs") ?? null };
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parse(args: readonly string[]): Values {
  const options = Object.fromEntries(
    [...Object.keys(OPTIONS), "unit-ms", "write-docs"].map((name) => [name, { type: "string" as const }]),
  );
  try {
    const flags = Object.fromEntries(["here", "help"].map((name) => [name, { type: "boolean" as const }]));
    return parseArgs({ args: [...args], options: { ...options, ...flags } }).values as Values;
  } catch (error) {
    throw new CommandLineError((error as Error).message);
  }
}

function text(values: Values, name: string): string | undefined {
  return values[name] as string | undefined;
}

function numberOf(name: string, written: string, least: number): number {
  const [, digits, suffix] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(written) ?? [];
  const value = Number(digits) * SUFFIXES[(suffix ?? "") as keyof typeof SUFFIXES];
  if (value >= least) return value;
  throw new CommandLineError(
    `--${name} must be a number from ${least} on, such as 500, 20k or 10M, not ${JSON.stringify(written)}`,
  );
}

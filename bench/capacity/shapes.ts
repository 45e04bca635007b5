/**
 * The runs whose costs are measured: those that the model of capacity is fitted to, and those that it is checked against.
 * Pure.
 */
import { join } from "node:path";
import { type Job, NO_OP } from "../millrace/runs.ts";

/** The kinds of work of a run. The model gives each of them a cost. */
export const WORK = [
  "run",
  "job",
  "step",
  "alone",
  "lasting",
  "log",
  "piece",
  "line",
  "small",
  "kilobyte",
  "artifact",
] as const;
export type Work = (typeof WORK)[number];

/** What each kind of work is, for people. */
export const MEANING: Readonly<Record<Work, string>> = {
  run: "a run of one job with one step",
  job: "each further job, with its first step",
  step: "each further step of a job",
  alone: "more for each end or start that is reported alone",
  lasting: "more for each step whose start is reported",
  log: "a step that writes lines",
  piece: "each further time that lines of a step arrive",
  line: "a line of a log",
  small: "more, when fewer than 14 lines arrive together",
  kilobyte: "1,000 bytes of lines",
  artifact: "an artifact of one file",
};

export interface Shape {
  readonly jobs: number;
  /** Of each job. */
  readonly steps: number;
  /** Of each step. */
  readonly lines: number;
  /** How many phrases of {@link PHRASE_BYTES} a line has. */
  readonly phrases: number;
  /**
   * In how many pieces, with a pause between them, the lines of a step come. Steps without lines pause as well. A step with a
   * pause lasts so long that its agent reports its start; the report of its end implies the start of a shorter one.
   */
  readonly pieces: number;
  /** Of each job. */
  readonly artifacts: number;
}

export interface MeasuredShape extends Shape {
  readonly name: string;
  /** `check`: the model does not see what was measured. */
  readonly use: "fit" | "check";
}

const ONE_STEP: Shape = { jobs: 1, steps: 1, lines: 0, phrases: 1, pieces: 1, artifacts: 0 };

/**
 * Each kind of work has fitted shapes that tell its cost. Steps of one job end one after the other; those of several jobs end
 * side by side, and share turns of their run. The run of one step, from which all costs are told, is measured when the program
 * has run for a while.
 */
export const SHAPES: readonly MeasuredShape[] = [
  { ...ONE_STEP, name: "12 steps", use: "fit", steps: 12 },
  { ...ONE_STEP, name: "6 jobs", use: "fit", jobs: 6 },
  { ...ONE_STEP, name: "4 jobs of 6 steps", use: "fit", jobs: 4, steps: 6 },
  { ...ONE_STEP, name: "6 steps that last", use: "fit", steps: 6, pieces: 2 },
  { ...ONE_STEP, name: "4 jobs of 4 steps that last", use: "fit", jobs: 4, steps: 4, pieces: 2 },
  { ...ONE_STEP, name: "3 jobs with an artifact", use: "fit", jobs: 3, pieces: 2, artifacts: 1 },
  { ...ONE_STEP, name: "500 long lines", use: "fit", lines: 500, phrases: 8 },
  { ...ONE_STEP, name: "500 short lines", use: "fit", lines: 500 },
  { ...ONE_STEP, name: "5 lines", use: "fit", lines: 5 },
  { ...ONE_STEP, name: "7 lines in 7 pieces", use: "fit", lines: 7, pieces: 7 },
  { ...ONE_STEP, name: "a line", use: "fit", lines: 1 },
  { ...ONE_STEP, name: "one step", use: "fit" },
  { ...ONE_STEP, name: "4 jobs of 3 steps with 50 lines", use: "check", jobs: 4, steps: 3, lines: 50 },
  {
    ...ONE_STEP,
    name: "2 jobs of 10 steps with 6 lines in 2 pieces, and an artifact",
    use: "check",
    jobs: 2,
    steps: 10,
    lines: 6,
    pieces: 2,
    artifacts: 1,
  },
];

export const ARTIFACT_BYTES = 20_000;
/** Between two pieces, seconds: more than the agent waits before it sends what has come, or reports a start. */
const PAUSE_SECONDS = 0.2;

/** A line of a log as a compiler writes it, with numbers that do not recur. */
const PHRASE = (random: () => number): string =>
  `src/app/module-${digits(random, 2)}/file-${digits(random, 3)}.ts(${digits(random, 3)},5): value is unused`;
/** The phrase with the space or the end of line behind it. */
export const PHRASE_BYTES = PHRASE(() => 0).length + 1;

export type Amounts = Readonly<Record<Work, number>>;

/** So many lines of a usual length that arrive together are compressed. Source: docs/logs.md, "Bytes stored". */
export const COMPRESSED_LINES = 14;

/** How much of each kind of work a run of this shape is. */
export function amountsOf({ jobs, steps, lines, phrases, pieces, artifacts }: Shape): Amounts {
  const all = jobs * steps;
  return {
    run: 1,
    job: jobs - 1,
    step: all - jobs,
    // The reports of the other jobs come with those of the first one. The end of one step is in the cost of the run.
    alone: steps - 1 + (pieces > 1 ? steps : 0),
    lasting: pieces > 1 ? all : 0,
    log: lines > 0 ? all : 0,
    piece: lines > 0 ? all * (pieces - 1) : 0,
    line: all * lines,
    small: lines / pieces < COMPRESSED_LINES ? all * lines : 0,
    kilobyte: (all * lines * phrases * PHRASE_BYTES) / 1_000,
    artifact: jobs * artifacts,
  };
}

/** What a step with pauses runs: `sh FILE OUTPUT PIECES FILES`. Each piece is the text of the file OUTPUT. */
export const STEP_PROGRAM = String.raw`
piece=0
while [ $piece -lt $2 ]; do
  [ $piece -eq 0 ] || sleep ${PAUSE_SECONDS}
  piece=$((piece + 1))
  cat $1
done
file=0
while [ $file -lt $3 ]; do head -c ${ARTIFACT_BYTES} /dev/urandom > made-$file; file=$((file + 1)); done`;

/** The files that the steps of all shapes need, by name: {@link STEP_PROGRAM}, and the output of a piece of each shape. */
export function stepFiles(): ReadonlyMap<string, string> {
  return new Map([[STEP_FILE, STEP_PROGRAM], ...SHAPES.map((shape) => [outputFile(shape), outputOf(shape)] as const)]);
}

const STEP_FILE = "step.sh";

function outputFile({ lines, pieces, phrases }: Shape): string {
  return `${lines / pieces}-lines-of-${phrases}.txt`;
}

function outputOf({ lines, pieces, phrases }: Shape): string {
  let state = 1;
  // The multiplier and the modulus are those of MINSTD.
  const random = (): number => (state = (state * 48_271) % 0x7fff_ffff) / 0x7fff_ffff;
  const line = (): string => `${Array.from({ length: phrases }, () => PHRASE(random)).join(" ")}\n`;
  return Array.from({ length: lines / pieces }, line).join("");
}

/**
 * The jobs of such a run. `folder` has {@link stepFiles}: a definition of more than 8,000 characters is read in a thread, of which
 * a user gets four. A step without pauses ends at once, so that it lasts in no shape.
 */
export function jobsOf(shape: Shape, folder: string): readonly Job[] {
  const { jobs, steps, lines, pieces, artifacts } = shape;
  const output = join(folder, outputFile(shape));
  const step = (files: number): object => {
    if (pieces > 1 || files > 0)
      return {
        uses: "shell",
        args: { command: "sh", args: [join(folder, STEP_FILE), output, `${pieces}`, `${files}`] },
      };
    return lines === 0 ? NO_OP : { uses: "shell", args: { command: "cat", args: [output] } };
  };
  return Array.from({ length: jobs }, (_, job) => ({
    steps: Array.from({ length: steps }, (__, at) => {
      if (at < steps - 1 || artifacts === 0) return step(0);
      const made = Array.from({ length: artifacts }, (___, n) => ({ name: `made-${job}-${n}`, paths: [`made-${n}`] }));
      return { ...step(artifacts), artifacts: made };
    }),
  }));
}

function digits(random: () => number, count: number): string {
  return String(Math.floor(random() * 10 ** count)).padStart(count, "0");
}

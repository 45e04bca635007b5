/**
 * The runs whose costs are measured: those that the model of capacity is fitted to, and those that it is checked against.
 * Pure.
 */
import { type Job, NO_OP } from "../millrace/runs.ts";

/** The kinds of work of a run. The model gives each of them a cost. */
export const WORK = ["run", "job", "step", "log", "piece", "line", "kilobyte", "artifact"] as const;
export type Work = (typeof WORK)[number];

/** What each kind of work is, for people. */
export const MEANING: Readonly<Record<Work, string>> = {
  run: "a run, from its trigger to its end",
  job: "a job of it",
  step: "a step of a job",
  log: "a step that writes lines",
  piece: "each further time that lines of a step arrive",
  line: "a line of a log",
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
  /** In how many pieces, with a pause between them, the lines of a step come. */
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
 * Each fitted shape differs from the run of one step in one kind of work, so that each kind has a shape that tells its cost. The
 * run of one step, from which all costs are told, is measured when the program has run for a while.
 */
export const SHAPES: readonly MeasuredShape[] = [
  { ...ONE_STEP, name: "12 steps", use: "fit", steps: 12 },
  { ...ONE_STEP, name: "8 jobs", use: "fit", jobs: 8 },
  { ...ONE_STEP, name: "an artifact", use: "fit", artifacts: 1 },
  { ...ONE_STEP, name: "500 long lines", use: "fit", lines: 500, phrases: 8 },
  { ...ONE_STEP, name: "500 short lines", use: "fit", lines: 500 },
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
/** Between two pieces, seconds: more than the agent waits before it sends what has come. */
const PAUSE_SECONDS = 0.2;

/** Numbers that do not recur, as in the output of a compiler. `%` stands for a number of so many digits. */
const PHRASE = "src/app/module-%02d/file-%03d.ts(%03d,5): value is unused";
/** The phrase with the space or the end of line behind it. */
export const PHRASE_BYTES = PHRASE.replaceAll(/%0(\d)d/g, (_, digits: string) => "0".repeat(Number(digits))).length + 1;

export type Amounts = Readonly<Record<Work, number>>;

/** How much of each kind of work a run of this shape is. */
export function amountsOf({ jobs, steps, lines, phrases, pieces, artifacts }: Shape): Amounts {
  const all = jobs * steps;
  return {
    run: 1,
    job: jobs,
    step: all,
    log: lines > 0 ? all : 0,
    piece: lines > 0 ? all * (pieces - 1) : 0,
    line: all * lines,
    kilobyte: (all * lines * phrases * PHRASE_BYTES) / 1_000,
    artifact: jobs * artifacts,
  };
}

/**
 * What the steps run: `sh FILE LINES PHRASES PIECES FILES`, with the lines of each piece. It is a file, because a definition of
 * more than 8,000 characters is read in a thread, of which a user gets four.
 */
export const STEP_PROGRAM = String.raw`
piece=0
while [ $piece -lt $3 ]; do
  [ $piece -eq 0 ] || sleep ${PAUSE_SECONDS}
  piece=$((piece + 1))
  awk -v lines=$1 -v phrases=$2 'BEGIN {
    for (n = 0; n < lines; n++) for (p = 1; p <= phrases; p++)
      printf "${PHRASE}%s", rand() * 60, rand() * 997, rand() * 400, p < phrases ? " " : "\n"
  }'
done
file=0
while [ $file -lt $4 ]; do head -c ${ARTIFACT_BYTES} /dev/urandom > made-$file; file=$((file + 1)); done`;

/** The jobs of such a run. `program` is the path of a file with {@link STEP_PROGRAM}. */
export function jobsOf({ jobs, steps, lines, phrases, pieces, artifacts }: Shape, program: string): readonly Job[] {
  const step = (files: number): object => {
    if (lines === 0 && files === 0) return NO_OP;
    const args = [program, lines / pieces, phrases, lines === 0 ? 0 : pieces, files].map(String);
    return { uses: "shell", args: { command: "sh", args } };
  };
  return Array.from({ length: jobs }, (_, job) => ({
    steps: Array.from({ length: steps }, (__, at) => {
      if (at < steps - 1 || artifacts === 0) return step(0);
      const made = Array.from({ length: artifacts }, (___, n) => ({ name: `made-${job}-${n}`, paths: [`made-${n}`] }));
      return { ...step(artifacts), artifacts: made };
    }),
  }));
}

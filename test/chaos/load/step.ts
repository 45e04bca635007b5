/** A step of the load. It writes marks into the ledger file at its start, every 100 ms, and at its end. */

/** Number of log lines that a step with `talks` writes, one after the other. */
export const TALK_LINES = 60;
/** Number and length of the lines that a step with `floods` writes at once: more than its agent keeps in memory. */
export const FLOOD_LINES = 10_000;
const FILLING = "x".repeat(1_000);

export interface StepOptions {
  /** Number of marks between start and end, 100 ms apart; default 1. */
  readonly beats?: number;
  readonly exitCode?: number;
  /** The first attempt fails or hangs; the step has a retry. */
  readonly flaky?: "fails" | "hangs";
  /** Lines for the step's outputs, such as `cells=[1,2,3]`. */
  readonly writes?: string;
  readonly when?: string;
  readonly timeout?: string;
  readonly talks?: boolean;
  /** The step writes many long lines at once. */
  readonly floods?: boolean;
  /** The step stores a file as an artifact, and the file's checksum as an output. */
  readonly keeps?: boolean;
  /** The checksum that the stored file must have, else the step fails with exit code 9. */
  readonly compares?: string;
  /** More shell commands, before the end mark. */
  readonly does?: string;
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A step, in the form of the definition language. */
export interface LoadStep {
  readonly name?: string;
  readonly id?: string;
  readonly uses: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | number>>;
  readonly when?: string;
  readonly timeout?: string;
  readonly retry?: { readonly attempts: number; readonly on: readonly string[] };
  readonly artifacts?: unknown;
}

/** A job, in the form of the definition language. */
export interface Job {
  readonly approval?: unknown;
  readonly concurrency?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly cancelGrace?: string;
  readonly queueTimeout?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly name: string;
  readonly needs?: readonly string[];
  readonly steps: readonly LoadStep[];
  readonly matrix?: {
    readonly axes: Readonly<Record<string, readonly (string | number)[] | string>>;
    readonly maxParallel?: number;
  };
  readonly when?: string;
  readonly agentSelector?: unknown;
}

/** A definition, in the form of the definition language. */
export interface Definition {
  readonly triggers?: unknown;
  readonly approval?: unknown;
  readonly concurrency?: unknown;
  /** Absent in a definition with stages. */
  readonly jobs?: readonly Job[];
  readonly stages?: readonly { readonly name: string; readonly jobs: readonly Job[] }[];
}

/** The line as the step wrote it without what makes it long; the line itself when it was not written like that. */
export function withoutFilling(line: string): string {
  return line.endsWith(` ${FILLING}`) ? line.slice(0, -FILLING.length - 1) : line;
}

/** Path of the file in which steps report the checksums of their secrets; it lies beside the file of marks. */
export const secretLedgerOf = (ledger: string): string => `${ledger}-of-secrets`;

const BEGIN = `
mark() { echo "$1 $MILLRACE_STEP_RUN_ID $MILLRACE_JOB_ID $(date +%s%3N)" >> "$LEDGER"; }
mark start
if [ "$FLAKY" = hangs ] && [ ! -e hung ]; then touch hung; sleep 60; fi
beat=0
while [ "$beat" -lt "$BEATS" ]; do sleep 0.1; mark beat; beat=$((beat + 1)); done
line=0
while [ "$line" -lt "$LINES_TO_SAY" ]; do line=$((line + 1)); echo "line $line"; sleep 0.04; done
[ "$LINES_TO_FLOOD" = 0 ] || awk -v "lines=$LINES_TO_FLOOD" 'BEGIN {
  while (length(filling) < 1000) filling = filling "x"
  for (line = 1; line <= lines; line++) print "line " line " " filling }'
if [ -n "$KEEPS" ]; then head -c 2000000 /dev/urandom > kept; WRITES="sum=$(sha256sum < kept)"; fi
[ -z "$SUM" ] || [ "$(sha256sum < kept)" = "$SUM" ] || EXIT_CODE=9
`;
const END = `
mark end
[ -z "$WRITES" ] || echo "$WRITES" >> "$MILLRACE_OUTPUT"
if [ "$FLAKY" = fails ] && [ ! -e failed ]; then touch failed; exit 3; fi
exit "$EXIT_CODE"`;

const RETRIES = {
  fails: { retry: { attempts: 2, delay: "500ms", on: ["failed"], exitCodes: [3] } },
  hangs: { timeout: "5s", retry: { attempts: 2, on: ["timeout"] } },
};

/** A shell step, in the form of the definition language, that writes its marks to the file `ledger`. */
export function step(ledger: string, name: string, options: StepOptions = {}): LoadStep {
  const {
    beats = 1,
    exitCode = 0,
    timeout,
    talks = false,
    floods = false,
    flaky,
    writes = "",
    when,
    keeps = false,
    compares = "",
    does = "",
    env = {},
  } = options;
  return {
    name,
    ...(writes === "" && !keeps ? {} : { id: name }),
    ...(keeps ? { artifacts: [{ name: "kept", paths: ["kept"] }] } : {}),
    uses: "shell",
    args: { script: `${BEGIN}${does}${END}` },
    env: {
      LEDGER: ledger,
      BEATS: beats,
      EXIT_CODE: exitCode,
      LINES_TO_SAY: talks ? TALK_LINES : 0,
      LINES_TO_FLOOD: floods ? FLOOD_LINES : 0,
      FLAKY: flaky ?? "",
      WRITES: writes,
      KEEPS: keeps ? "yes" : "",
      SUM: compares,
      ...env,
    },
    ...(flaky === undefined ? {} : RETRIES[flaky]),
    ...(when === undefined ? {} : { when }),
    ...(timeout === undefined ? {} : { timeout }),
  };
}

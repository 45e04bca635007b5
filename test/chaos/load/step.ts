/** A step of the load: it writes marks into the ledger at its start, every 100 ms, and at its end. */

/** Lines of a talking run's step. */
export const TALK_LINES = 60;

export interface StepOptions {
  /** Of 100 ms each. */
  readonly beats?: number;
  readonly exitCode?: number;
  /** Ends so in its first attempt, and has another. */
  readonly flaky?: "fails" | "hangs";
  /** What it writes to its outputs. */
  readonly writes?: string;
  readonly when?: string;
  readonly timeout?: string;
  readonly talks?: boolean;
  /** It makes a file that the step keeps, and its checksum an output. */
  readonly keeps?: boolean;
  /** The checksum that the file must have. */
  readonly compares?: string;
  /** What more it does. */
  readonly does?: string;
  /** What more it is given. */
  readonly env?: Readonly<Record<string, string>>;
}

/** As a definition writes it. */
export interface Job {
  readonly approval?: unknown;
  readonly concurrency?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly cancelGrace?: string;
  readonly outputs?: unknown;
  readonly name: string;
  readonly needs?: readonly string[];
  readonly steps: readonly unknown[];
  readonly matrix?: unknown;
  readonly when?: string;
  readonly agentSelector?: unknown;
}

/** Where steps tell which secrets they were given, beside their marks. */
export const secretLedgerOf = (ledger: string): string => `${ledger}-of-secrets`;

const BEGIN = `
mark() { echo "$1 $MILLRACE_STEP_RUN_ID $MILLRACE_JOB_ID $(date +%s%3N)" >> "$LEDGER"; }
mark start
if [ "$FLAKY" = hangs ] && [ ! -e hung ]; then touch hung; sleep 60; fi
beat=0
while [ "$beat" -lt "$BEATS" ]; do sleep 0.1; mark beat; beat=$((beat + 1)); done
line=0
while [ "$line" -lt "$LINES_TO_SAY" ]; do line=$((line + 1)); echo "line $line"; sleep 0.04; done
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

/** A step that writes its marks to the file `ledger`. */
export function step(ledger: string, name: string, options: StepOptions = {}): unknown {
  const {
    beats = 1,
    exitCode = 0,
    timeout,
    talks = false,
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

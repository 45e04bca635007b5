/** Reads the test reports that a step has written, and sends their cases to the control plane. */
import type { TestReports } from "../../../proto/generated/agent/v1/agent.ts";
import {
  type PushTestCasesRequest,
  type PushTestCasesResponse,
  TestOutcome,
} from "../../../proto/generated/gateway/v1/gateway.ts";
import { NO_TESTS, TEST_BOUNDS, type TestCase, type TestOverview } from "../../domain/notes/notes.ts";
import { type FoundFile, findFiles, piecesOf } from "../builtins/artifact/artifact-files.ts";
import { callWithRetries, type GatewayAccess } from "../connection/gateway-call.ts";
import type { SecretFinder } from "../logs/secret-finder.ts";
import { JunitReader } from "./junit-reader.ts";

const OUTCOMES = {
  failed: TestOutcome.TEST_OUTCOME_FAILED,
  passed: TestOutcome.TEST_OUTCOME_PASSED,
  skipped: TestOutcome.TEST_OUTCOME_SKIPPED,
} as const;
/** The characters of a part, so that it is below a megabyte in any encoding. */
const PART_CHARS = 250_000;

export interface ReportingStep {
  readonly stepRunId: string;
  readonly token: bigint;
}

export interface ReportOptions {
  readonly workspace: string;
  readonly gateway: GatewayAccess;
  readonly secrets: SecretFinder;
  readonly signal: AbortSignal;
}

/** Reads and sends the reports. What goes wrong is told as a problem of the overview. Rejects only with the reason of `signal`. */
export async function keepTestReports(
  step: ReportingStep,
  { junit }: TestReports,
  options: ReportOptions,
): Promise<TestOverview> {
  const read = await readTestReports(junit, options);
  const problems = [...read.problems];
  let kept = 0;
  try {
    kept = await sendCases(step, read.cases, options);
    if (kept < read.cases.length) problems.push(`the run has no room for ${read.cases.length - kept} of the cases`);
  } catch (error) {
    options.signal.throwIfAborted();
    problems.push(`the cases cannot be sent: ${(error as Error).message}`);
  }
  const mask = (text: string) => options.secrets.mask(text);
  return { ...read.counts, kept, problems: problems.slice(0, TEST_BOUNDS.problems).map(mask) };
}

export interface ReadReports {
  readonly counts: typeof NO_TESTS;
  /** In the order in which they are sent; at most {@link TEST_BOUNDS}.cases. */
  readonly cases: readonly TestCase[];
  readonly problems: readonly string[];
}

export async function readTestReports(
  patterns: readonly string[],
  { workspace, secrets, signal }: Pick<ReportOptions, "workspace" | "secrets" | "signal">,
): Promise<ReadReports> {
  const { files, allBytes, fileBytes } = TEST_BOUNDS;
  const problems: string[] = [];
  const results = new Results(secrets);
  let found: readonly FoundFile[] = [];
  try {
    found = await findFiles(workspace, patterns, signal, { fileBytes, allBytes });
    if (found.length === 0) problems.push(`no file matches ${patterns.map((one) => JSON.stringify(one)).join(", ")}`);
    if (found.length > files) problems.push(`only the first ${files} of ${found.length} files are read`);
  } catch (error) {
    signal.throwIfAborted();
    problems.push((error as Error).message);
  }
  for (const file of found.slice(0, files)) {
    try {
      await readFile(file, (one) => results.add(one));
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${JSON.stringify(file.path)} is no JUnit report that can be read: ${(error as Error).message}`);
    }
  }
  return { ...results.end(), problems };
}

async function readFile(file: FoundFile, take: (found: TestCase) => void): Promise<void> {
  const reader = new JunitReader(take);
  const decoder = new TextDecoder();
  for await (const piece of piecesOf([file], 0)) reader.write(decoder.decode(piece, { stream: true }));
  reader.write(decoder.decode());
  reader.end();
}

/** Counts all cases, and keeps as many as the bounds allow, without secrets. */
class Results {
  readonly #secrets: SecretFinder;
  /** The kept cases by suite and name. A repeated test has several outcomes. */
  readonly #cases = new Map<string, TestCase>();
  #further = { ...NO_TESTS };
  #messages = 0;

  constructor(secrets: SecretFinder) {
    this.#secrets = secrets;
  }

  add(found: TestCase): void {
    const key = JSON.stringify([found.suite, found.name, found.file]);
    const before = this.#cases.get(key);
    if (before !== undefined) this.#cases.set(key, this.#both(before, found));
    else if (this.#cases.size < TEST_BOUNDS.cases) this.#cases.set(key, this.#bounded(found));
    else this.#further = countsWith(this.#further, found);
  }

  end(): Pick<ReadReports, "counts" | "cases"> {
    const cases = [...this.#cases.values()].map((one) => this.#masked(one)).sort(byInterest);
    return { counts: cases.reduce(countsWith, this.#further), cases };
  }

  /** A test that has run again: the last outcome counts, and different ones make it flaky. */
  #both(before: TestCase, found: TestCase): TestCase {
    const isFlaky =
      before.isFlaky || found.isFlaky || (before.outcome !== found.outcome && !isSkipped(before) && !isSkipped(found));
    return { ...this.#bounded(found), isFlaky, durationMs: before.durationMs + found.durationMs };
  }

  #bounded(found: TestCase): TestCase {
    this.#messages += found.message.length;
    return this.#messages > TEST_BOUNDS.messages ? { ...found, message: "" } : found;
  }

  #masked(one: TestCase): TestCase {
    if (this.#secrets.isEmpty) return one;
    const mask = (text: string) => (text === "" ? "" : this.#secrets.mask(text));
    return { ...one, suite: mask(one.suite), name: mask(one.name), file: mask(one.file), message: mask(one.message) };
  }
}

function isSkipped({ outcome }: TestCase): boolean {
  return outcome === "skipped";
}

function countsWith(counts: typeof NO_TESTS, { outcome, isFlaky, durationMs }: TestCase): typeof NO_TESTS {
  return {
    total: counts.total + 1,
    failed: counts.failed + (outcome === "failed" ? 1 : 0),
    skipped: counts.skipped + (outcome === "skipped" ? 1 : 0),
    flaky: counts.flaky + (isFlaky ? 1 : 0),
    durationMs: counts.durationMs + durationMs,
  };
}

/** Failed cases, then flaky ones, then the slowest; skipped cases last. */
function byInterest(a: TestCase, b: TestCase): number {
  return rankOf(a) - rankOf(b) || b.durationMs - a.durationMs;
}

function rankOf({ outcome, isFlaky }: TestCase): number {
  return outcome === "failed" ? 0 : isFlaky ? 1 : outcome === "passed" ? 2 : 3;
}

/** Answers how many of the cases are stored. */
async function sendCases(
  { stepRunId, token }: ReportingStep,
  cases: readonly TestCase[],
  { gateway, signal }: ReportOptions,
): Promise<number> {
  const parts = partsOf(cases);
  let next = 0;
  let kept = 0;
  if (parts.length === 0) return 0;
  return callWithRetries<PushTestCasesRequest, PushTestCasesResponse, number>(
    gateway,
    (client, metadata) => client.pushTestCases(metadata),
    async (attempt) => {
      for (; next < parts.length; next++) {
        const part = parts[next]!;
        attempt.write({
          stepRunId,
          token,
          part: next,
          cases: part.map(({ outcome, isFlaky, durationMs, ...one }) => ({
            ...one,
            outcome: OUTCOMES[outcome],
            flaky: isFlaky,
            durationMs: BigInt(durationMs),
          })),
        });
        const { stored } = await attempt.next();
        if (!stored) return kept;
        kept += part.length;
        attempt.onProgress();
      }
      return kept;
    },
    signal,
  );
}

function partsOf(cases: readonly TestCase[]): readonly (readonly TestCase[])[] {
  const parts: TestCase[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const one of cases) {
    const size = one.suite.length + one.name.length + one.file.length + one.message.length;
    if (chars + size > PART_CHARS || parts.at(-1)!.length === TEST_BOUNDS.partCases) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)!.push(one);
    chars += size;
  }
  return parts;
}

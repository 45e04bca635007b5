/** Lists tests of a pipeline by what their newest runs tell: flaky ones, failing ones, and the slowest. */
import { z } from "zod";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import { TEST_OUTCOMES } from "../../domain/notes/notes.ts";
import { ORDER_FIGURES, TEST_ORDERS, type TestHistory } from "../../stores/ports/statistics.ts";
import type { Caller } from "../identity/access.ts";
import { afterField, count, cursorOf } from "../lists.ts";
import { reachPipeline } from "../reaching.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { StatisticsContext } from "./context.ts";

const MAX_LISTED = 100;
const DEFAULT_LISTED = 20;

export const testHistoriesQuery = z.strictObject({
  filter: z.enum(TEST_ORDERS).default("flaky"),
  after: afterField.optional(),
  limit: count(MAX_LISTED).default(DEFAULT_LISTED),
});

const TestHistoryShape = shape("TestHistory", () => ({
  /** The names of the job and the step. The cells of a matrix are jobs of their own. */
  job: z.string(),
  step: z.string(),
  suite: z.string(),
  name: z.string(),
  /** As the newest report has it; null for none. */
  file: z.string().nullable(),
  line: wholeNumber.nullable(),
  /** The newest runs that ran it: these, and how many of them failed or were flaky. */
  runs: wholeNumber,
  failed: wholeNumber,
  flaky: wholeNumber,
  /** How many of the newest runs have failed one after the other. */
  failing: wholeNumber,
  /** The mean time, milliseconds. */
  durationMs: wholeNumber,
  lastSeenAt: time,
  /** The newest first. A run may be removed since. */
  results: listOf(
    fields(() => ({
      runId: id<RunId>(),
      /** When the run has ended. */
      at: time,
      outcome: z.enum(TEST_OUTCOMES),
      /** It passed after a failure on the same revision, in this run or in an earlier one. */
      isFlaky: z.boolean(),
      durationMs: wholeNumber,
    })),
  ),
}));

export const TestHistoryPageShape = fields(() => ({
  list: listOf(TestHistoryShape),
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
}));

/** The worst first. Throws `not_found`. */
export async function readTestHistories(
  context: StatisticsContext,
  caller: Caller,
  { pipelineId, filter, after, limit }: z.output<typeof testHistoriesQuery> & { readonly pipelineId: PipelineId },
): Promise<z.infer<typeof TestHistoryPageShape>> {
  await reachPipeline(context, caller, "readLogs", pipelineId);
  const found = await context.stores.testHistories.list(pipelineId, { order: filter, after, limit: limit + 1 });
  const list = found.slice(0, limit);
  const last = found.length > limit ? list.at(-1) : undefined;
  return {
    list: list.map(viewOf),
    next: last === undefined ? null : cursorOf({ at: last[ORDER_FIGURES[filter]], id: last.testId }),
  };
}

function viewOf(history: TestHistory): z.infer<typeof TestHistoryShape> {
  const { job, step, suite, name, file, line, results, flaky, failing, meanMs, seenAt } = history;
  return {
    job,
    step,
    suite,
    name,
    file: file === "" ? null : file,
    line: line === 0 ? null : line,
    runs: results.length,
    failed: results.filter(({ outcome }) => outcome === "failed").length,
    flaky,
    failing,
    durationMs: meanMs,
    lastSeenAt: rfc3339(seenAt),
    results: results.toReversed().map(({ runId, at, outcome, isFlaky, durationMs }) => {
      return { runId, at: rfc3339(at), outcome, isFlaky, durationMs };
    }),
  };
}

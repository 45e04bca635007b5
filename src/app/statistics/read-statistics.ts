/** Reads the statistics of a pipeline. */
import { z } from "zod";
import type { PipelineId } from "../../domain/ids.ts";
import type { Counters } from "../../stores/ports/statistics.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline } from "../reaching.ts";
import { fields, id, listOf, shape, wholeNumber } from "../shapes.ts";
import { count } from "../lists.ts";
import type { StatisticsContext } from "./context.ts";
import { KEPT_DAYS } from "./count-runs.ts";
import { DAY_MS, dayOf, distributionOf, RESULTS, together, WAITS } from "./counters.ts";

const DEFAULT_DAYS = 30;

export const statisticsQuery = z.strictObject({ days: count(KEPT_DAYS).default(DEFAULT_DAYS) });

/** Milliseconds, at most 5 % off. */
const DistributionShape = shape("Distribution", () => ({ count: wholeNumber, p50: wholeNumber, p95: wholeNumber }));

const figures = () => ({
  /** How many have ended in each way. */
  results: fields(() => ({ success: wholeNumber, failed: wholeNumber, partial: wholeNumber, cancelled: wholeNumber })),
  /** The share of successes among those that were not cancelled; null when there are none. */
  successRate: z.number().min(0).max(1).nullable(),
  /** Successes after a failure on the same revision. */
  flaky: wholeNumber,
  duration: DistributionShape.nullable(),
  /** Null for a wait that did not happen. */
  waits: fields(() => ({
    plan: DistributionShape.nullable(),
    stage: DistributionShape.nullable(),
    needs: DistributionShape.nullable(),
    paused: DistributionShape.nullable(),
    agent: DistributionShape.nullable(),
    start: DistributionShape.nullable(),
  })),
});

export const StatisticsShape = shape("Statistics", () => ({
  pipelineId: id<PipelineId>(),
  /** The first and the last day, in UTC. */
  from: z.string(),
  to: z.string(),
  runs: fields(figures),
  /** By name. The cells of a matrix count under the name of their job. */
  jobs: listOf(fields(() => ({ name: z.string(), ...figures() }))),
}));

/** What has ended on the last days, today included. Throws `not_found`. */
export async function readStatistics(
  context: StatisticsContext,
  caller: Caller,
  { pipelineId, days }: z.output<typeof statisticsQuery> & { readonly pipelineId: PipelineId },
): Promise<z.infer<typeof StatisticsShape>> {
  await reachPipeline(context, caller, "readRuns", pipelineId);
  const to = dayOf(context.clock.now());
  const from = to - days + 1;
  const byJob = new Map<string, Counters[]>([["", []]]);
  for (const { job, counters } of await context.stores.statistics.read(pipelineId, from, to)) {
    byJob.set(job, [...(byJob.get(job) ?? []), counters]);
  }
  const names = [...byJob.keys()].filter((name) => name !== "").toSorted();
  return {
    pipelineId,
    from: dateOf(from),
    to: dateOf(to),
    runs: figuresOf(together(byJob.get("")!)),
    jobs: names.map((name) => ({ name, ...figuresOf(together(byJob.get(name)!)) })),
  };
}

function figuresOf(counters: Counters): z.infer<z.ZodObject<ReturnType<typeof figures>>> {
  const [success, failed, partial, cancelled] = RESULTS.map((result) => counters[result] ?? 0) as [
    number,
    number,
    number,
    number,
  ];
  const judged = success + failed + partial;
  const waits = Object.fromEntries(WAITS.map((wait) => [wait, distributionOf(counters, wait)]));
  return {
    results: { success, failed, partial, cancelled },
    successRate: judged === 0 ? null : success / judged,
    flaky: counters["flaky"] ?? 0,
    duration: distributionOf(counters, "duration"),
    waits: waits as Record<(typeof WAITS)[number], ReturnType<typeof distributionOf>>,
  };
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Mutual exclusion: only one run or job of a concurrency group may work at a time. The steps' marks show whether two
 * did. Pure.
 */
import type { AcknowledgedTrigger, Evidence, JobEvidence, Violation } from "./evidence.ts";

/** The time in which a run or a job worked, in Unix milliseconds. */
interface Span {
  /** Spans with the same key must not overlap. */
  readonly key: string;
  /** The run or job, for the text of a violation. */
  readonly what: string;
  readonly first: number;
  readonly last: number;
}

interface ExclusionEvidence extends Pick<Evidence, "runs" | "marks"> {
  readonly acknowledged: readonly Pick<AcknowledgedTrigger, "runId" | "exclusion">[];
}

export function checkExclusion({ acknowledged, runs, marks }: ExclusionEvidence): readonly Violation[] {
  const byRun = new Map(runs.map((run) => [run.runId, run]));
  const times = new Map<string, number[]>();
  for (const { stepRunId, at } of marks) times.set(stepRunId, [...(times.get(stepRunId) ?? []), at]);
  const spanOf = (key: string, what: string, jobs: readonly JobEvidence[]): readonly Span[] => {
    const all = jobs.flatMap(({ steps }) => steps.flatMap(({ stepRunId }) => times.get(stepRunId) ?? []));
    return all.length === 0 ? [] : [{ key, what, first: Math.min(...all), last: Math.max(...all) }];
  };
  const spans = acknowledged.flatMap(({ runId, exclusion }): readonly Span[] => {
    const jobs = byRun.get(runId)?.jobs ?? [];
    if (exclusion === null) return [];
    if (exclusion.unit === "run") return spanOf(exclusion.kind, `run ${runId}`, jobs);
    return [...new Set(jobs.map(({ index }) => index))].flatMap((index) => {
      const attempts = jobs.filter((job) => job.index === index);
      return spanOf(`${exclusion.kind}/${index}`, `job ${index} of run ${runId}`, attempts);
    });
  });
  const newest = new Map<string, Span>();
  return spans
    .toSorted((a, b) => a.first - b.first)
    .flatMap((span): readonly Violation[] => {
      const before = newest.get(span.key);
      if (before === undefined || span.last > before.last) newest.set(span.key, span);
      if (before === undefined || before.last < span.first) return [];
      const text = `${before.what} and ${span.what} worked at the same time, which their group forbids: until ${before.last}, from ${span.first}`;
      return [{ kind: "doubled", text }];
    });
}

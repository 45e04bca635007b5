/** Runs and jobs of which one may work at a time: what the steps wrote says whether two did. Pure. */
import type { Evidence, JobEvidence, Violation } from "./evidence.ts";

interface Span {
  /** What no two may have in common. */
  readonly key: string;
  readonly what: string;
  readonly first: number;
  readonly last: number;
}

export function checkAlone({ acknowledged, runs, marks }: Evidence): readonly Violation[] {
  const byRun = new Map(runs.map((run) => [run.runId, run]));
  const times = new Map<string, number[]>();
  for (const { stepRunId, at } of marks) times.set(stepRunId, [...(times.get(stepRunId) ?? []), at]);
  const spanOf = (key: string, what: string, jobs: readonly JobEvidence[]): readonly Span[] => {
    const all = jobs.flatMap(({ steps }) => steps.flatMap(({ stepRunId }) => times.get(stepRunId) ?? []));
    return all.length === 0 ? [] : [{ key, what, first: Math.min(...all), last: Math.max(...all) }];
  };
  const spans = acknowledged.flatMap(({ runId, alone }): readonly Span[] => {
    const jobs = byRun.get(runId)?.jobs ?? [];
    if (alone === null) return [];
    if (alone.unit === "run") return spanOf(alone.kind, `run ${runId}`, jobs);
    return [...new Set(jobs.map(({ index }) => index))].flatMap((index) => {
      const attempts = jobs.filter((job) => job.index === index);
      return spanOf(`${alone.kind}/${index}`, `job ${index} of run ${runId}`, attempts);
    });
  });
  const newest = new Map<string, Span>();
  return spans
    .toSorted((a, b) => a.first - b.first)
    .flatMap((span): readonly Violation[] => {
      const before = newest.get(span.key);
      if (before === undefined || span.last > before.last) newest.set(span.key, span);
      if (before === undefined || before.last < span.first) return [];
      const text = `${before.what} and ${span.what} worked at the same time, and may not: until ${before.last}, from ${span.first}`;
      return [{ kind: "doubled", text }];
    });
}

/** The jobs of a run that a reader asks for: `jobs=ID,ID`, `jobs=1..50`, both together, or `jobs=none`. Pure. */
import { z } from "zod";
import { asId, type JobRunId } from "../../domain/ids.ts";

/** Which jobs to show. Positions count from 1, in the order of the plan. */
export interface JobChoice {
  readonly jobIds: ReadonlySet<JobRunId>;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
}

const NONE = "none";
const RANGE = /^([1-9]\d{0,6})\.\.([1-9]\d{0,6})$/;
const JOB_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const RULE = "must be `none`, or job ids and ranges such as 1..50, separated by commas";

/** Reads the text of the parameter; the problem of a bad one says which part is bad. */
export const jobChoice = z.string().transform((text, { issues }): JobChoice => {
  const jobIds = new Set<JobRunId>();
  const ranges: JobChoice["ranges"][number][] = [];
  if (text === NONE) return { jobIds, ranges };
  for (const part of text.split(",")) {
    const [, from, to] = (RANGE.exec(part) ?? []).map(Number);
    if (from !== undefined && to !== undefined && from <= to) ranges.push({ from, to });
    else if (JOB_ID.test(part) && part !== NONE && !part.includes("..")) jobIds.add(asId<JobRunId>(part));
    else
      issues.push({ code: "custom", input: part, message: `${RULE}; ${JSON.stringify(part.slice(0, 40))} is neither` });
  }
  return { jobIds, ranges };
});

/** True for a job at this position, or with this id. */
export function isChosen({ jobIds, ranges }: JobChoice, jobId: JobRunId, position: number): boolean {
  return jobIds.has(jobId) || ranges.some(({ from, to }) => from <= position && position <= to);
}

/** The same text for choices that differ only in the order of their parts. */
export function choiceText({ jobIds, ranges }: JobChoice): string {
  const parts = [...jobIds, ...ranges.map(({ from, to }) => `${from}..${to}`)];
  return parts.length === 0 ? NONE : parts.toSorted().join(",");
}

/** How many jobs the choice can have, at most. */
export function mostJobs({ jobIds, ranges }: JobChoice): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, jobIds.size);
}

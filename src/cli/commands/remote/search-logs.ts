/** `millrace logs --search`: the lines of a run's logs that match, with the lines around them. */
import { EXIT } from "../../exit-codes.ts";
import type { Session } from "../../remote/session.ts";
import type { Job, RunDetail, Step } from "../../run-tree.ts";
import type { LogEntry } from "../../run-view.ts";

export interface SearchOptions {
  readonly search?: string;
  readonly pattern?: boolean;
  readonly ignoreCase?: boolean;
  /** Lines on both sides. */
  readonly around?: string;
}

/** Calls `print` for each line once, in order; `between` where lines are left out. Fails when nothing matches. */
export async function searchLogs(
  { client, signal }: Session,
  { pipelineId, runId, jobs }: RunDetail,
  { search: q = "", pattern, ignoreCase, around: context }: SearchOptions,
  show: { readonly print: (job: Job, step: Step, entry: LogEntry) => void; readonly between: () => void },
): Promise<number> {
  const places = new Map(jobs.flatMap((job) => job.steps.map((step) => [step.stepRunId, { job, step }] as const)));
  const query = { q, pattern: flag(pattern), ignoreCase: flag(ignoreCase), ...(context !== undefined && { context }) };
  let printed: { readonly stepRunId: string; readonly line: number } | undefined;
  for (let after: string | null | undefined; after !== null;) {
    const found = await client.get("/pipelines/{pipelineId}/runs/{runId}/logs/search", {
      path: { pipelineId, runId },
      query: { ...query, ...(after !== undefined && { after }) } as never,
      signal,
    });
    for (const { stepRunId, before, entry, after: behind } of found.list) {
      // A step that began after the run was read is not known here.
      const place = places.get(stepRunId);
      if (place === undefined) continue;
      for (const line of [...before, entry, ...behind]) {
        const { line_number: number } = line;
        const isSameStep = printed?.stepRunId === stepRunId;
        if (isSameStep && number <= printed!.line) continue;
        if (printed !== undefined && context !== undefined && !(isSameStep && number === printed.line + 1))
          show.between();
        show.print(place.job, place.step, line);
        printed = { stepRunId, line: number };
      }
    }
    after = found.next;
  }
  return printed === undefined ? EXIT.failure : EXIT.ok;
}

const flag = (value = false): "true" | "false" => (value ? "true" : "false");

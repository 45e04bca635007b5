/** The progress of a run as lines of text: its stages, jobs and steps with status and time. Pure. */
import type { Schemas } from "../../clients/typescript/src/index.ts";
import { formatDuration } from "../domain/durations.ts";

export type RunDetail = Schemas["RunDetail"];
export type Job = RunDetail["jobs"][number];
export type Step = Job["steps"][number];
export type Status = RunDetail["status"] | Job["status"] | Step["status"];

/** One line; `status` chooses its symbol and colour, null for a stage's heading. */
export interface TreeLine {
  readonly indent: number;
  readonly status: Status | null;
  readonly text: string;
}

/** `steps`: which jobs are shown with their steps. */
export interface TreeOptions {
  readonly name: string;
  readonly steps: "all" | "running";
}

/** Lines of the whole run. Stages follow each other in plan order. */
export function renderTree(run: RunDetail, { name, steps }: TreeOptions): readonly TreeLine[] {
  // A running run shows the waits at its jobs, not at the top.
  const whole = run.status === "running" ? { ...run, waitingFor: null } : run;
  const lines: TreeLine[] = [{ indent: 0, status: run.status, text: `${name}  ${describe(whole)}` }];
  let stage: string | undefined;
  for (const job of run.jobs) {
    if (job.stage !== stage) {
      stage = job.stage;
      lines.push({ indent: 1, status: null, text: stage });
    }
    lines.push({ indent: 2, status: job.status, text: `${job.name}  ${describe(job)}` });
    if (steps === "running" && job.status !== "running") continue;
    for (const step of job.steps)
      lines.push({ indent: 3, status: step.status, text: `${step.name}  ${describe(withoutUsualWait(step))}` });
  }
  return lines;
}

/** A step waits for its job, for the step before it, or a moment for its agent: the tree shows that already. */
function withoutUsualWait(step: Step): Step {
  return step.waitingFor?.reason === "token" ? step : { ...step, waitingFor: null };
}

/** The tree in at most `rows` lines. First the steps of jobs that are not running are left out, then the last lines. */
export function fitTree(run: RunDetail, name: string, rows: number): readonly TreeLine[] {
  const whole = renderTree(run, { name, steps: "all" });
  if (whole.length <= rows) return whole;
  const short = renderTree(run, { name, steps: "running" });
  if (short.length <= rows) return short;
  const kept = short.slice(0, Math.max(rows - 1, 1));
  return [...kept, { indent: 1, status: null, text: `... ${short.length - kept.length} more` }];
}

export const SYMBOLS: Readonly<Record<Status, string>> = {
  pending: "○",
  queued: "○",
  running: "●",
  paused: "‖",
  success: "✔",
  partial: "✔",
  failed: "✘",
  timeout: "✘",
  cancelled: "⊘",
  skipped: "–",
};

/** Status and time for people, with the reason where there is one. */
export function describe(part: RunDetail | Job | Step): string {
  const words: string[] = [part.status];
  if ("attempt" in part && part.attempt > 1) words.push(`(attempt ${part.attempt})`);
  if (part.startTime !== null) words.push(formatDuration(part.duration));
  if (part.reason !== "") words.push(part.reason);
  if ("tests" in part && part.tests) words.push(testsInWords(part.tests));
  if (part.waitingFor !== null) words.push(part.waitingFor.text + placeOf(part.waitingFor));
  return words.join("  ");
}

/** A server of an older release tells no counts. */
function testsInWords({ total, failed, skipped, flaky }: NonNullable<RunDetail["tests"]>): string {
  const marks = [failed > 0 && `${failed} failed`, flaky > 0 && `${flaky} flaky`, skipped > 0 && `${skipped} skipped`];
  const told = marks.filter((mark) => mark !== false);
  return `${total} ${total === 1 ? "test" : "tests"}${told.length === 0 ? "" : ` (${told.join(", ")})`}`;
}

/** The place in the queue, for a wait that tells it. */
function placeOf(wait: NonNullable<Job["waitingFor"]>): string {
  return "ahead" in wait && !("group" in wait) ? `  (${wait.ahead} ahead in the queue)` : "";
}

/** Shows the progress of a run: on a terminal a tree that is redrawn, otherwise a line for each change. */
import { shownPart } from "../domain/notes/overwritten.ts";
import { describe, fitTree, type Job, type RunDetail, type Status, type Step, SYMBOLS } from "./run-tree.ts";
import { type Paint, printable, type Screen } from "./screen.ts";

/** A line of a step's log, as the WebSocket sends it. */
export interface LogEntry {
  readonly line_number: number;
  readonly content: string;
  readonly stream: string;
}

export interface RunViewOptions {
  /** The pipeline's name. */
  readonly name: string;
}

export class RunView {
  readonly #screen: Screen;
  readonly #name: string;
  /** The status of each part that was printed last, by id. */
  readonly #printed = new Map<string, Status>();

  constructor(screen: Screen, { name }: RunViewOptions) {
    this.#screen = screen;
    this.#name = name;
  }

  update(run: RunDetail): void {
    if (this.#screen.live) {
      this.#screen.draw(fitTree(run, this.#name, this.#screen.rows));
      return;
    }
    for (const job of run.jobs) {
      for (const step of job.steps) this.#printChange(step.stepRunId, stepTitle(job, step), step);
      this.#printChange(job.jobId, jobTitle(job), job);
    }
    this.#printChange(run.runId, this.#name, run);
  }

  log(job: Job, step: Step, entry: LogEntry): void {
    this.#screen.print(logLine(this.#screen.paint, job, step, entry));
  }

  /** Shows the final state, which stays on the screen. */
  end(run: RunDetail): void {
    this.update(run);
    this.#screen.settle();
  }

  #printChange(id: string, title: string, part: RunDetail | Job | Step): void {
    const before = this.#printed.get(id);
    if (before === part.status) return;
    this.#printed.set(id, part.status);
    // At first every part waits, so waiting is not printed.
    const waits = part.status === "pending" || part.status === "queued";
    if (!waits) this.#screen.print(`${SYMBOLS[part.status]} ${printable(`${title}  ${describe(part)}`)}`);
  }
}

/** One log line with the step that wrote it, as a terminal would show it: of a progress bar, the last text. */
export function logLine(paint: Paint, job: Job, step: Step, { content, stream }: LogEntry): string {
  const prefix = paint("gray", `${printable(stepTitle(job, step))} |`);
  const { start, end } = shownPart(content);
  const text = printable(content.slice(start, end));
  return `${prefix} ${stream === "stderr" ? paint("yellow", text) : text}`;
}

export const jobTitle = ({ stage, name }: Job) => `${stage}/${name}`;
export const stepTitle = (job: Job, { name }: Step) => `${jobTitle(job)}/${name}`;

/** The newest view of one run: from a snapshot of the live channel, and by each event that follows it. */
import { signal } from "@preact/signals";
import { api } from "../api/client.ts";
import { type LiveMessage, subscribe } from "../live/socket.ts";
import { readLiveEvent, type RunEvent } from "./run-event.ts";
import { applyEvent, hasEnded, type Job, type Run, type RunView, viewOf } from "./run-view.ts";

/** Facts that no event has (what a wait is about, the parts of a start) are read again so long after the last event. */
const FACTS_AFTER_MS = 700;
/** How often the facts of a wait are read while nothing happens: places in a queue change without an event. */
const FACTS_EVERY_MS = 10_000;
/** A snapshot that is not here by then belongs to a large run: its head is read by itself, and shown before. */
const HEAD_AFTER_MS = 250;
/** The facts of larger runs are read job by job. */
const SMALL_RUN = 300;

export class RunStore {
  readonly runId: string;
  readonly view = signal<RunView | undefined>(undefined);
  /** The run without its jobs, while the snapshot of a large run is made and sent; undefined when `view` came first. */
  readonly brief = signal<RunView | undefined>(undefined);
  /** Why the run cannot be shown or followed; undefined while it can. */
  readonly problem = signal<unknown>(undefined);
  /** Facts of single jobs of a large run, newer than the view. */
  readonly facts = signal<ReadonlyMap<string, Job>>(new Map());
  #unsubscribe = (): void => {};
  #head: Run | undefined;
  #jobs: Job[] = [];
  #isComplete = false;
  #waiting: RunEvent[] = [];
  #frame: ReturnType<typeof setTimeout> | number | undefined;
  #headTimer: ReturnType<typeof setTimeout> | undefined;
  #factsTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #abort = new AbortController();

  constructor(runId: string) {
    this.runId = runId;
  }

  start(): void {
    this.#head = undefined;
    this.#jobs = [];
    this.#isComplete = false;
    this.#waiting = [];
    this.#unsubscribe = subscribe({ channel: "channel_run", params: { runId: this.runId } }, (message) =>
      this.#take(message),
    );
    clearTimeout(this.#headTimer);
    if (this.view.peek() !== undefined) return;
    // The snapshot comes all the same, so an answer that fails is none.
    this.#headTimer = setTimeout(() => void this.#readHead().catch(() => {}), HEAD_AFTER_MS);
  }

  stop(): void {
    this.#abort.abort();
    this.#unsubscribe();
    clearTimeout(this.#headTimer);
    clearTimeout(this.#factsTimer);
    if (typeof this.#frame === "number") cancelAnimationFrame(this.#frame);
  }

  /** Reads a snapshot again. */
  restart(): void {
    this.#unsubscribe();
    this.start();
  }

  async #readHead(): Promise<void> {
    const path = { runId: this.runId };
    const run = await api.get("/pipelines/runs/{runId}", {
      path,
      query: { jobs: "none" },
      signal: this.#abort.signal,
    });
    if (this.view.peek() === undefined) this.brief.value = viewOf(run);
  }

  /** Reads what no event tells. An answer that is older than the view is dropped. */
  async readFacts(): Promise<void> {
    const view = this.view.peek();
    if (view === undefined) return;
    if (view.jobs.length > SMALL_RUN) return;
    const path = { runId: this.runId };
    const run = await api.get("/pipelines/runs/{runId}", {
      path,
      query: { attempts: "all" },
      signal: this.#abort.signal,
    });
    const now = this.view.peek();
    if (now !== undefined && run.eventNumber >= now.number)
      this.view.value = { ...viewOf(run), lastEvent: now.lastEvent };
  }

  /** Reads what no event tells of one job, however large its run is. */
  async readJobFacts(jobId: string): Promise<void> {
    const path = { runId: this.runId };
    const run = await api.get("/pipelines/runs/{runId}", { path, query: { jobs: jobId }, signal: this.#abort.signal });
    const [job] = run.jobs;
    if (job !== undefined) this.facts.value = new Map(this.facts.peek()).set(job.jobId, job);
  }

  #take({ type, data, error }: LiveMessage): void {
    switch (type) {
      case "error":
        // The WebSocket names no reason; the call over HTTP says whether the run is gone or forbidden.
        api.get("/pipelines/runs/{runId}", { path: { runId: this.runId }, query: { jobs: "none" } }).then(
          () => (this.problem.value = new Error(error ?? "the run cannot be followed")),
          (cause: unknown) => (this.problem.value = cause),
        );
        return;
      case "snapshot":
        this.#head = { ...(data as Run), jobs: [] };
        this.#jobs = [];
        this.#isComplete = false;
        return;
      case "jobs":
        this.#jobs.push(...(data as readonly Job[]));
        return;
      case "snapshotDone":
        if (this.#head === undefined) return;
        this.#isComplete = true;
        clearTimeout(this.#headTimer);
        this.problem.value = undefined;
        this.view.value = viewOf({ ...this.#head, jobs: this.#jobs });
        this.#jobs = [];
        this.#readFactsLater();
        return;
      case "event": {
        const event = readLiveEvent(data);
        // What arrives before the snapshot belongs to a subscription that was given up.
        if (event === null || !this.#isComplete) return;
        this.#waiting.push(event);
        this.#applyLater();
        return;
      }
    }
  }

  /** Events of one frame are shown together. A page in the background gets no frames. */
  #applyLater(): void {
    if (this.#frame !== undefined) return;
    const apply = (): void => {
      this.#frame = undefined;
      this.#apply();
    };
    this.#frame = document.hidden ? setTimeout(apply, 100) : requestAnimationFrame(apply);
  }

  #apply(): void {
    const before = this.view.peek();
    if (before === undefined) return;
    const view = this.#waiting.reduce(applyEvent, before);
    this.#waiting = [];
    this.view.value = view;
    if (view.reload) this.restart();
    else this.#readFactsLater();
  }

  #readFactsLater(): void {
    clearTimeout(this.#factsTimer);
    const read = (): void => {
      const view = this.view.peek();
      if (view === undefined || document.hidden) return;
      this.readFacts().catch(() => {});
      if (!hasEnded(view)) this.#factsTimer = setTimeout(read, FACTS_EVERY_MS);
    };
    this.#factsTimer = setTimeout(read, FACTS_AFTER_MS);
  }
}

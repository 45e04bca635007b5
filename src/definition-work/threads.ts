/**
 * Threads for tasks that would hold the event loop too long. They start when they are needed and end when they idle. Callers
 * take turns, and each may have only so many tasks in hand, so that the large definitions of one caller do not keep another waiting.
 */
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { Holds } from "../domain/work/holds.ts";
import { startThread } from "../program-files.ts";
import type { Tasks } from "./tasks.ts";
import type { Request, Response } from "./thread-main.ts";

export interface ThreadBounds {
  /** Threads at once. */
  readonly threads: number;
  /** Tasks that one caller may have in hand, running or waiting. */
  readonly tasksOfCaller: number;
  /** Tasks of all callers that may wait. */
  readonly waiting: number;
  /** How long a task may run before its thread is ended, milliseconds. */
  readonly taskMs: number;
  /** After so long without a task, a thread ends, milliseconds. */
  readonly idleMs: number;
  /** Old generation of a thread's heap, megabytes. */
  readonly heapMb: number;
}

/** One core stays with the event loop. A definition of 5,000 steps takes about 100 MB while it is planned. */
export const THREAD_BOUNDS: ThreadBounds = {
  threads: Math.max(1, Math.min(2, availableParallelism() - 1)),
  tasksOfCaller: 4,
  waiting: 64,
  taskMs: 30_000,
  idleMs: 60_000,
  heapMb: 384,
};

interface Task {
  readonly caller: string;
  /** Tasks with the same text go to the same thread, which may remember the definition. */
  readonly text: string;
  readonly request: Request;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  task: Task | null;
  /** The text of its last task. */
  text: string;
  /** The bound on its task, or on its idleness. */
  timer: NodeJS.Timeout;
}

export class Threads {
  readonly #bounds: ThreadBounds;
  readonly #log: Logger;
  readonly #threads = new Set<Thread>();
  /** The tasks that wait, by caller; the caller who is served next comes first. */
  readonly #waiting = new Map<string, Task[]>();
  /** By caller. */
  readonly #inHand = new Holds();
  #closed = false;

  constructor(log: Logger, bounds: Partial<ThreadBounds> = {}) {
    this.#log = log;
    this.#bounds = { ...THREAD_BOUNDS, ...bounds };
  }

  /** Threads that live. */
  get count(): number {
    return this.#threads.size;
  }

  /**
   * Performs a task for a caller. Rejects with `too_many` for a caller who has too many in hand; with `unavailable` when too many
   * callers wait, after {@link close}, and when the thread ends unexpectedly; with `deadline_exceeded` and `too_large` beyond the
   * bounds on time and memory.
   */
  async run<Name extends keyof Tasks>(
    caller: string,
    text: string,
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["result"]> {
    if (this.#closed) throw new MillraceError("unavailable", "this node is stopping: try again");
    const inHand = this.#inHand.count(caller);
    if (inHand >= this.#bounds.tasksOfCaller) {
      const message = `${inHand} large definitions of yours are being read, checked or planned: try again when one is done`;
      throw new MillraceError("too_many", message);
    }
    if ([...this.#waiting.values()].reduce((sum, tasks) => sum + tasks.length, 0) >= this.#bounds.waiting) {
      throw new MillraceError(
        "unavailable",
        "too many large definitions wait to be read, checked or planned: try again",
      );
    }
    const release = this.#inHand.hold(caller);
    try {
      const json = await new Promise<string>((resolve, reject) => {
        const task: Task = { caller, text, request: { name, input }, resolve, reject };
        const waiting = this.#waiting.get(caller);
        if (waiting === undefined) this.#waiting.set(caller, [task]);
        else waiting.push(task);
        this.#serve();
      });
      return JSON.parse(json) as Tasks[Name]["result"];
    } finally {
      release();
    }
  }

  /** Ends all threads; what is in hand is rejected. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const stopping = new MillraceError("unavailable", "this node is stopping: try again");
    for (const task of [...this.#waiting.values()].flat()) task.reject(stopping);
    this.#waiting.clear();
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, stopping)));
  }

  #serve(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [caller, tasks] = next;
      const thread = this.#free(tasks[0]!.text);
      if (thread === undefined) return;
      const task = tasks.shift()!;
      // The caller goes behind all others.
      this.#waiting.delete(caller);
      if (tasks.length > 0) this.#waiting.set(caller, tasks);
      this.#begin(thread, task);
    }
  }

  #free(text: string): Thread | undefined {
    const idle = [...this.#threads].filter(({ task }) => task === null);
    const found = idle.find((thread) => thread.text === text) ?? idle[0];
    return found ?? (this.#threads.size < this.#bounds.threads ? this.#start() : undefined);
  }

  #begin(thread: Thread, task: Task): void {
    clearTimeout(thread.timer);
    thread.task = task;
    thread.text = task.text;
    // The thread keeps the process alive only while it has a task.
    thread.worker.ref();
    thread.worker.postMessage(task.request);
    thread.timer = setTimeout(() => {
      const message = `the definition was not read, checked or planned within ${this.#bounds.taskMs} ms: make it smaller, or try again`;
      void this.#end(thread, new MillraceError("deadline_exceeded", message));
      this.#serve();
    }, this.#bounds.taskMs);
  }

  #start(): Thread {
    const worker = startThread("thread-main", import.meta.url, this.#bounds.heapMb);
    const thread: Thread = { worker, task: null, text: "", timer: setTimeout(() => {}, 0) };
    this.#threads.add(thread);
    worker.on("message", (response: Response) => this.#settle(thread, response));
    worker.on("error", (error) => {
      void this.#end(thread, this.#faultOf(error));
      this.#serve();
    });
    worker.on("exit", (code) => {
      void this.#end(thread, this.#faultOf(new Error(`its thread ended with ${code}`)));
      if (!this.#closed) this.#serve();
    });
    return thread;
  }

  #settle(thread: Thread, response: Response): void {
    const { task } = thread;
    clearTimeout(thread.timer);
    thread.task = null;
    thread.worker.unref();
    if (task !== null && "json" in response) task.resolve(response.json);
    else if (task !== null) task.reject(new Error((response as { failed: string }).failed));
    thread.timer = setTimeout(() => void this.#end(thread, new Error("idle")), this.#bounds.idleMs);
    thread.timer.unref();
    this.#serve();
  }

  async #end(thread: Thread, reason: Error): Promise<void> {
    clearTimeout(thread.timer);
    if (!this.#threads.delete(thread)) return;
    if (thread.task !== null) {
      this.#log.warn({ error: reason.message }, "a thread for definitions ended with a task in hand");
      thread.task.reject(reason);
    }
    await thread.worker.terminate();
  }

  #faultOf(error: Error): MillraceError {
    if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
      const message = `reading, checking or planning the definition takes more than ${this.#bounds.heapMb} MB of memory: make it smaller`;
      return new MillraceError("too_large", message, { cause: error });
    }
    return new MillraceError("unavailable", "the definition could not be read, checked or planned: try again", {
      cause: error,
    });
  }
}

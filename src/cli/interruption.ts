/** The signals that end a command: the first lets it shut down, the last ends the process at once. */

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Exit statuses as shells number them. */
const STATUSES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;
type EndingSignal = keyof typeof STATUSES;

// A second signal within this time is a repeat of the first: npm forwards a Ctrl-C that the terminal has already delivered to
// the whole process group.
const REPEAT_MS = 500;

/** The reason of the aborted signal of an {@link Interruption}. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly signal: EndingSignal;
  readonly exitCode: number;

  constructor(signal: EndingSignal) {
    super(`ended by ${signal}`);
    this.signal = signal;
    this.exitCode = STATUSES[signal];
  }
}

export interface Interruption {
  /** Aborted, with an {@link Interrupted}, by the first signal. */
  readonly signal: AbortSignal;
  /** Aborted by the second signal; with `twoStage` only. */
  readonly urgent: AbortSignal;
  /** Stops listening: signals then end the process as they do by default. */
  dispose(): void;
}

/**
 * Listens to signals from now on, and to the end of the reader of stdout, which counts as SIGPIPE. The second signal, with
 * `twoStage` the third, exits the process at once; `exit` listeners then kill the child processes.
 */
export function listenForInterruption(
  { twoStage }: { readonly twoStage: boolean } = { twoStage: false },
): Interruption {
  const controller = new AbortController();
  const urgent = new AbortController();
  let lastAt = 0;
  const listeners = ENDING_SIGNALS.map((name) => {
    const listener = () => {
      if (!controller.signal.aborted) {
        lastAt = performance.now();
        controller.abort(new Interrupted(name));
      } else if (performance.now() - lastAt > REPEAT_MS) {
        if (!twoStage || urgent.signal.aborted) process.exit(STATUSES[name]);
        lastAt = performance.now();
        urgent.abort();
      }
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  const onOutputError = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!controller.signal.aborted) controller.abort(new Interrupted("SIGPIPE"));
  };
  process.stdout.on("error", onOutputError);
  return {
    signal: controller.signal,
    urgent: urgent.signal,
    dispose() {
      for (const [name, listener] of listeners) process.off(name, listener);
      process.stdout.off("error", onOutputError);
    },
  };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Signals that ask a command to end: the first one politely, the last one at once. */

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Exit statuses as shells number them. */
const STATUSES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;
type EndingSignal = keyof typeof STATUSES;

// npm forwards a Ctrl-C that the terminal has delivered to the whole process group already.
const REPEAT_MS = 500;

/** Why an {@link Interruption}'s signal is aborted. */
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
  /** Aborted, with an {@link Interrupted}, by the first ending signal. */
  readonly signal: AbortSignal;
  /** Of a patient one: aborted by the second signal. */
  readonly urgent: AbortSignal;
  /** Stops listening: signals then end the process as they do by default. */
  dispose(): void;
}

/**
 * Listens from now on, also for a reader of stdout that has gone. A second signal, of a patient one the third, exits the
 * process at once; what must die with it is killed by `exit` listeners.
 */
export function listenForInterruption({ patient }: { readonly patient: boolean } = { patient: false }): Interruption {
  const controller = new AbortController();
  const urgent = new AbortController();
  let lastAt = 0;
  const listeners = ENDING_SIGNALS.map((name) => {
    const listener = () => {
      if (!controller.signal.aborted) {
        lastAt = performance.now();
        controller.abort(new Interrupted(name));
      } else if (performance.now() - lastAt > REPEAT_MS) {
        if (!patient || urgent.signal.aborted) process.exit(STATUSES[name]);
        lastAt = performance.now();
        urgent.abort();
      }
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  const lostOutput = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!controller.signal.aborted) controller.abort(new Interrupted("SIGPIPE"));
  };
  process.stdout.on("error", lostOutput);
  return {
    signal: controller.signal,
    urgent: urgent.signal,
    dispose() {
      for (const [name, listener] of listeners) process.off(name, listener);
      process.stdout.off("error", lostOutput);
    },
  };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

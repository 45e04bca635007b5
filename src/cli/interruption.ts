/** Signals that ask a command to end: the first one politely, a second one at once. */

/** Exit statuses as shells number them. */
const ENDING_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type EndingSignal = keyof typeof ENDING_SIGNALS;

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
    this.exitCode = ENDING_SIGNALS[signal];
  }
}

export interface Interruption {
  /** Aborted, with an {@link Interrupted}, by the first ending signal. */
  readonly signal: AbortSignal;
  /** Stops listening: signals then end the process as they do by default. */
  dispose(): void;
}

/** Listens from now on. A second signal exits the process at once; what must die with it is killed by `exit` listeners. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let firstAt = 0;
  const listeners = (Object.keys(ENDING_SIGNALS) as EndingSignal[]).map((name) => {
    const listener = () => {
      if (!controller.signal.aborted) {
        firstAt = performance.now();
        controller.abort(new Interrupted(name));
      } else if (performance.now() - firstAt > REPEAT_MS) {
        process.exit(ENDING_SIGNALS[name]);
      }
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: controller.signal,
    dispose() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

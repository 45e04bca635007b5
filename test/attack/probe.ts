/** Probes: short calls at a fixed pace, whose times show how long an installation keeps its other users waiting. */
import { Agent, request } from "node:http";
import { percentile } from "../../bench/measure/percentiles.ts";

/** A probe that has no answer after this time counts as one that took this time, and as a failure. */
const GIVE_UP_MS = 30_000;

export interface ProbeFigures {
  readonly calls: number;
  /** Calls with another status than 200, or without an answer. */
  readonly failures: number;
  /** Milliseconds; NaN when no call was made. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

export interface ProbedCall {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly token?: string;
}

/**
 * Calls `probed` each `everyMs`, also while earlier calls have no answer yet, over connections that stay open. The time
 * of a call counts from the moment at which it was due.
 */
export class Probe {
  readonly #probed: ProbedCall;
  readonly #agent = new Agent({ keepAlive: true });
  #timer: NodeJS.Timeout | undefined;
  readonly #inHand = new Set<Promise<void>>();
  #times: number[] = [];
  #failures = 0;

  constructor(probed: ProbedCall, everyMs: number) {
    this.#probed = probed;
    const begin = performance.now();
    let calls = 1;
    // A repeating timer drifts, so each timer is set for the moment at which the next call is due.
    const wait = () => {
      this.#timer = setTimeout(
        () => {
          // A timer that fires late stands for all calls that were due meanwhile.
          for (; begin + calls * everyMs <= performance.now(); calls++) this.#begin(begin + calls * everyMs);
          wait();
        },
        begin + calls * everyMs - performance.now(),
      );
    };
    wait();
  }

  /** The figures since the last call of this function. Calls without an answer yet belong to the next figures. */
  take(): ProbeFigures {
    const times = this.#times;
    const failures = this.#failures;
    this.#times = [];
    this.#failures = 0;
    return {
      calls: times.length,
      failures,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      worst: percentile(times, 1),
    };
  }

  /** Resolves when all calls that were made have their answers. */
  async settle(): Promise<void> {
    await Promise.all(this.#inHand);
  }

  /** Makes no further calls. Idempotent. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.settle();
    this.#agent.destroy();
  }

  #begin(due: number): void {
    const call = this.#call().then((well) => {
      this.#times.push(performance.now() - due);
      if (!well) this.#failures++;
      this.#inHand.delete(call);
    });
    this.#inHand.add(call);
  }

  /** True for the status 200. */
  #call(): Promise<boolean> {
    const { url, method, token } = this.#probed;
    return new Promise((resolve) => {
      const outgoing = request(
        url,
        {
          method,
          agent: this.#agent,
          timeout: GIVE_UP_MS,
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        },
        (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode === 200));
          response.on("error", () => resolve(false));
        },
      );
      outgoing.on("timeout", () => outgoing.destroy());
      outgoing.on("error", () => resolve(false));
      outgoing.end();
    });
  }
}

/** What a node counts about its own work, in plain numbers. `/metrics` reads them. */
import { bucketsOf, type NamesOf } from "./families.ts";
import { Histogram } from "./histogram.ts";

/** Counters by the value of one label, or by the values of several, joined by a space. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(key: string, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}

/** Histograms of one family, by the values of its labels, joined by a space. */
export class Histograms {
  readonly #bounds: readonly number[];
  readonly #byKey = new Map<string, Histogram>();

  constructor(family: NamesOf<"histogram">) {
    this.#bounds = bucketsOf(family);
  }

  /** The same object for the same key, so that a caller may keep it. */
  of(key: string): Histogram {
    let histogram = this.#byKey.get(key);
    if (histogram === undefined) this.#byKey.set(key, (histogram = new Histogram(this.#bounds)));
    return histogram;
  }

  get all(): ReadonlyMap<string, Histogram> {
    return this.#byKey;
  }
}

/** Calls by what is called. The keys are words of the program, so they are few. */
export class CallMeter {
  readonly seconds: Histograms;
  readonly errors = new Tally();

  constructor(family: NamesOf<"histogram">) {
    this.seconds = new Histograms(family);
  }
}

/** The meters of one node. */
export class Meters {
  /** By kind of record and operation. */
  readonly storeCalls = new CallMeter("millrace_store_call_seconds");
  /** By command. */
  readonly redisCalls = new CallMeter("millrace_redis_call_seconds");
  /** By operation of S3. */
  readonly objectCalls = new CallMeter("millrace_object_storage_call_seconds");
  /** Unary calls, by method and status. */
  readonly grpcCalls = new Histograms("millrace_grpc_call_seconds");
  /** Ended streams, by method and status. */
  readonly grpcStreams = new Tally();
  /** Open streams, by method. */
  readonly openStreams = new Tally();
  /** Messages on streams, by method and direction. */
  readonly streamMessages = new Tally();
  readonly turns = new Histogram(bucketsOf("millrace_turn_seconds"));
  readonly runsCreated = new Tally();
  /** By status and trigger. */
  readonly runsEnded = new Tally();
  readonly runSeconds = new Histograms("millrace_run_seconds");
  readonly jobsEnded = new Tally();
  readonly stepsEnded = new Tally();
  readonly stepSeconds = new Histograms("millrace_step_seconds");
  /** What receivers of webhooks and notifications are sent, by outcome and channel. */
  readonly deliveries = new Tally();
  /** `lines` and `bytes` of steps' logs that this node has stored. */
  readonly totals = { jobsStarted: 0, lines: 0, bytes: 0 };
}

/**
 * Bounds reads that are large, and shares them. Reads of one source that wait for it at the same time are answered from
 * one load, and identical reads get the same answer. Few sources are loaded at once, because each takes memory and time of
 * the event loop. An answer counts until its callers have taken it.
 */
import { MillraceError } from "../domain/errors.ts";
import { Holds } from "../domain/work/holds.ts";

/** Bounds on answers in hand: waiting, being made, or not taken yet. */
interface InHandBounds {
  readonly ofCaller: number;
  readonly ofAll: number;
}

export interface LargeReadBounds {
  /** Small answers count for themselves. */
  readonly small: InHandBounds;
  readonly large: InHandBounds;
  /** Sources that are loaded and rendered at once, of those that are loaded whole, and of the others. */
  readonly atOnce: number;
}

/** A run of 5,000 jobs with all attempts is an answer of some 10 MB, and takes some 80 MB while it is made. */
export const LARGE_READ_BOUNDS: LargeReadBounds = {
  small: { ofCaller: 32, ofAll: 256 },
  large: { ofCaller: 4, ofAll: 16 },
  atOnce: 1,
};

const RETRY_SECONDS = 1;

export interface LargeRead<Source, Made> {
  /** What is read. */
  readonly of: string;
  /** The stored version of it that the caller has seen; the answer is of this version or a newer one. */
  readonly version: number;
  /** Reads with the same text differ in nothing but the version. */
  readonly view: string;
  /** True for an answer of some 100 kB at most. */
  readonly isSmall: boolean;
  /** True for a read that loads little: it does not wait for the others. */
  readonly isPart?: boolean;
  /** Loads what is read; once for all views of it that wait. */
  load(): Promise<Source>;
  render(source: Source): Promise<Made>;
}

/** Reads of different lanes do not wait for each other. */
type Lane = "whole" | "part";

function laneOf({ isPart = false }: Pick<AnyRead, "isPart">): Lane {
  return isPart ? "part" : "whole";
}

type AnyRead = LargeRead<unknown, unknown>;

interface Answer {
  readonly read: AnyRead;
  /** The newest version that a caller of this answer had seen when its load began. */
  version: number;
  state: "waiting" | "begun" | "made";
  /** The calls that have not taken it, by holder. */
  readonly takers: Holds;
  readonly made: Promise<unknown>;
  readonly resolve: (made: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A load with the answers that are made of it. */
interface Load {
  readonly of: string;
  readonly version: number;
  readonly answers: Answer[];
}

export class LargeReads {
  readonly #bounds: LargeReadBounds;
  readonly #inHand = new Set<Answer>();
  /** The loads that go on: further answers may be made of them. */
  readonly #loading = new Set<Load>();
  readonly #making: Record<Lane, number> = { whole: 0, part: 0 };

  constructor(bounds: Partial<LargeReadBounds> = {}) {
    this.#bounds = { ...LARGE_READ_BOUNDS, ...bounds };
  }

  /** Answers in hand: waiting, being made, or not taken yet. */
  get count(): number {
    return this.#inHand.size;
  }

  /**
   * The answer to a read, for a holder (`holderOf` of the caller). It counts until `over` fires, which must happen when the caller has taken the answer or is gone.
   * Rejects with `too_many` beyond the bounds, and with the reason of `over`.
   */
  async read<Source, Made>(holder: string, read: LargeRead<Source, Made>, over: AbortSignal): Promise<Made> {
    over.throwIfAborted();
    const shared = this.#find(read as AnyRead);
    if (shared === undefined || !shared.takers.has(holder))
      this.#requireRoom(holder, read.isSmall, shared === undefined);
    const answer = shared ?? this.#add(read as AnyRead);
    if (answer.state === "waiting") answer.version = Math.max(answer.version, read.version);
    const release = answer.takers.hold(holder);
    const gone = new Promise<never>((_, reject) => {
      over.addEventListener(
        "abort",
        () => {
          release();
          if (answer.state !== "begun") this.#drop(answer);
          reject(over.reason as Error);
        },
        { once: true },
      );
    });
    this.#serve();
    return Promise.race([answer.made as Promise<Made>, gone]);
  }

  /** An answer that has not begun is of a version yet to come; one that has begun may be too old. */
  #find({ of, view, version }: AnyRead): Answer | undefined {
    for (const answer of this.#inHand) {
      if (answer.read.of !== of || answer.read.view !== view) continue;
      if (answer.state === "waiting" || (answer.state === "begun" && answer.version >= version)) return answer;
    }
    return undefined;
  }

  #requireRoom(holder: string, isSmall: boolean, isNew: boolean): void {
    const { ofCaller, ofAll } = isSmall ? this.#bounds.small : this.#bounds.large;
    const inHand = [...this.#inHand].filter(({ read }) => read.isSmall === isSmall);
    const held = inHand.filter(({ takers }) => takers.has(holder)).length;
    if (held >= ofCaller) throw tooMany(`${held} answers about large runs are being made or sent for you`, isSmall);
    if (isNew && inHand.length >= ofAll) {
      throw tooMany(`${inHand.length} answers about large runs are being made or sent on this node`, isSmall);
    }
  }

  #add(read: AnyRead): Answer {
    const { promise: made, resolve, reject } = withResolvers<unknown>();
    const answer: Answer = { read, version: 0, state: "waiting", takers: new Holds(), made, resolve, reject };
    // Every caller may be gone when it fails.
    made.catch(() => {});
    this.#inHand.add(answer);
    const load = [...this.#loading].find(({ of, version }) => of === read.of && version >= read.version);
    if (load !== undefined) begin(answer, load);
    return answer;
  }

  #drop(answer: Answer): void {
    if (answer.takers.size === 0) this.#inHand.delete(answer);
  }

  #serve(): void {
    this.#serveLane("whole");
    this.#serveLane("part");
  }

  #serveLane(lane: Lane): void {
    while (this.#making[lane] < this.#bounds.atOnce) {
      const waiting = this.#waiting().filter(({ read }) => laneOf(read) === lane);
      const next = waiting[0];
      if (next === undefined) return;
      const together = waiting.filter(({ read }) => read.of === next.read.of);
      const load: Load = {
        of: next.read.of,
        version: Math.max(...together.map(({ version }) => version)),
        answers: [],
      };
      for (const answer of together) begin(answer, load);
      this.#making[lane]++;
      void this.#make(next.read, load).then(() => {
        this.#making[lane]--;
        this.#serve();
      });
    }
  }

  #waiting(): readonly Answer[] {
    return [...this.#inHand].filter(({ state }) => state === "waiting");
  }

  async #make(read: AnyRead, load: Load): Promise<void> {
    this.#loading.add(load);
    const source = await settled(read.load());
    this.#loading.delete(load);
    for (const answer of load.answers) {
      try {
        if (answer.takers.size > 0) answer.resolve(await answer.read.render(source()));
      } catch (error) {
        answer.reject(error);
      }
      answer.state = "made";
      this.#drop(answer);
    }
  }
}

function begin(answer: Answer, load: Load): void {
  answer.state = "begun";
  answer.version = load.version;
  load.answers.push(answer);
}

/** Keeps an error until the value is asked for. */
function settled<T>(promise: Promise<T>): Promise<() => T> {
  return promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

function tooMany(text: string, isSmall: boolean): MillraceError {
  const advice = isSmall ? "" : ", or ask for at most 100 of the jobs, such as jobs=1..50";
  return new MillraceError("too_many", `${text}: try again when one is read${advice}`, {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

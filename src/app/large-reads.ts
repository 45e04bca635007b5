/**
 * Bounds reads that are large, and shares them. Reads of one source that wait for it at the same time are answered from
 * one load, and identical reads get the same answer. Few sources are loaded at once, because each takes memory and time of
 * the event loop. An answer counts until its callers have taken it.
 */
import { MillraceError } from "../domain/errors.ts";
import type { Caller } from "./identity/access.ts";

export interface LargeReadBounds {
  /** Answers that one caller may have in hand: waiting, being made, or not taken yet. */
  readonly inHandOfCaller: number;
  /** The same of all callers. */
  readonly inHand: number;
  /** Sources that are loaded and rendered at once. */
  readonly atOnce: number;
}

/** A run of 5,000 jobs with all attempts is an answer of some 10 MB, and takes some 80 MB while it is made. */
export const LARGE_READ_BOUNDS: LargeReadBounds = { inHandOfCaller: 4, inHand: 16, atOnce: 2 };

const RETRY_SECONDS = 1;

export interface LargeRead<Source> {
  /** What is read. */
  readonly of: string;
  /** The stored version of it that the caller has seen; the answer is of this version or a newer one. */
  readonly version: number;
  /** Reads with the same text differ in nothing but the version. */
  readonly view: string;
  /** Loads what is read; once for all views of it that wait. */
  load(): Promise<Source>;
  render(source: Source): Promise<Buffer>;
}

interface Answer {
  readonly read: LargeRead<unknown>;
  /** The newest version that a caller of this answer had seen when its load began. */
  version: number;
  state: "waiting" | "begun" | "made";
  /** How many calls of each caller have not taken it. */
  readonly takers: Map<string, number>;
  readonly bytes: Promise<Buffer>;
  readonly resolve: (bytes: Buffer) => void;
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
  #making = 0;

  constructor(bounds: Partial<LargeReadBounds> = {}) {
    this.#bounds = { ...LARGE_READ_BOUNDS, ...bounds };
  }

  /** Answers in hand: waiting, being made, or not taken yet. */
  get count(): number {
    return this.#inHand.size;
  }

  /**
   * The answer to a read. It counts until `over` fires, which must happen when the caller has taken the answer or is gone.
   * Rejects with `too_many` beyond the bounds, and with the reason of `over`.
   */
  async read<Source>(caller: Caller, read: LargeRead<Source>, over: AbortSignal): Promise<Buffer> {
    over.throwIfAborted();
    const holder = holderOf(caller);
    const shared = this.#find(read);
    if (shared === undefined || !shared.takers.has(holder)) this.#requireRoom(holder, shared === undefined);
    const answer = shared ?? this.#add(read as LargeRead<unknown>);
    if (answer.state === "waiting") answer.version = Math.max(answer.version, read.version);
    answer.takers.set(holder, (answer.takers.get(holder) ?? 0) + 1);
    const gone = new Promise<never>((_, reject) => {
      over.addEventListener(
        "abort",
        () => {
          this.#leave(answer, holder);
          reject(over.reason as Error);
        },
        { once: true },
      );
    });
    this.#serve();
    return Promise.race([answer.bytes, gone]);
  }

  /** An answer that has not begun is of a version yet to come; one that has begun may be too old. */
  #find({ of, view, version }: LargeRead<unknown>): Answer | undefined {
    for (const answer of this.#inHand) {
      if (answer.read.of !== of || answer.read.view !== view) continue;
      if (answer.state === "waiting" || (answer.state === "begun" && answer.version >= version)) return answer;
    }
    return undefined;
  }

  #requireRoom(holder: string, isNew: boolean): void {
    const { inHandOfCaller, inHand } = this.#bounds;
    let ofCaller = 0;
    for (const { takers } of this.#inHand) if (takers.has(holder)) ofCaller++;
    if (ofCaller >= inHandOfCaller) {
      throw tooMany(`${ofCaller} answers about large runs are being made or sent for you: take those first`);
    }
    if (isNew && this.#inHand.size >= inHand) {
      throw tooMany(`${inHand} answers about large runs are being made or sent on this node`);
    }
  }

  #add(read: LargeRead<unknown>): Answer {
    const { promise: bytes, resolve, reject } = withResolvers<Buffer>();
    const answer: Answer = { read, version: 0, state: "waiting", takers: new Map(), bytes, resolve, reject };
    // Every caller may be gone when it fails.
    bytes.catch(() => {});
    this.#inHand.add(answer);
    const load = [...this.#loading].find(({ of, version }) => of === read.of && version >= read.version);
    if (load !== undefined) begin(answer, load);
    return answer;
  }

  #leave(answer: Answer, holder: string): void {
    const left = answer.takers.get(holder)! - 1;
    if (left > 0) answer.takers.set(holder, left);
    else answer.takers.delete(holder);
    if (answer.state !== "begun") this.#drop(answer);
  }

  #drop(answer: Answer): void {
    if (answer.takers.size === 0) this.#inHand.delete(answer);
  }

  #serve(): void {
    while (this.#making < this.#bounds.atOnce) {
      const next = this.#waiting()[0];
      if (next === undefined) return;
      const together = this.#waiting().filter(({ read }) => read.of === next.read.of);
      const load: Load = {
        of: next.read.of,
        version: Math.max(...together.map(({ version }) => version)),
        answers: [],
      };
      for (const answer of together) begin(answer, load);
      this.#making++;
      void this.#make(next.read, load).then(() => {
        this.#making--;
        this.#serve();
      });
    }
  }

  #waiting(): readonly Answer[] {
    return [...this.#inHand].filter(({ state }) => state === "waiting");
  }

  async #make(read: LargeRead<unknown>, load: Load): Promise<void> {
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

function holderOf(caller: Caller): string {
  if (caller.kind === "user") return caller.userId;
  return caller.kind === "agent" ? caller.agentId : caller.tokenId;
}

function tooMany(text: string): MillraceError {
  const message = `${text}, or ask for some of the jobs only, such as jobs=1..50`;
  return new MillraceError("too_many", message, { retryAfterSeconds: RETRY_SECONDS });
}

/** Says whether this node may delete by age now: not while its clock is far ahead of what the store has seen. */
import type { Clock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import type { WithStores } from "../context.ts";
import { type AgeMemory, type AgeVerdict, judgeAges } from "./age-rules.ts";

export interface AgeGuardContext extends WithStores<"pipelines" | "retention" | "shards"> {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Name of the setting with the highest time that a node with a right clock has noted, Unix milliseconds. */
const TIME_SEEN = "TIME_SEEN";
/** Between two notes of the time, so that the highest time follows the clock while no run is created. */
const NOTE_MS = 600_000;
/** An answer that is younger than this counts for all pruners. */
const FRESH_MS = 2_000;

export class AgeGuard {
  readonly #context: AgeGuardContext;
  readonly #isClockWrong: () => boolean;
  #memory: AgeMemory | null = null;
  #verdict: AgeVerdict = "allowed";
  #asking: Promise<boolean> | null = null;
  #askedAt = -Infinity;

  /** `isClockWrong`: whether the clock differs from the clocks of Redis and of the other nodes. */
  constructor(context: AgeGuardContext, isClockWrong: () => boolean = () => false) {
    this.#context = context;
    this.#isClockWrong = isClockWrong;
  }

  /** Rejects when the store cannot be read. */
  mayDelete(): Promise<boolean> {
    const now = this.#context.clock.monotonic();
    if (this.#asking === null || now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      const asking = this.#ask();
      this.#asking = asking;
      asking.catch(() => {
        if (this.#asking === asking) this.#asking = null;
      });
    }
    return this.#asking.then((isAllowed) => isAllowed && !this.#isClockWrong());
  }

  async #ask(): Promise<boolean> {
    const { clock, log, stores } = this.#context;
    const noted = Number((await stores.shards.readSetting(TIME_SEEN)) ?? 0);
    const newest = await this.#newest(noted);
    const wall = clock.now();
    const { verdict, memory } = judgeAges(this.#memory, { wall, monotonic: clock.monotonic(), newest });
    this.#memory = memory;
    this.#logChange(verdict, wall, newest);
    if (verdict !== "allowed" || this.#isClockWrong()) return false;
    if (newest !== null && wall - noted >= NOTE_MS) {
      await stores.shards.raiseSetting(TIME_SEEN, wall).catch((error: unknown) => {
        log.debug({ error: String(error) }, "the time could not be noted in the store; the next pass tries again");
      });
    }
    return true;
  }

  /** The highest time in the store: what nodes have noted, or the creation of the newest run. */
  async #newest(noted: number): Promise<number | null> {
    const { pipelines, retention } = this.#context.stores;
    const times = noted > 0 ? [noted] : [];
    // The newest runs are looked for only when the note does not show that the clock is right.
    if (this.#context.clock.now() - noted >= NOTE_MS) {
      for (const { projectId } of await pipelines.listProjects()) {
        const run = await retention.nthNewest(0, { projectId });
        if (run !== undefined) times.push(run.createdAt);
      }
    }
    return times.length === 0 ? null : Math.max(...times);
  }

  #logChange(verdict: AgeVerdict, wall: number, newest: number | null): void {
    if (verdict === this.#verdict) return;
    this.#verdict = verdict;
    const { log } = this.#context;
    const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
    const fields = { clock: time(wall), newestInStore: time(newest) };
    if (verdict === "allowed") log.info(fields, "deletion by age goes on");
    else if (verdict === "ahead") {
      log.warn(
        fields,
        "nothing is deleted by age: the clock is more than an hour ahead of everything in the store; if the clock is right, the next run that is created ends this",
      );
    } else log.warn(fields, "nothing is deleted by age for an hour: the clock jumped ahead by more than an hour");
  }
}

/**
 * Admits agents that connect, by rate: after a restart of a gateway, or a fault of the network, thousands come at once.
 * Agents that hold steps go first, because the leases of their steps run. An agent whose turn is far off is told when to
 * come back.
 */
import { type Clock, systemTimers, type Timers } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";

/**
 * The longest wait for a turn. Agents wait 10 s for the welcome and then connect again; a greeting takes up to a second
 * of that after its turn.
 */
const LONGEST_WAIT_MS = 5_000;
/** The longest time after which an agent is told to come back: an agent with steps must be back before their leases end. */
const LONGEST_ABSENCE_MS = 10_000;
const TICK_MS = 20;

export interface AdmissionOptions {
  /** Agents that are admitted in a second. As many are admitted at once after a quiet second. */
  readonly perSecond: number;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers?: Timers;
}

interface Turn {
  readonly begin: () => void;
}

export class Admission {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #timers: Timers;
  readonly #withSteps = new Set<Turn>();
  readonly #others = new Set<Turn>();
  /** Turns that may begin now. */
  #free: number;
  #countedAt: number;
  #isTicking = false;
  /** Until then the turns are promised to agents that were told to come back. By the monotonic clock. */
  #promisedUntil = 0;

  constructor({ perSecond, clock, timers = systemTimers }: AdmissionOptions) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#timers = timers;
    this.#free = perSecond;
    this.#countedAt = clock.monotonic();
  }

  /**
   * Resolves when it is the agent's turn. Rejects with `unavailable` when its turn is too far off, with the time after
   * which the agent should come back; and when `hungUp` fires.
   */
  async admit(holdsSteps: boolean, hungUp: AbortSignal): Promise<void> {
    if (hungUp.aborted) throw gone();
    this.#count();
    const ahead = this.#withSteps.size + (holdsSteps ? 0 : this.#others.size);
    if (ahead === 0 && this.#free >= 1) {
      this.#free--;
      return;
    }
    if (this.#msFor(ahead + 1) > LONGEST_WAIT_MS) throw this.#later(holdsSteps, ahead);
    await this.#turn(holdsSteps ? this.#withSteps : this.#others, hungUp);
  }

  #turn(line: Set<Turn>, hungUp: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.delete(turn);
        reject(gone());
      };
      const turn = {
        begin: () => {
          hungUp.removeEventListener("abort", leave);
          resolve();
        },
      };
      line.add(turn);
      hungUp.addEventListener("abort", leave, { once: true });
      this.#tickLater();
    });
  }

  #tickLater(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.#timers.after(TICK_MS, () => {
      this.#isTicking = false;
      this.#count();
      for (const line of [this.#withSteps, this.#others]) {
        for (const turn of line) {
          if (this.#free < 1) break;
          this.#free--;
          line.delete(turn);
          turn.begin();
        }
      }
      if (this.#withSteps.size + this.#others.size > 0) this.#tickLater();
    });
  }

  #count(): void {
    const now = this.#clock.monotonic();
    this.#free = Math.min(this.#perSecond, this.#free + ((now - this.#countedAt) * this.#perSecond) / 1_000);
    this.#countedAt = now;
  }

  /** Promises turns one after the other, so that those who are sent away do not come back together. */
  #later(holdsSteps: boolean, ahead: number): MillraceError {
    const now = this.#clock.monotonic();
    const from = holdsSteps ? now + this.#msFor(ahead) : Math.max(now + this.#msFor(ahead), this.#promisedUntil);
    if (!holdsSteps) this.#promisedUntil = Math.min(from + this.#msFor(1), now + LONGEST_ABSENCE_MS);
    const comeBackMs = Math.round(Math.min(LONGEST_ABSENCE_MS, from - now));
    const text = `many agents connect to this gateway at once: connect again in ${(comeBackMs / 1_000).toFixed(1)} s`;
    return new MillraceError("unavailable", text, { comeBackMs });
  }

  #msFor(turns: number): number {
    return (turns * 1_000) / this.#perSecond;
  }
}

function gone(): MillraceError {
  return new MillraceError("unavailable", "the agent has hung up before it was admitted");
}

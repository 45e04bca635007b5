/** A bound on costly reads that run at once in this process. */
import { MillraceError } from "../../domain/errors.ts";

export class Places {
  readonly #most: number;
  readonly #what: string;
  #taken = 0;

  /** `what` is what takes a place, in the plural, for the message of a refusal. */
  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /** Answers the function that gives the place back, once. Throws `too_many` when no place is free. */
  take(): () => void {
    if (this.#taken >= this.#most) {
      throw new MillraceError("too_many", `this server makes ${this.#most} ${this.#what} at once: try again soon`);
    }
    this.#taken++;
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken--;
      isTaken = false;
    };
  }
}

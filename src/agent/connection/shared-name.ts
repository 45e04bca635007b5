/**
 * Notices that two agents register under one name. A registration takes the token of the agent that had the name, so
 * each of the two would register again indefinitely, and break the connection of the other.
 */
import type { Clock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";

/** A token that is refused sooner than this after its registration has been taken by another one. */
const YOUNG_MS = 60_000;
/** One such refusal may have another cause: an administrator has revoked the token. */
const MAX_YOUNG_REFUSALS = 1;

export class SharedName {
  readonly #clock: Pick<Clock, "monotonic">;
  #registeredAt = -Infinity;
  #youngRefusals = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  registered(): void {
    this.#registeredAt = this.#clock.monotonic();
  }

  /**
   * The control plane has refused the token of the agent called `name`. Throws `already_exists` when the agent must not
   * register again. Of two agents the one that came later throws first: the token of the other one was older.
   */
  refused(name: string): void {
    const isYoung = this.#clock.monotonic() - this.#registeredAt < YOUNG_MS;
    this.#youngRefusals = isYoung ? this.#youngRefusals + 1 : 0;
    if (this.#youngRefusals <= MAX_YOUNG_REFUSALS) return;
    throw new MillraceError(
      "already_exists",
      `the control plane refuses this agent's token again, soon after its registration: another agent registers as "${name}" too; give each agent a name of its own with --name`,
    );
  }
}

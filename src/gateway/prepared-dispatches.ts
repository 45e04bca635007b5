/**
 * Dispatches that are built while the grants of their steps are being saved, because the process waits for the disk then.
 * None is sent before its grant is stored.
 */
import type { GrantedStep } from "../domain/effects.ts";

/** Dispatches that wait at most. The oldest one makes room: its grant was not saved, or another process dispatches it. */
const MAX_WAITING = 64;

export class PreparedDispatches<Dispatch> {
  /** By grant, oldest first. */
  readonly #waiting = new Map<string, Promise<Dispatch | undefined>>();

  /**
   * Calls `build` in the next turn of the event loop: the save begins first. `build` resolves with undefined for a dispatch
   * that has to be built when its grant is stored.
   */
  prepare(step: GrantedStep, build: () => Promise<Dispatch | undefined>): void {
    setImmediate(() => {
      const built = build();
      // The caller of `take` builds it again.
      built.catch(() => {});
      this.#waiting.set(keyOf(step), built);
      if (this.#waiting.size > MAX_WAITING) this.#waiting.delete(this.#waiting.keys().next().value!);
    });
  }

  /** The dispatch of a step whose grant is stored; undefined when none was prepared, or it could not be. */
  async take(step: GrantedStep): Promise<Dispatch | undefined> {
    const key = keyOf(step);
    const built = this.#waiting.get(key);
    this.#waiting.delete(key);
    try {
      return await built;
    } catch {
      return undefined;
    }
  }
}

/** Grants of one step that are not the same differ in these: a run may be created twice, and is stored once. */
function keyOf({ stepRunId, token, agentId, requestId }: GrantedStep): string {
  return `${stepRunId}/${token}/${agentId}/${requestId}`;
}

/**
 * The steps that a session has dispatched since the heartbeat before. The next heartbeat may have left the agent earlier than those
 * steps came, so it proves nothing about them: were they dispatched again, the agent would repeat the reports of steps that have
 * ended meanwhile, and their runs would be loaded once more. Pure.
 */
import type { GrantedStep } from "../domain/effects.ts";

type Granted = Pick<GrantedStep, "stepRunId" | "token">;

export class RecentDispatches {
  #sinceHeartbeat = new Set<string>();
  #beforeHeartbeat = new Set<string>();

  add(step: Granted): void {
    this.#sinceHeartbeat.add(keyOf(step));
  }

  /** The dispatch has not left: the next heartbeat shall find that the agent does not have it. */
  forget(step: Granted): void {
    const key = keyOf(step);
    this.#sinceHeartbeat.delete(key);
    this.#beforeHeartbeat.delete(key);
  }

  /** A heartbeat is to be compared with the store. */
  heard(): void {
    this.#beforeHeartbeat = this.#sinceHeartbeat;
    this.#sinceHeartbeat = new Set();
  }

  /** True for a step that was dispatched after the heartbeat before the newest one was heard. */
  has(step: Granted): boolean {
    const key = keyOf(step);
    return this.#sinceHeartbeat.has(key) || this.#beforeHeartbeat.has(key);
  }
}

function keyOf({ stepRunId, token }: Granted): string {
  return `${stepRunId}/${token}`;
}

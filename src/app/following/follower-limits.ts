/**
 * What one caller may have open on a node: connections of viewers, and subscriptions of any channel on all of them
 * together. A stream counts as a subscription.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { Caller } from "../identity/access.ts";
import { holderOf } from "../identity/holder.ts";

/** Enough for a page on every screen of a large team that shares one user. */
const CONNECTIONS = 2_000;
const SUBSCRIPTIONS = 5_000;
/** Of one connection: the subscriptions of all channels count together. */
export const SUBSCRIPTIONS_OF_CONNECTION = 500;

export interface FollowerBounds {
  readonly connections: number;
  readonly subscriptions: number;
}

interface Held {
  connections: number;
  subscriptions: number;
}

export class FollowerLimits {
  readonly #bounds: FollowerBounds;
  /** By user, or by token or agent for other callers. */
  readonly #held = new Map<string, Held>();

  constructor(bounds: Partial<FollowerBounds> = {}) {
    this.#bounds = { connections: CONNECTIONS, subscriptions: SUBSCRIPTIONS, ...bounds };
  }

  /** Throws `too_many` when the caller has as many connections as it may have. */
  requireConnection(caller: Caller): void {
    if ((this.#held.get(holderOf(caller))?.connections ?? 0) < this.#bounds.connections) return;
    throw tooMany(`a caller may have ${this.#bounds.connections} WebSockets open on a server: close some`);
  }

  /** Counts a connection. Answers the function that counts it out; a further call of that function has no effect. */
  connect(caller: Caller): () => void {
    return this.#take(holderOf(caller), "connections");
  }

  /** The same for a subscription or a stream. Throws `too_many` beyond the bound. */
  subscribe(caller: Caller): () => void {
    const holder = holderOf(caller);
    if ((this.#held.get(holder)?.subscriptions ?? 0) >= this.#bounds.subscriptions) {
      throw tooMany(
        `a caller may have ${this.#bounds.subscriptions} subscriptions and streams on a server: end some of them`,
      );
    }
    return this.#take(holder, "subscriptions");
  }

  #take(holder: string, what: keyof Held): () => void {
    const held = this.#held.get(holder) ?? { connections: 0, subscriptions: 0 };
    this.#held.set(holder, held);
    held[what]++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      held[what]--;
      if (held.connections + held.subscriptions === 0 && this.#held.get(holder) === held) this.#held.delete(holder);
    };
  }
}

const tooMany = (text: string) => new MillraceError("too_many", text);

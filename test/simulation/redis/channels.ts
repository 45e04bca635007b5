/** Publish and subscribe in a simulated Redis. Every subscriber gets the messages in the order in which they were published. */

export interface Subscriber {
  readonly receive: (payload: unknown) => void;
}

export class Channels {
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  subscribe(channel: string, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(channel) ?? new Set();
    this.#subscribers.set(channel, subscribers.add(subscriber));
  }

  unsubscribe(channel: string, subscriber: Subscriber): void {
    this.#subscribers.get(channel)?.delete(subscriber);
  }

  publish(channel: string, payload: unknown): void {
    for (const { receive } of this.#subscribers.get(channel) ?? []) receive(payload);
  }
}

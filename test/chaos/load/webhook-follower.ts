/**
 * A receiver of webhooks beside the load: it refuses its first requests, and remembers each event that it is told. What it has
 * been told in the end is compared with the events that the database holds.
 */
import { until } from "../../support/until.ts";
import { startReceiver, type TestReceiver } from "../../support/receiver.ts";
import type { RunEvidence, Violation } from "../check/evidence.ts";
import type { Client } from "./client.ts";

/** They are tried again some seconds later. */
const REFUSED = 20;

export class WebhookFollower {
  readonly #receiver: TestReceiver;
  /** What each event said, by its run and number, the same in each repeat. */
  readonly #told = new Map<string, Set<string>>();
  #requests = 0;

  private constructor(receiver: TestReceiver) {
    this.#receiver = receiver;
    receiver.answer = ({ body }) => {
      // Neither bodies nor headers of thousands of requests are kept.
      receiver.received.length = 0;
      if (++this.#requests <= REFUSED) return { status: 503 };
      const { type, data } = JSON.parse(body) as {
        readonly type: string;
        readonly data: { readonly runId: string; readonly number: number; readonly status: string };
      };
      const key = keyOf(data.runId, data.number);
      this.#told.set(key, (this.#told.get(key) ?? new Set()).add(`${type} ${data.status}`));
      return { status: 204 };
    };
  }

  /** Asks to be told all events of the default project. */
  static async start(client: Client): Promise<WebhookFollower> {
    const receiver = await startReceiver();
    await client.call("POST", "/projects/default/webhooks", { url: receiver.url, ordered: true });
    return new WebhookFollower(receiver);
  }

  get requests(): number {
    return this.#requests;
  }

  /** Waits until each event of these runs was told, at most `withinMs`. */
  async caughtUp(runs: readonly RunEvidence[], withinMs: number): Promise<void> {
    const isTold = (): boolean =>
      runs.every(({ runId, events }) => events.every(({ number }) => this.#told.has(keyOf(runId, number))));
    await until("the receiver was told all events", isTold, withinMs).catch(() => {});
  }

  violations(runs: readonly RunEvidence[]): readonly Violation[] {
    return compareTold(this.#told, runs);
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}

/** Events that were stored and not told, and events that were told otherwise than they are stored, or are not stored. */
export function compareTold(
  told: ReadonlyMap<string, ReadonlySet<string>>,
  runs: readonly Pick<RunEvidence, "runId" | "events">[],
): readonly Violation[] {
  const found: Violation[] = [];
  const known = new Map(
    runs.map(({ runId, events }) => [runId, new Map(events.map((event) => [event.number, event]))]),
  );
  for (const [runId, events] of known) {
    for (const number of events.keys()) {
      if (!told.has(keyOf(runId, number)))
        found.push({ kind: "lost", text: `the receiver of a webhook was never told event ${number} of ${runId}` });
    }
  }
  for (const [key, said] of told) {
    const [runId, number] = key.split("/") as [string, string];
    const events = known.get(runId);
    // Runs of the attackers are removed.
    if (events === undefined) continue;
    const event = events.get(Number(number));
    const stored = event && `svc.${event.object}.${event.lifecycle} ${event.status}`;
    if (said.size === 1 && stored !== undefined && said.has(stored)) continue;
    found.push({ kind: "wrong", text: `a webhook told ${[...said].join(" and ")} of ${key}; stored is ${stored}` });
  }
  return found;
}

function keyOf(runId: string, number: number): string {
  return `${runId}/${number}`;
}

/**
 * A receiver of webhooks or of notifications beside the load: it refuses its first requests, and remembers each event that it is
 * told. What it has been told in the end is compared with the events that the database holds.
 */
import { until } from "../../support/until.ts";
import { startReceiver, type TestReceiver } from "../../support/receiver.ts";
import type { RunEvidence, Violation } from "../check/evidence.ts";
import type { Client } from "./client.ts";

/**
 * How many events are refused at first, each of them once: they are tried again some seconds later. An event that fails a few times
 * more is tried again after minutes, which is later than the judge waits.
 */
const REFUSED = 20;

type StoredEvent = RunEvidence["events"][number];

interface ToldEvent {
  readonly type: string;
  readonly data: { readonly runId: string; readonly number: number; readonly status: string };
}

/** What a receiver is told of an event. */
export interface Telling {
  readonly who: string;
  wordsOf(told: ToldEvent): string;
  /** The words for an event that must be told; undefined for one that must not. */
  expected(stored: Pick<StoredEvent, "object" | "lifecycle" | "status">): string | undefined;
}

export const WEBHOOK: Telling = {
  who: "a webhook",
  wordsOf: ({ type, data }) => `${type} ${data.status}`,
  expected: ({ object, lifecycle, status }) => `svc.${object}.${lifecycle} ${status}`,
};

const REASONS: Readonly<Record<string, string>> = {
  success: "success",
  failed: "failure",
  partial: "partial",
  cancelled: "cancelled",
};

/** Told the ends of runs, and the approvals that they ask for. */
export const NOTIFICATION: Telling = {
  who: "a notification",
  wordsOf: ({ type }) => type,
  expected({ object, lifecycle, status }) {
    if (object === "approval" && lifecycle === "requested") return "svc.notification.approval";
    const isEnd = object === "pipeline" && ["completed", "failed", "cancelled"].includes(lifecycle);
    return isEnd ? `svc.notification.${REASONS[status]}` : undefined;
  },
};

export class ToldFollower {
  readonly #receiver: TestReceiver;
  readonly #telling: Telling;
  /** What each event said, by its run and number, the same in each repeat. */
  readonly #told = new Map<string, Set<string>>();
  #requests = 0;
  readonly #refused = new Set<string>();

  private constructor(receiver: TestReceiver, telling: Telling) {
    this.#receiver = receiver;
    this.#telling = telling;
    receiver.answer = ({ body }) => {
      // Neither bodies nor headers of thousands of requests are kept.
      receiver.received.length = 0;
      this.#requests++;
      const told = JSON.parse(body) as ToldEvent;
      const key = keyOf(told.data.runId, told.data.number);
      if (this.#refused.size < REFUSED && !this.#refused.has(key)) {
        this.#refused.add(key);
        return { status: 503 };
      }
      this.#told.set(key, (this.#told.get(key) ?? new Set()).add(telling.wordsOf(told)));
      return { status: 204 };
    };
  }

  /** Asks to be told all events of the default project. */
  static async ofWebhook(client: Client): Promise<ToldFollower> {
    const receiver = await startReceiver();
    await client.call("POST", "/projects/default/webhooks", { url: receiver.url, ordered: true });
    return new ToldFollower(receiver, WEBHOOK);
  }

  static async ofNotifications(): Promise<ToldFollower> {
    return new ToldFollower(await startReceiver(), NOTIFICATION);
  }

  /** The `notify` of a pipeline whose runs tell this receiver. */
  get notify(): readonly object[] {
    return [{ on: [...Object.values(REASONS), "approval"], webhook: { url: this.#receiver.url } }];
  }

  /** Waits until each event of these runs was told, at most `withinMs`. Answers a figure of the report. */
  async caughtUp(runs: readonly RunEvidence[], withinMs: number): Promise<string> {
    const since = performance.now();
    const { who, expected } = this.#telling;
    const isTold = (): boolean =>
      runs.every(({ runId, events }) =>
        events.every((event) => expected(event) === undefined || this.#told.has(keyOf(runId, event.number))),
      );
    await until("the receiver was told all events", isTold, withinMs).catch(() => {});
    const tookMs = Math.round(performance.now() - since);
    return `the receiver of ${who} got ${this.#requests} requests; the last ones came ${tookMs} ms after the look`;
  }

  violations(runs: readonly RunEvidence[]): readonly Violation[] {
    return compareTold(this.#told, runs, this.#telling);
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}

/** Events that were stored and not told, and events that were told otherwise than they are stored, or are not stored. */
export function compareTold(
  told: ReadonlyMap<string, ReadonlySet<string>>,
  runs: readonly Pick<RunEvidence, "runId" | "events">[],
  { who, expected }: Telling,
): readonly Violation[] {
  const found: Violation[] = [];
  const known = new Map(
    runs.map(({ runId, events }) => [runId, new Map(events.map((event) => [event.number, expected(event)]))]),
  );
  for (const [runId, events] of known) {
    for (const [number, words] of events) {
      if (words !== undefined && !told.has(keyOf(runId, number)))
        found.push({ kind: "lost", text: `the receiver of ${who} was never told event ${number} of ${runId}` });
    }
  }
  for (const [key, said] of told) {
    const [runId, number] = key.split("/") as [string, string];
    const events = known.get(runId);
    // Runs of the attackers are removed.
    if (events === undefined) continue;
    const stored = events.get(Number(number));
    if (said.size === 1 && stored !== undefined && said.has(stored)) continue;
    found.push({ kind: "wrong", text: `${who} told ${[...said].join(" and ")} of ${key}; stored is ${stored}` });
  }
  return found;
}

function keyOf(runId: string, number: number): string {
  return `${runId}/${number}`;
}

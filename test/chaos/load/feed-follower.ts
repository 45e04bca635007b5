/**
 * A viewer of the whole installation beside the load. Over one WebSocket it follows the state of all runs, and the events of
 * some of them. When its edge dies, it connects to another one and resumes. What it has seen in the end is compared with
 * what the database holds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { until } from "../../support/until.ts";
import { FINAL_RUN_STATUSES, type RunStatus } from "../../../src/domain/status.ts";
import type { RunEvidence, Violation } from "../check/evidence.ts";
import type { Client } from "./client.ts";

/** Runs whose events are followed: the first ones that the viewer hears of. */
const FOLLOWED = 60;
const RECONNECT_MS = 100;

interface Message {
  readonly channel: string;
  readonly type: string;
  readonly params: { readonly runId?: string };
  readonly after?: string;
  readonly error?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the data of each type differ
  readonly data: any;
}

/** What the viewer believes that a run is. */
export interface SeenState {
  readonly status: RunStatus;
  readonly eventNumber: number;
}

export interface SeenEvent {
  readonly number: number;
  readonly eventType: string;
  readonly status: string;
}

/** What a viewer has seen of all runs. */
export interface Seen {
  readonly states: ReadonlyMap<string, SeenState>;
  readonly events: ReadonlyMap<string, readonly SeenEvent[]>;
  /** States that were older than the one before, as sentences. */
  readonly wentBack: readonly string[];
}

export class FeedFollower {
  readonly #client: Client;
  readonly #states = new Map<string, SeenState>();
  readonly #events = new Map<string, SeenEvent[]>();
  readonly #wentBack: string[] = [];
  readonly #refused: string[] = [];
  #after: string | undefined;
  #socket: WebSocket | undefined;
  #connections = 0;
  #isClosed = false;

  private constructor(client: Client) {
    this.#client = client;
    void this.#follow();
  }

  static start(client: Client): FeedFollower {
    return new FeedFollower(client);
  }

  get figure(): string {
    const events = [...this.#events.values()].reduce((sum, { length }) => sum + length, 0);
    return `a viewer saw ${events} events of ${this.#events.size} runs over ${this.#connections} connections`;
  }

  /** Waits until the viewer has everything of these runs, at most `withinMs`. */
  async caughtUp(runs: readonly RunEvidence[], withinMs: number): Promise<void> {
    await until("the viewer has all", () => this.violations(runs).length === 0, withinMs).catch(() => {});
  }

  violations(runs: readonly RunEvidence[]): readonly Violation[] {
    const refused = this.#refused.map((text): Violation => ({ kind: "wrong", text: `a viewer was refused: ${text}` }));
    return [...refused, ...compareSeen({ states: this.#states, events: this.#events, wentBack: this.#wentBack }, runs)];
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.terminate();
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      await this.#listen().catch(() => undefined);
      await sleep(RECONNECT_MS);
    }
  }

  /** Resolves when the connection is lost. */
  #listen(): Promise<void> {
    const socket = new WebSocket(`${this.#client.anyUrl().replace("http", "ws")}/api/v1/ws`, {
      headers: { authorization: this.#client.authorization },
      handshakeTimeout: 5_000,
    });
    this.#socket = socket;
    socket.on("open", () => {
      this.#connections++;
      const after = this.#after === undefined ? {} : { after: this.#after };
      socket.send(JSON.stringify({ channel: "channel_runs", params: after }));
      for (const runId of this.#events.keys()) this.#subscribe(runId);
    });
    socket.on("message", (text: Buffer) => this.#take(JSON.parse(text.toString()) as Message));
    return new Promise((resolve, reject) => socket.on("close", resolve).on("error", reject));
  }

  #subscribe(runId: string): void {
    const after = String(this.#events.get(runId)!.at(-1)?.number ?? 0);
    this.#socket!.send(JSON.stringify({ channel: "channel_run", params: { runId, after } }));
  }

  #take({ channel, type, params, after, data, error }: Message): void {
    // An edge that cannot reach the store says so, and the viewer asks another one.
    if (type === "error") {
      if (/cannot be reached|again later|try again/i.test(error ?? "")) this.#socket!.terminate();
      else this.#refused.push(error ?? "");
    } else if (channel === "channel_runs") {
      this.#after = after ?? this.#after;
      this.#takeState(type, data);
    } else if (type === "event") {
      const { eventNumber: number, eventType, status } = data;
      this.#events.get(params.runId!)!.push({ number, eventType, status });
    }
  }

  #takeState(type: string, data: SeenState & { readonly runId: string }): void {
    if (type === "reset") this.#states.clear();
    if (type === "removed") this.#states.delete(data.runId);
    if (type !== "run") return;
    const { runId, status, eventNumber } = data;
    const before = this.#states.get(runId);
    if (before !== undefined && before.eventNumber > eventNumber) {
      this.#wentBack.push(`of ${runId} a viewer saw the state of event ${eventNumber} behind ${before.eventNumber}`);
    }
    this.#states.set(runId, { status, eventNumber });
    if (this.#events.has(runId) || this.#events.size >= FOLLOWED) return;
    this.#events.set(runId, []);
    this.#subscribe(runId);
  }
}

/** What a viewer believes of runs that is not stored, and events that it missed, saw twice, or saw otherwise. */
export function compareSeen(
  { states, events, wentBack }: Seen,
  runs: readonly Pick<RunEvidence, "runId" | "status" | "events">[],
): readonly Violation[] {
  const found: Violation[] = wentBack.map((text) => ({ kind: "wrong", text }));
  for (const { runId, status, events: stored } of runs) {
    const seen = states.get(runId);
    // A run that has ended need not be told to a viewer who begins afresh.
    if (seen !== undefined && FINAL_RUN_STATUSES.includes(status) && seen.status !== status) {
      found.push({
        kind: "wrong",
        text: `a viewer of all runs believes that ${runId} is ${seen.status}: it is ${status}`,
      });
    }
    const numbers = events.get(runId);
    if (numbers === undefined) continue;
    for (const [at, event] of stored.entries()) {
      const told = numbers[at];
      const is = `svc.${event.object}.${event.lifecycle} ${event.status}`;
      if (told === undefined)
        found.push({ kind: "lost", text: `a viewer never saw event ${event.number} of ${runId}` });
      else if (told.number !== event.number || `${told.eventType} ${told.status}` !== is) {
        found.push({
          kind: "wrong",
          text: `as event ${event.number} of ${runId}, ${is}, a viewer saw ${JSON.stringify(told)}`,
        });
      }
    }
    if (numbers.length > stored.length) {
      found.push({
        kind: "wrong",
        text: `a viewer saw ${numbers.length} events of ${runId}, which has ${stored.length}`,
      });
    }
  }
  return found;
}

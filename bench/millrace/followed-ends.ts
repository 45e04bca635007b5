/**
 * The ends of an installation's runs, as the feed of all runs tells them over one WebSocket. The other systems of the
 * benchmark send a message at each end too.
 */
import { until } from "../../test/support/until.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { FINAL_RUN_STATUSES, type RunStatus } from "../../src/domain/status.ts";
import { openRawSocket, type RawSocket } from "../viewers/raw-socket.ts";
import { type Installation, TOKEN } from "./installation.ts";
import { END_TIMEOUT_MS, type RunEnds } from "./run-ends.ts";

interface Message {
  readonly type: string;
  readonly error?: string;
  readonly data: { readonly runId: string; readonly status: RunStatus } | null;
}

interface Waiter {
  readonly resolve: (status: RunStatus) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class FollowedEnds implements RunEnds {
  readonly #installation: Pick<Installation, "http">;
  /** Ends that came before they were waited for. */
  readonly #ended = new Map<string, RunStatus>();
  readonly #waiters = new Map<string, Waiter>();
  #socket: Promise<RawSocket> | undefined;

  constructor(installation: Pick<Installation, "http">) {
    this.#installation = installation;
  }

  async follow(): Promise<void> {
    await (this.#socket ??= this.#open());
  }

  of(runId: RunId): Promise<RunStatus> {
    const known = this.#ended.get(runId);
    this.#ended.delete(runId);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const late = new Error(`the run ${runId} did not end within ${END_TIMEOUT_MS} ms`);
      const timer = setTimeout(() => this.#fail(runId, late), END_TIMEOUT_MS);
      this.#waiters.set(runId, { resolve, reject, timer });
    });
  }

  async #open(): Promise<RawSocket> {
    let isCaughtUp = false;
    let refusal: string | undefined;
    const message = (text: Buffer): void => {
      const { type, error, data } = JSON.parse(text.toString()) as Message;
      if (type === "error") refusal = error ?? "";
      else if (type === "caughtUp") isCaughtUp = true;
      else if (type === "run") this.#take(data!.runId, data!.status);
    };
    const socket = await openRawSocket(`http://${this.#installation.http}/api/v1/ws`, TOKEN, {
      message,
      close: () => this.#lose(),
    });
    const status = FINAL_RUN_STATUSES.join(",");
    socket.send(JSON.stringify({ channel: "channel_runs", params: { status } }));
    await until("the feed of runs", () => isCaughtUp || refusal !== undefined);
    if (refusal !== undefined) throw new Error(`the feed of runs was refused: ${refusal}`);
    return socket;
  }

  /** The node was stopped or killed. */
  #lose(): void {
    this.#socket = undefined;
    for (const runId of this.#waiters.keys()) this.#fail(runId, new Error(`the feed of runs ended before ${runId}`));
  }

  #take(runId: string, status: RunStatus): void {
    if (!FINAL_RUN_STATUSES.includes(status)) return;
    const waiter = this.#remove(runId);
    if (waiter === undefined) this.#ended.set(runId, status);
    else waiter.resolve(status);
  }

  #fail(runId: string, error: Error): void {
    this.#remove(runId)?.reject(error);
  }

  #remove(runId: string): Waiter | undefined {
    const waiter = this.#waiters.get(runId);
    this.#waiters.delete(runId);
    clearTimeout(waiter?.timer);
    return waiter;
  }
}

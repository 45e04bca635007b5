/** One viewer's connection: its requests, its subscriptions, and the messages that each subscription sends. */
import type { RawData, WebSocket } from "ws";
import type { Caller } from "../app/identity/access.ts";
import type { AppContext } from "../app/context.ts";
import { publicError } from "../app/envelope.ts";
import { followLog } from "../app/following/log-updates.ts";
import { followStepStatus, type StepStatusUpdate } from "../app/following/step-status-updates.ts";
import { statusEvent } from "../app/events/cloud-event.ts";
import { SUBSCRIPTIONS_OF_CONNECTION } from "../app/following/follower-limits.ts";
import type { Followers } from "../app/following/followers.ts";
import type { LocatedStepRun, StepRunFinder } from "../app/step-runs.ts";
import { MillraceError } from "../domain/errors.ts";
import type { OutgoingBudget } from "../app/outgoing-budget.ts";
import { loopShare } from "../app/loop-share.ts";
import { type FrameStyle, frameStyle, type LogFrames } from "./log-frames.ts";
import {
  type ClientMessage,
  type Echo,
  type LiveRequestMessage,
  liveText,
  readMessage,
  type StepMessage,
} from "./messages.ts";
import { ViewerSender, type ViewerSocket } from "./viewer-sender.ts";

/** Once this many requests wait to be handled, the socket is not read until one of them is done. */
const MAX_WAITING_REQUESTS = 16;

/** What the viewers of one process share: what one of them has read or rendered serves the others too. */
export interface SharedParts {
  readonly followers: Followers;
  readonly frames: LogFrames;
  readonly steps: StepRunFinder;
  readonly budget: OutgoingBudget;
}

interface Subscription {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

export class Viewer {
  readonly #context: AppContext;
  readonly #shared: SharedParts;
  readonly #caller: Caller;
  readonly #socket: WebSocket;
  readonly #sender: ViewerSender;
  readonly #subscriptions = new Map<string, Subscription>();
  #handled: Promise<void> = Promise.resolve();
  #waitingRequests = 0;

  constructor(context: AppContext, shared: SharedParts, caller: Caller, viewerSocket: ViewerSocket, stallMs: number) {
    const { socket } = viewerSocket;
    this.#context = context;
    this.#shared = shared;
    this.#caller = caller;
    this.#socket = socket;
    this.#sender = new ViewerSender(viewerSocket, { stallMs, budget: shared.budget }, context);
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    socket.on("close", () => {
      for (const { abort } of this.#subscriptions.values()) abort.abort();
    });
  }

  /** The number of live subscriptions. */
  get size(): number {
    return this.#subscriptions.size;
  }

  /** Requests are handled one after the other, so that an unsubscribe cannot overtake its subscribe. */
  #receive(data: RawData, isBinary: boolean): void {
    const text = isBinary ? "" : data.toString();
    if (++this.#waitingRequests >= MAX_WAITING_REQUESTS) this.#socket.pause();
    this.#handled = this.#handled.then(async () => {
      await this.#handle(text);
      if (--this.#waitingRequests < MAX_WAITING_REQUESTS) this.#socket.resume();
    });
  }

  async #handle(text: string): Promise<void> {
    // A socket has one request in hand. Those of all sockets take turns with each other and with the rest of the node.
    await loopShare.enter();
    const { echo, message } = readMessage(text);
    try {
      if (message instanceof MillraceError) throw message;
      if (message.action === "unsubscribe") await this.#unsubscribe(message, echo);
      else await this.#subscribe(message, echo);
    } catch (error) {
      this.#sendError(echo, error);
    }
  }

  /** A second subscription to the same thing replaces the first. */
  async #subscribe(message: ClientMessage, echo: Echo): Promise<void> {
    const { key } = message;
    await this.#end(key);
    if (this.#subscriptions.size >= SUBSCRIPTIONS_OF_CONNECTION) {
      throw new MillraceError(
        "too_large",
        `a connection may have ${SUBSCRIPTIONS_OF_CONNECTION} subscriptions: open another one`,
      );
    }
    const flow =
      typeof message.channel === "string"
        ? await this.#stepFlow(message as StepMessage, echo)
        : (abort: AbortSignal) => this.#flowLive(message as LiveRequestMessage, echo, abort);
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const leave = this.#shared.followers.limits.subscribe(this.#caller);
    const abort = new AbortController();
    const subscription: Subscription = {
      abort,
      ended: flow(abort.signal)
        .catch((error: unknown) => {
          if (!abort.signal.aborted) this.#sendError(echo, error);
        })
        .finally(() => {
          leave();
          if (this.#subscriptions.get(key) === subscription) this.#subscriptions.delete(key);
        }),
    };
    this.#subscriptions.set(key, subscription);
  }

  async #stepFlow(message: StepMessage, echo: Echo): Promise<(abort: AbortSignal) => Promise<void>> {
    const isLog = message.channel === "channel_log";
    const operation = isLog ? "readLogs" : "readEvents";
    const located = await this.#shared.steps.locate(this.#caller, operation, message.name);
    return (abort) =>
      isLog ? this.#flowLog(message, echo, located, abort) : this.#flowStatus(message, echo, located, abort);
  }

  async #unsubscribe({ key }: ClientMessage, echo: Echo): Promise<void> {
    await this.#end(key);
    this.#sender.send({ ...echo, type: "unsubscribed", data: null });
  }

  /** Once this resolves, the subscription sends nothing more. */
  async #end(key: string): Promise<void> {
    const subscription = this.#subscriptions.get(key);
    subscription?.abort.abort();
    await subscription?.ended;
  }

  async #flowLog(message: StepMessage, echo: Echo, located: LocatedStepRun, abort: AbortSignal): Promise<void> {
    const { uses, logOf } = located;
    const { stepRunId } = message.name;
    this.#sender.send({ ...echo, type: "subscribed", data: null });
    const { followers, frames } = this.#shared;
    const request = { stepRunId: logOf, fromLine: message.fromLine, pages: followers.logPages, abort };
    let style: FrameStyle | undefined;
    let styled: string | undefined;
    for await (const update of followLog(this.#context, request)) {
      if (abort.aborted) return;
      if (update.type === "historyDone") {
        this.#sender.send({ ...echo, type: "history_done", data: null });
      } else {
        await loopShare.enter();
        if (abort.aborted) return;
        const { type, agentId } = update;
        if (style === undefined || styled !== `${type} ${agentId}`) {
          styled = `${type} ${agentId}`;
          style = frameStyle(type === "history" ? "log_chunk" : "log", { stepRunId, agentId, uses }, echo);
        }
        this.#sender.sendFrames(frames.of(update.lines, style));
      }
      if (!(await this.#sender.waitForRoom(abort))) return;
    }
  }

  async #flowStatus(message: StepMessage, echo: Echo, { runId }: LocatedStepRun, abort: AbortSignal): Promise<void> {
    const { stepRunId } = message.name;
    for await (const update of followStepStatus(this.#context, this.#shared.followers.runEvents, {
      runId,
      stepRunId,
      abort,
    })) {
      if (abort.aborted) return;
      this.#sendStatus(update, echo);
      if (!(await this.#sender.waitForRoom(abort))) return;
    }
  }

  async #flowLive({ channel, params }: LiveRequestMessage, echo: Echo, abort: AbortSignal): Promise<void> {
    for await (const message of channel.follow(this.#shared.followers, this.#caller, { params, abort })) {
      if (abort.aborted) return;
      this.#sender.sendText(liveText(echo, message));
      if (!(await this.#sender.waitForRoom(abort))) return;
    }
  }

  #sendStatus(update: StepStatusUpdate, echo: Echo): void {
    if (update.type === "snapshot") this.#sender.send({ ...echo, type: "status_snapshot", data: update.snapshot });
    else this.#sender.send({ ...echo, type: "status", data: statusEvent(update.event, this.#context.eventNamespace) });
  }

  #sendError(echo: Echo, thrown: unknown): void {
    const { message } = publicError(thrown, "try again, or tell an administrator when it happened", (internal) =>
      this.#context.log.error({ ...echo, error: String(internal) }, "a viewer's request failed"),
    );
    this.#sender.send({ ...echo, type: "error", data: null, error: message });
  }
}

/**
 * Answers that go on: event streams of the HTML standard (`text/event-stream`). An answer is written only as fast as its
 * caller reads. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { publicError } from "../../app/envelope.ts";
import type { LiveMessage } from "../../app/following/live-channel.ts";
import type { FollowerLimits } from "../../app/following/follower-limits.ts";
import { loopShare } from "../../app/loop-share.ts";
import type { Caller } from "../../app/identity/access.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { RouteContext } from "../request/state.ts";

export const EVENT_STREAM = "text/event-stream";
/** Proxies end a connection on which nothing comes for long. */
const COMMENT_MS = 15_000;
/** A browser connects again after this time. */
const RETRY_MS = 1_000;
const MAX_ID_CHARS = 200;

/** The open event streams of an edge. */
export class EventStreams {
  readonly #log: Logger;
  readonly #limits: FollowerLimits;
  readonly #open = new Set<AbortController>();

  constructor({ log }: { readonly log: Logger }, limits: FollowerLimits) {
    this.#log = log;
    this.#limits = limits;
  }

  /**
   * Answers with the messages that `follow` makes. What it throws before the first message is the error of the call; a
   * stream whose first message is `ended` is answered with 204, on which a browser does not connect again. An error in
   * the middle of the stream is a message `failed`, and ends the answer. Throws `too_many`.
   */
  async answer(
    ctx: RouteContext,
    caller: Caller,
    follow: (abort: AbortSignal) => AsyncGenerator<LiveMessage, void, void>,
  ): Promise<void> {
    await loopShare.enter();
    const leave = this.#limits.subscribe(caller);
    const over = new AbortController();
    this.#open.add(over);
    const end = (): void => {
      over.abort();
      this.#open.delete(over);
      leave();
    };
    ctx.res.once("close", end);
    if (ctx.res.closed) end();
    try {
      const messages = follow(over.signal);
      const first = await messages.next();
      if (first.done === true || first.value.type === "ended") {
        end();
        ctx.status = 204;
        return;
      }
      ctx.set("Content-Type", EVENT_STREAM);
      // A proxy that collects an answer before it passes it on would delay the messages.
      ctx.set("X-Accel-Buffering", "no");
      const body = new PassThrough();
      ctx.body = body;
      body.write(`retry: ${RETRY_MS}\n\n`);
      void this.#write(body, first.value, messages, over.signal).finally(end);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Ends every stream, so that the callers connect to another node. */
  endAll(): void {
    for (const over of this.#open) over.abort();
  }

  async #write(
    body: PassThrough,
    first: LiveMessage,
    messages: AsyncGenerator<LiveMessage, void, void>,
    over: AbortSignal,
  ): Promise<void> {
    const timer = setInterval(() => {
      if (body.writableLength === 0) body.write(": \n\n");
    }, COMMENT_MS);
    timer.unref();
    try {
      body.write(eventText(first));
      for await (const message of messages) {
        if (over.aborted) break;
        timer.refresh();
        if (!body.write(eventText(message))) await once(body, "drain", { signal: over });
      }
    } catch (error) {
      if (!over.aborted) body.write(eventText(this.#failure(error)));
    } finally {
      clearInterval(timer);
      body.end();
    }
  }

  #failure(thrown: unknown): LiveMessage {
    const { reason, message } = publicError(thrown, "connect again, or tell an administrator", (internal) =>
      this.#log.error({ error: String(internal) }, "an event stream failed"),
    );
    return { type: "failed", json: JSON.stringify({ reason, errMsg: message }), after: null };
  }
}

/** The value with which a caller goes on: that of the last message that the browser has got, or that of the address. */
export function resumeAt(ctx: RouteContext): string | undefined {
  const id = ctx.get("last-event-id");
  if (id.length > MAX_ID_CHARS) throw new MillraceError("malformed_request", "the header Last-Event-ID is too long");
  return id === "" ? undefined : id;
}

/** JSON text has no line feed inside, so that each message has one line of data. */
function eventText({ type, json, after }: LiveMessage): string {
  return `${after === null ? "" : `id: ${after}\n`}event: ${type}\ndata: ${json}\n\n`;
}

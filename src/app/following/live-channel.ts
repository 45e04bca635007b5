/**
 * Live channels: what a client can follow, apart from any protocol. The WebSocket and the event streams of HTTP are two
 * encodings of the same messages, so that a channel is written once.
 */
import { z } from "zod";
import type { Caller } from "../identity/access.ts";
import type { Followers } from "./followers.ts";

export interface LiveMessage {
  readonly type: string;
  /** The data of the message as JSON text: viewers of one object share it. */
  readonly json: string;
  /** With this `after`, a client goes on behind the message. Null for a message behind which no client can go on. */
  readonly after: string | null;
}

export interface LiveRequest<P> {
  readonly params: P;
  readonly abort: AbortSignal;
}

export interface LiveChannel<S extends z.ZodObject = z.ZodObject> {
  /** `channel_<name>` over WebSocket, `/live/<name>` over HTTP. */
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  /** Every value is a short text: the WebSocket repeats them in every message. `after` is one of them. */
  readonly params: S;
  /**
   * The first message comes at once. Ends behind a message `ended` when nothing more can follow, and else only with
   * `abort`. Throws `not_found` and `forbidden` before the first message.
   */
  follow(
    followers: Followers,
    caller: Caller,
    request: LiveRequest<z.output<S>>,
  ): AsyncGenerator<LiveMessage, void, void>;
}

/** Declares a channel whose parameters have the types of its shape. */
export function liveChannel<S extends z.ZodObject>(channel: LiveChannel<S>): LiveChannel {
  return channel as unknown as LiveChannel;
}

export const SUBSCRIBED: LiveMessage = { type: "subscribed", json: "null", after: null };
export const ENDED: LiveMessage = { type: "ended", json: "null", after: null };

/** An id among the parameters of a channel. */
export const idParam = z.string().min(1).max(64);
/** `after` of a state feed. Opaque. */
export const revisionParam = z.string().max(100);
/** `after` of a channel whose messages have numbers: over WebSocket it may be a number too. */
export const afterNumber = z
  .union([z.string().regex(/^\d{1,15}$/, "must be a whole number"), z.int().min(0)])
  .transform(Number)
  .meta({ type: "integer", minimum: 0 });

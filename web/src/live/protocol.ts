/** Texts of the WebSocket: what a subscription is called, and how it goes on after a lost connection. Pure. */

export type Params = Readonly<Record<string, string | number>>;

export interface LiveRequest {
  /** For example `channel_run`; docs/live.md lists them. */
  readonly channel: string;
  readonly params: Params;
}

/** A message of the server. */
export interface LiveMessage {
  readonly channel: string;
  readonly params: Params;
  readonly type: string;
  /** The place behind this message. */
  readonly after?: string;
  readonly data?: unknown;
  readonly error?: string;
}

/** The parameters that say where a subscription begins; they are no part of its name. */
const PLACES = new Set(["after", "fromLine"]);

/** The name that a request and all its answers share. */
export function nameOf({ channel, params }: LiveRequest): string {
  const rest = Object.entries(params).filter(([key]) => !PLACES.has(key));
  return JSON.stringify([
    channel,
    rest.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, `${value}`]),
  ]);
}

/** True when both have the same {@link nameOf}, which costs more: a log that runs quickly has thousands of messages. */
export function isAbout(message: LiveRequest, request: LiveRequest): boolean {
  if (message.channel !== request.channel) return false;
  let left = 0;
  for (const key of Object.keys(request.params)) if (!PLACES.has(key)) left++;
  for (const key of Object.keys(message.params)) {
    if (PLACES.has(key)) continue;
    if (`${message.params[key]}` !== `${request.params[key]}`) return false;
    left--;
  }
  return left === 0;
}

/** Where a subscription goes on. */
export interface Place {
  readonly after?: string;
  readonly fromLine?: number;
}

/** The place behind `message`, or the earlier one when the message has none. */
export function placeBehind(place: Place, message: LiveMessage): Place {
  if (message.after !== undefined) return { after: message.after };
  if (message.channel !== "channel_log") return place;
  const entries = Array.isArray(message.data) ? (message.data as readonly unknown[]) : [message.data];
  const last = entries.at(-1);
  const line = isEntry(last) ? last.line_number : undefined;
  return line === undefined ? place : { fromLine: line + 1 };
}

/** The text that subscribes to `request`, from `place` on. */
export function subscribeText({ channel, params }: LiveRequest, place: Place): string {
  return JSON.stringify({ channel, action: "subscribe", params: { ...params, ...place } });
}

export function unsubscribeText({ channel, params }: LiveRequest): string {
  const named = Object.fromEntries(Object.entries(params).filter(([key]) => !PLACES.has(key)));
  return JSON.stringify({ channel, action: "unsubscribe", params: named });
}

/** Undefined for what is no message of the server. */
export function readMessage(text: string): LiveMessage | undefined {
  const raw: unknown = JSON.parse(text);
  if (typeof raw !== "object" || raw === null || !("channel" in raw) || !("type" in raw)) return undefined;
  return raw as LiveMessage;
}

function isEntry(value: unknown): value is { readonly line_number: number } {
  return typeof value === "object" && value !== null && "line_number" in value && typeof value.line_number === "number";
}

/** Milliseconds until the next attempt: longer each time, up to 10 s, and never the same for all pages. */
export function retryAfterMs(attempt: number, random: number): number {
  return Math.min(10_000, 300 * 2 ** attempt) * (0.5 + random / 2);
}

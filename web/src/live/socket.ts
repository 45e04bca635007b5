/**
 * The one WebSocket of this page. Subscriptions outlive its connections: after a lost connection each goes on behind the
 * last message that it got.
 */
import { computed, signal } from "@preact/signals";
import { api } from "../api/client.ts";
import {
  isAbout,
  type LiveMessage,
  type LiveRequest,
  nameOf,
  type Place,
  placeBehind,
  readMessage,
  retryAfterMs,
  subscribeText,
  unsubscribeText,
} from "./protocol.ts";

export type { LiveMessage, LiveRequest } from "./protocol.ts";

export type Connection =
  /** Nothing is followed, so nothing is claimed. */
  | { readonly kind: "idle" }
  | { readonly kind: "live" }
  /** There is no connection, and the page shows what was so `seconds` ago. */
  | { readonly kind: "reconnecting"; readonly seconds: number }
  /** There is a connection, and the server has not told everything that happened meanwhile. */
  | { readonly kind: "behind"; readonly seconds: number };

interface Subscription {
  readonly request: LiveRequest;
  readonly listeners: Set<(message: LiveMessage) => void>;
  place: Place;
  /** True once the server has confirmed it on this connection. */
  isConfirmed: boolean;
}

/** The server answers this; it concerns nothing that is followed. A browser sends no pings of its own. */
const PROBE: LiveRequest = { channel: "channel_run", params: { runId: "probe" } };
const PROBE_EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 6_000;
/** A page that follows nothing any more keeps its connection for so long, because the next page follows something. */
const KEEP_MS = 5_000;
/** After so many refused connections the page asks whether its session is still valid. */
const ASK_AFTER = 2;

const subscriptions = new Map<string, Subscription>();
/** The subscription of the last message: the next one is most often about the same. */
let latest: Subscription | undefined;
let socket: WebSocket | undefined;
let attempt = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;
let heardAt = 0;

const phase = signal<"idle" | "live" | "reconnecting" | "behind">("idle");
/** When the page last knew everything. */
const knownAt = signal(Date.now());
const now = signal(Date.now());

/** What the sign of the page says. */
export const connection = computed<Connection>(() => {
  const kind = phase.value;
  if (kind === "idle" || kind === "live") return { kind };
  return { kind, seconds: Math.max(0, Math.round((now.value - knownAt.value) / 1_000)) };
});

setInterval(() => {
  if (phase.value === "live") knownAt.value = Date.now();
  else if (phase.value !== "idle") now.value = Date.now();
}, 1_000);
setInterval(probe, PROBE_EVERY_MS);
// A laptop that wakes up, or a network that comes back, does not wait for the next attempt.
addEventListener("online", () => {
  if (socket === undefined && subscriptions.size > 0) connect();
});
addEventListener("offline", probe);

/**
 * Follows a channel until the returned function is called. Listeners of the same request share one subscription; a
 * listener that joins later gets what comes from then on, so `onMessage` of a snapshot channel should be the only one.
 * Messages of the type `error` mean that the server refuses the subscription.
 */
export function subscribe(request: LiveRequest, onMessage: (message: LiveMessage) => void): () => void {
  const name = nameOf(request);
  let subscription = subscriptions.get(name);
  if (subscription === undefined) {
    subscription = { request, listeners: new Set(), place: {}, isConfirmed: false };
    subscriptions.set(name, subscription);
    send(subscribeText(request, {}));
  }
  subscription.listeners.add(onMessage);
  clearTimeout(idleTimer);
  if (socket === undefined) connect();
  else settle();
  const joined = subscription;
  return () => {
    joined.listeners.delete(onMessage);
    if (joined.listeners.size > 0 || subscriptions.get(name) !== joined) return;
    subscriptions.delete(name);
    if (latest === joined) latest = undefined;
    send(unsubscribeText(request));
    settle();
    if (subscriptions.size === 0) idleTimer = setTimeout(disconnect, KEEP_MS);
  };
}

function connect(): void {
  clearTimeout(retryTimer);
  const url = new URL("/api/v1/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const opened = new WebSocket(url, ["millrace.v1"]);
  socket = opened;
  if (phase.value === "idle") {
    knownAt.value = Date.now();
    phase.value = "behind";
  }
  opened.addEventListener("open", () => {
    attempt = 0;
    heardAt = Date.now();
    for (const { request, place } of subscriptions.values()) opened.send(subscribeText(request, place));
    settle();
  });
  opened.addEventListener("message", ({ data }) => {
    heardAt = Date.now();
    const message = readMessage(String(data));
    if (message !== undefined) take(message);
  });
  opened.addEventListener("close", () => {
    if (socket === opened) reconnect();
  });
}

function reconnect(): void {
  socket = undefined;
  for (const subscription of subscriptions.values()) subscription.isConfirmed = false;
  if (subscriptions.size === 0) {
    phase.value = "idle";
    return;
  }
  now.value = Date.now();
  phase.value = "reconnecting";
  // A browser does not tell why a connection was refused. The client leaves for the login when the session has ended.
  if (attempt >= ASK_AFTER) api.get("/whoami", { retries: 0 }).catch(() => {});
  retryTimer = setTimeout(connect, retryAfterMs(attempt++, Math.random()));
}

function disconnect(): void {
  const closed = socket;
  socket = undefined;
  phase.value = "idle";
  closed?.close(1_000);
}

function take(message: LiveMessage): void {
  const isSame = latest !== undefined && isAbout(message, latest.request);
  const subscription = isSame ? latest : subscriptions.get(nameOf(message));
  if (subscription === undefined) return;
  latest = subscription;
  if (!subscription.isConfirmed) {
    subscription.isConfirmed = true;
    settle();
  }
  subscription.place = placeBehind(subscription.place, message);
  for (const listener of subscription.listeners) listener(message);
}

function send(text: string): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
}

/** Says what the page knows now. */
function settle(): void {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const isComplete = [...subscriptions.values()].every(({ isConfirmed }) => isConfirmed);
  if (isComplete) knownAt.value = Date.now();
  else now.value = Date.now();
  phase.value = subscriptions.size === 0 ? "idle" : isComplete ? "live" : "behind";
}

/** A connection whose other end is gone tells nothing by itself: the page asks, and gives it up without an answer. */
function probe(): void {
  const asked = socket;
  if (asked?.readyState !== WebSocket.OPEN) return;
  const askedAt = Date.now();
  asked.send(unsubscribeText(PROBE));
  setTimeout(() => {
    if (socket !== asked || heardAt >= askedAt) return;
    reconnect();
    asked.close();
  }, ANSWER_WITHIN_MS);
}

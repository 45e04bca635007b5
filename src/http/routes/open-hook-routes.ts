/** The route that senders call: it needs no token, because each delivery proves its sender. */
import { hookToCall, MAX_BODY_BYTES, receiveDelivery, ReceivedShape } from "../../app/hooks/receive.ts";
import type { AppContext } from "../../app/context.ts";
import { MillraceError } from "../../domain/errors.ts";
import { CallCounter } from "../manners/rate-limits.ts";
import { discardRest, readBytes } from "../request/body-bytes.ts";
import type { RouteContext } from "../request/state.ts";
import { routesFor } from "../route.ts";

/** Bytes of all bodies that are in memory at the same time. */
const IN_MEMORY_BYTES = 8 * MAX_BODY_BYTES;
/** A body of unknown length counts as this. */
const UNKNOWN_BYTES = MAX_BODY_BYTES;

/** Of the body of a refused call, which may come from anybody, so much is read. */
const DISCARDED_BYTES = 256 * 1024;

/** What the calls of senders share on one edge. */
export class HookEdge {
  readonly context: AppContext;
  readonly clock: AppContext["clock"];
  #bytes = 0;
  /** By the limit, which few hooks have of their own. */
  readonly #counters = new Map<number, CallCounter>();

  constructor(context: AppContext) {
    this.context = context;
    this.clock = context.clock;
  }

  /** Throws `too_many` for a hook above its limit. */
  count(hookId: string, perMinute: number): void {
    const counter = this.#counters.get(perMinute) ?? new CallCounter(perMinute);
    this.#counters.set(perMinute, counter);
    const { isAllowed, seconds } = counter.take(hookId, this.clock.monotonic());
    if (isAllowed) return;
    throw new MillraceError("too_many", `the hook takes ${perMinute} deliveries a minute: wait ${seconds} s`, {
      retryAfterSeconds: seconds,
    });
  }

  /** Reads a body. Throws `unavailable` while too many others are in memory. */
  async holding<T>(length: string, work: () => Promise<T>): Promise<T> {
    const bytes = Math.min(length === "" ? UNKNOWN_BYTES : Number(length) || 0, MAX_BODY_BYTES);
    if (this.#bytes + bytes > IN_MEMORY_BYTES) {
      throw new MillraceError("unavailable", "too many large deliveries come at the same time: send it again");
    }
    this.#bytes += bytes;
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
    }
  }
}

const route = routesFor<HookEdge>("Hooks");

export const OPEN_HOOK_ROUTES = [
  route({
    method: "POST",
    path: "/hooks/:hookId",
    name: "receiveHookDelivery",
    about: "Takes a delivery of a sender: stores it, answers, and starts its runs afterwards.",
    bodyType: "application/json",
    answer: ReceivedShape,
    errors: ["not_found", "conflict", "unauthenticated"],
    isOpen: true,
    async handle(edge, { params, ctx }) {
      try {
        const hook = await hookToCall(edge.context, params.hookId);
        edge.count(hook.hookId, hook.perMinute);
        requireJson(ctx);
        const length = ctx.get("content-length");
        return await edge.holding(length, async () => {
          const body = await readBytes(ctx.req, length, MAX_BODY_BYTES);
          return receiveDelivery(edge.context, hook, { headers: ctx.headers, body });
        });
      } finally {
        // Of a refused call: its sender reads the answer only when the body is taken.
        if (!ctx.req.complete) discardRest(ctx.req, DISCARDED_BYTES);
      }
    },
  }),
];

function requireJson(ctx: RouteContext): void {
  if (typeof ctx.is("json", "+json") === "string") return;
  const text = "a hook takes JSON: choose the content type `application/json` at the sender";
  throw new MillraceError("unsupported_media_type", text);
}

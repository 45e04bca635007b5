/** Names, bounds and measures each request. */
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import { Histogram, type Registry } from "prom-client";
import type { AppContext } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RequestState } from "./state.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ANSWER_WITHIN_MS = 30_000;

/** Takes the caller's `x-request-id` or makes one, answers it, logs the request and counts its time by route. */
export function observeRequests(context: AppContext, registry: Registry): Middleware<RequestState> {
  const seconds = new Histogram({
    name: "millrace_http_request_seconds",
    help: "Time from the head of a request to its answer.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers: [registry],
  });
  return async (ctx, next) => {
    const given = ctx.get("x-request-id");
    ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
    ctx.set("x-request-id", ctx.state.requestId);
    const startedAt = context.clock.monotonic();
    await next();
    const elapsedMs = context.clock.monotonic() - startedAt;
    const { method, status } = ctx;
    // The pattern, never the path: ids and nonsense would make a series each.
    const route = String(ctx["_matchedRoute"] ?? "none");
    seconds.observe({ method, route, status }, elapsedMs / 1_000);
    context.log.debug({ requestId: ctx.state.requestId, method, path: ctx.path, status, elapsedMs }, "answered");
  };
}

/** Headers for answers that are data, never pages. */
export function secureAnswers(): Middleware<RequestState> {
  return async (ctx, next) => {
    ctx.set("X-Content-Type-Options", "nosniff");
    ctx.set("Cache-Control", "no-store");
    ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    ctx.set("Referrer-Policy", "no-referrer");
    await next();
  };
}

/** Throws `unavailable` when a request has no answer within 30 s; what it began may still be done. */
export function boundRequests(): Middleware<RequestState> {
  return async (_, next) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(lateAnswer()), ANSWER_WITHIN_MS);
    });
    try {
      await Promise.race([next(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

function lateAnswer(): MillraceError {
  return new MillraceError("unavailable", "no answer within 30 s: the request may or may not have been done");
}

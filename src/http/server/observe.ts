/** Middleware around every request: its id, its bound in time, its metric and its headers. */
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Registry } from "prom-client";
import type { AppContext } from "../../app/context.ts";
import { MillraceError } from "../../domain/errors.ts";
import { split } from "../../telemetry/meter-metrics.ts";
import { Histograms } from "../../telemetry/meters.ts";
import { register } from "../../telemetry/register.ts";
import type { RequestState } from "../request/state.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ANSWER_WITHIN_MS = 30_000;

/** Takes the caller's `x-request-id` or makes one, sends it with the answer, logs the request and measures its time by route. */
export function observeRequests(context: AppContext, registry: Registry): Middleware<RequestState> {
  const seconds = new Histograms("millrace_http_request_seconds");
  register(registry, "millrace_http_request_seconds", () => split(seconds.all, ["method", "route", "status"]));
  return async (ctx, next) => {
    const given = ctx.get("x-request-id");
    ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
    ctx.set("x-request-id", ctx.state.requestId);
    const startedAt = context.clock.monotonic();
    await next();
    const elapsedMs = context.clock.monotonic() - startedAt;
    const { method, status } = ctx;
    // The pattern of the route, never the path: each id and each mistyped path would become a time series.
    const route = String(ctx["_matchedRoute"] ?? "none");
    seconds.of(`${method} ${route} ${status}`).observe(elapsedMs / 1_000);
    const { runId, jobId, stepRunId } = (ctx["params"] ?? {}) as Readonly<Record<string, string | undefined>>;
    const { requestId } = ctx.state;
    context.log.debug({ requestId, runId, jobId, stepRunId, method, path: ctx.path, status, elapsedMs }, "answered");
  };
}

/** Sets headers that keep browsers from treating an answer as a page, and caches from storing it. */
export function secureAnswers({ isEncrypted }: { readonly isEncrypted: boolean }): Middleware<RequestState> {
  const headers = [
    // Over plaintext browsers ignore it.
    ...(isEncrypted ? [["Strict-Transport-Security", "max-age=31536000"] as const] : []),
    ["Cross-Origin-Resource-Policy", "same-origin"],
    ["X-Content-Type-Options", "nosniff"],
    ["Cache-Control", "no-store"],
    ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
    ["Referrer-Policy", "no-referrer"],
  ] as const;
  return ({ res }, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    return next();
  };
}

/** Throws `unavailable` when a request has no answer within 30 s, unless its route takes its time. The operation that the request began may still complete. A small body must arrive within `bodyMs`. */
export function boundRequests(bodyMs: number): Middleware<RequestState> {
  return async (ctx, next) => {
    ctx.state.smallBodyWithinMs = bodyMs;
    let timer: NodeJS.Timeout | undefined;
    ctx.state.takeYourTime = () => clearTimeout(timer);
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(noAnswerInTime()), ANSWER_WITHIN_MS);
    });
    try {
      await Promise.race([next(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
}

function noAnswerInTime(): MillraceError {
  return new MillraceError("unavailable", "no answer within 30 s: the operation may or may not have been carried out");
}

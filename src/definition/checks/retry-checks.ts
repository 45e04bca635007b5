/** What a `retry` must be beyond its shape. */
import { parseDuration } from "../../domain/durations.ts";
import { asMap, type Located } from "../text/raw.ts";
import type { Source } from "../text/source.ts";

export function checkRetry(source: Source, { value, path }: Located): void {
  const retry = asMap(value["retry"]);
  if (retry === undefined) return;
  const at = [...path, "retry"];
  const { attempts, on, exitCodes, delay, backoff, maxDelay } = retry;
  if (exitCodes !== undefined && isTimeoutAlone(on)) {
    source.report("invalid-retry", [...at, "exitCodes"], "`exitCodes` are those of failures, which `on` leaves out");
  }
  if (delay === undefined && (backoff !== undefined || maxDelay !== undefined)) {
    const key = backoff === undefined ? "maxDelay" : "backoff";
    source.report("invalid-retry", [...at, key], `\`${key}\` needs a \`delay\` to work on`, { spot: "key" });
  }
  if (toMs(maxDelay) < toMs(delay)) {
    source.report("invalid-retry", [...at, "maxDelay"], "`maxDelay` is shorter than `delay`, the first wait");
  }
  if (attempts === 1 && (delay !== undefined || exitCodes !== undefined)) {
    const message = "one attempt in all is none to retry";
    source.report("invalid-retry", [...at, "attempts"], message, { hint: "`attempts` counts the first one too" });
  }
}

/** Of a bad list the schema tells. */
function isTimeoutAlone(on: unknown): boolean {
  return Array.isArray(on) && on.length > 0 && on.every((cause) => cause === "timeout");
}

function toMs(written: unknown): number {
  return (typeof written === "string" ? parseDuration(written) : undefined) ?? Number.NaN;
}

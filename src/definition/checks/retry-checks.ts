/** Checks of a `retry` beyond its shape. */
import { parseDuration } from "../../domain/durations.ts";
import { asMap, type Located } from "../text/raw.ts";
import type { Source } from "../text/source.ts";

/** Reports keys of the `retry` of a step or a job that have no effect together. */
export function checkRetry(source: Source, { value, path }: Located): void {
  const retry = asMap(value["retry"]);
  if (retry === undefined) return;
  const at = [...path, "retry"];
  const { attempts, on, exitCodes, delay, backoff, maxDelay } = retry;
  if (exitCodes !== undefined && isTimeoutAlone(on)) {
    source.report(
      "invalid-retry",
      [...at, "exitCodes"],
      "`exitCodes` apply to failures, and `on` does not have `failed`",
    );
  }
  if (delay === undefined && (backoff !== undefined || maxDelay !== undefined)) {
    const key = backoff === undefined ? "maxDelay" : "backoff";
    source.report("invalid-retry", [...at, key], `\`${key}\` has no effect without a \`delay\``, { spot: "key" });
  }
  if (toMs(maxDelay) < toMs(delay)) {
    source.report("invalid-retry", [...at, "maxDelay"], "`maxDelay` is shorter than `delay`, the first wait");
  }
  if (attempts === 1 && (delay !== undefined || exitCodes !== undefined)) {
    const message = "with one attempt in all, nothing is retried";
    const hint = "`attempts` counts the first attempt too: give 2 or more, or remove `retry`";
    source.report("invalid-retry", [...at, "attempts"], message, { hint });
  }
}

/** False for a list of a wrong shape, which the schema reports. */
function isTimeoutAlone(on: unknown): boolean {
  return Array.isArray(on) && on.length > 0 && on.every((cause) => cause === "timeout");
}

function toMs(written: unknown): number {
  return (typeof written === "string" ? parseDuration(written) : undefined) ?? Number.NaN;
}

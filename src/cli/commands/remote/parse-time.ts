/** Options that take a time. */
import { parseDuration } from "../../../domain/durations.ts";
import { UsageError } from "../../command-line.ts";

/** The time that `text` means, as the API takes it: a time, or a duration before now. Throws a UsageError. */
export function parseTime(option: string, text: string): string {
  const duration = parseDuration(text);
  const at = duration === undefined ? Date.parse(text) : Date.now() - duration;
  if (Number.isNaN(at)) throw new UsageError(`${option} ${text}: must be a time such as 2026-11-24T08:00:00Z, or 24h`);
  return new Date(at).toISOString();
}

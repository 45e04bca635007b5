/** The log of the program: JSON lines by pino, in which tokens are redacted. */
import { type LoggerOptions, pino } from "pino";
import type { LogLevel } from "../settings/config.ts";
import type { RunId, StepRunId } from "../domain/ids.ts";
import type { Logger } from "../domain/logger.ts";
import { spanIdOf, traceIdOf } from "../telemetry/trace-ids.ts";
import { LogLines } from "./log-lines.ts";

const STDERR = 2;
const REDACTED = [
  "authorization",
  "*.authorization",
  "headers.authorization",
  "*.headers.authorization",
  "token",
  "*.token",
];

/**
 * A logger that writes each line synchronously, so that no line is lost when the process ends. Appends to `file`, default
 * stderr. Lines that cannot be written are dropped and counted: see {@link LogLines}.
 */
export function createLogger(level: LogLevel, file?: string): Logger {
  const options: LoggerOptions = {
    level,
    redact: { paths: REDACTED, censor: "[redacted]" },
    base: { pid: process.pid },
    formatters: { log: withTraceIds },
  };
  return pino(options, new LogLines({ target: file ?? STDERR, notice }));
}

/** A line about a run names its trace, and the span of the narrowest object that the line names. */
function withTraceIds(fields: Record<string, unknown>): Record<string, unknown> {
  const { runId, jobId, stepRunId } = fields;
  if (typeof runId !== "string") return fields;
  const narrowest = [stepRunId, jobId].find((id) => typeof id === "string") ?? runId;
  return { ...fields, traceId: traceIdOf(runId as RunId), spanId: spanIdOf(narrowest as StepRunId) };
}

/** The notice of dropped lines, in the form of the other lines. */
function notice(dropped: number, why: string): string {
  let line = "";
  const logger = pino({ base: { pid: process.pid } }, { write: (text) => void (line = text) });
  logger.warn({ dropped, why }, "lines of this log are missing here: they could not be written");
  return line;
}

/** The log of the program: JSON lines by pino, in which tokens are redacted. */
import { type LoggerOptions, pino } from "pino";
import type { LogLevel } from "../config.ts";
import type { Logger } from "../domain/logger.ts";
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
  };
  return pino(options, new LogLines({ target: file ?? STDERR, notice }));
}

/** The notice of dropped lines, in the form of the other lines. */
function notice(dropped: number, why: string): string {
  let line = "";
  const logger = pino({ base: { pid: process.pid } }, { write: (text) => void (line = text) });
  logger.warn({ dropped, why }, "lines of this log are missing here: they could not be written");
  return line;
}

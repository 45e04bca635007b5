/** The log of the program: JSON lines by pino, in which tokens are redacted. */
import { pino } from "pino";
import type { LogLevel } from "../config.ts";
import type { Logger } from "../domain/logger.ts";

const STDERR = 2;
const REDACTED = [
  "authorization",
  "*.authorization",
  "headers.authorization",
  "*.headers.authorization",
  "token",
  "*.token",
];

/** A logger that writes each line synchronously, so that no line is lost when the process ends. Appends to `file`, default stderr. */
export function createLogger(level: LogLevel, file?: string): Logger {
  return pino(
    { level, redact: { paths: REDACTED, censor: "[redacted]" }, base: { pid: process.pid } },
    pino.destination({ dest: file ?? STDERR, sync: true, mkdir: true }),
  );
}

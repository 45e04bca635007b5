/** Logging of the whole program: JSON lines by pino, without secrets. */
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

/** Writes at once, so that nothing is lost when the process ends. `file` is appended to; absent for stderr. */
export function createLogger(level: LogLevel, file?: string): Logger {
  return pino(
    { level, redact: { paths: REDACTED, censor: "[redacted]" }, base: { pid: process.pid } },
    pino.destination({ dest: file ?? STDERR, sync: true, mkdir: true }),
  );
}

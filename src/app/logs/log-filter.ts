/** Which lines of a log a reader asks for. */
import { z } from "zod";
import type { LogLine } from "../../stores/ports/logs.ts";

/** A level has up to 32 characters, and a query names few. */
const MAX_LEVELS_CHARS = 200;

/** Downloads may be asked for with a ticket in place of a token; who authenticates the caller reads it. */
export const ticketField = z.string().max(200).optional();

export const filterFields = {
  /** Some levels, separated by commas. */
  level: z
    .string()
    .min(1)
    .max(MAX_LEVELS_CHARS)
    .transform((text): ReadonlySet<string> => new Set(text.split(",")))
    .optional(),
  stream: z.enum(["stdout", "stderr"]).optional(),
};

export interface LogFilter {
  readonly level?: ReadonlySet<string> | undefined;
  readonly stream?: LogLine["stream"] | undefined;
}

/** A gap record counts as a line with the level `warn`. */
export function passes({ level, stream }: LogFilter, line: LogLine): boolean {
  return (level === undefined || level.has(line.level)) && (stream === undefined || stream === line.stream);
}

/** A log as plain text, made from the store as the reader takes it. */
import { z } from "zod";
import type { StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogLine, type LogStore } from "../../stores/ports/logs.ts";
import { gapText } from "../following/log-entry.ts";
import { loopShare } from "../loop-share.ts";
import { rfc3339 } from "../times.ts";
import { filterFields, type LogFilter, passes, ticketField } from "./log-filter.ts";

const PAGE_LINES = 1_000;
const PAGE_CHARS = 1 << 20;

export const logTextQuery = z.strictObject({
  /** Each line begins with its time. */
  timestamps: z.enum(["true", "false"]).default("false"),
  ticket: ticketField,
  ...filterFields,
});

export interface LogTextOptions extends LogFilter {
  readonly stepRunId: StepRunId;
  /** The last line. */
  readonly through: number;
  readonly timestamps: boolean;
}

/** The lines up to `through`, each with its line feed, in pieces of about a megabyte. */
export async function* logText(
  logs: Pick<LogStore, "read">,
  { stepRunId, through, timestamps, ...filter }: LogTextOptions,
): AsyncGenerator<Buffer, void, void> {
  for (let next = 1; next <= through;) {
    await loopShare.enter();
    const page = await logs.read(stepRunId, next, PAGE_LINES, PAGE_CHARS);
    const lines = page.filter((line) => line.line <= through && passes(filter, line));
    if (lines.length > 0) yield Buffer.from(lines.map((line) => textOf(line, timestamps)).join(""));
    if (page.length === 0) return;
    next = lastLineOf(page.at(-1)!) + 1;
  }
}

function textOf(line: LogLine, timestamps: boolean): string {
  const text = line.lost > 0 ? `[${gapText(line)}]` : line.content;
  return timestamps ? `${rfc3339(line.timeMs)} ${text}\n` : `${text}\n`;
}

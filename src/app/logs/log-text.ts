/** A log as plain text, made from the store as the reader takes it. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogLine, type LogStore } from "../../stores/ports/logs.ts";
import { gapText } from "../following/log-entry.ts";
import { loopShare } from "../loop-share.ts";
import { rfc3339 } from "../times.ts";
import { filterFields, type LogFilter, passes, ticketField } from "./log-filter.ts";

const PAGE_LINES = 1_000;
const PAGE_CHARS = 1 << 20;
/** The text of an ended step goes on while its agent still delivers lines: until none has come for this time. */
const QUIET_MS = 1_000;
const LOOK_MS = 100;

export const logTextQuery = z.strictObject({
  /** Each line begins with its time. */
  timestamps: z.enum(["true", "false"]).default("false"),
  ticket: ticketField,
  ...filterFields,
});

export interface LogTextOptions extends LogFilter {
  readonly stepRunId: StepRunId;
  /** Number of the newest line that is stored. */
  readonly through: number;
  /** Number of the last line of a step that has ended; null while it runs. */
  readonly lastLine: number | null;
  readonly timestamps: boolean;
}

/**
 * The stored lines, each with its line feed, in pieces of about a megabyte; of an ended step, also those that its agent still
 * delivers. A last line tells of lines that have not come by then.
 */
export async function* logText(
  logs: Pick<LogStore, "read" | "storedThrough">,
  { stepRunId, through, lastLine, timestamps, ...filter }: LogTextOptions,
): AsyncGenerator<Buffer, void, void> {
  let next = 1;
  let end = through < 1 ? await arrivedThrough(logs, stepRunId, next, lastLine) : through;
  for (; next <= end; end = await arrivedThrough(logs, stepRunId, next, lastLine)) {
    while (next <= end) {
      await loopShare.enter();
      const page = await logs.read(stepRunId, next, PAGE_LINES, PAGE_CHARS);
      const lines = page.filter((line) => line.line <= end && passes(filter, line));
      if (lines.length > 0) yield Buffer.from(lines.map((line) => textOf(line, timestamps)).join(""));
      if (page.length === 0) return;
      next = lastLineOf(page.at(-1)!) + 1;
    }
  }
  if (lastLine !== null && next <= lastLine) yield Buffer.from(`[lines ${next}-${lastLine} have not arrived yet]\n`);
}

/** The newest stored line, once it is at least `next`, or has stayed below for a while. */
async function arrivedThrough(
  logs: Pick<LogStore, "storedThrough">,
  stepRunId: StepRunId,
  next: number,
  lastLine: number | null,
): Promise<number> {
  for (let waitedMs = 0; lastLine !== null && next <= lastLine; waitedMs += LOOK_MS) {
    const through = await logs.storedThrough(stepRunId);
    if (through >= next || waitedMs >= QUIET_MS) return through;
    await sleep(LOOK_MS);
  }
  return next - 1;
}

function textOf(line: LogLine, timestamps: boolean): string {
  const text = line.lost > 0 ? `[${gapText(line)}]` : line.content;
  return timestamps ? `${rfc3339(line.timeMs)} ${text}\n` : `${text}\n`;
}

/** The summary of a step: Markdown, from the file that `MILLRACE_SUMMARY` names. */
import { NOTE_BOUNDS, type Summary } from "../domain/notes/notes.ts";
import { withoutBrokenEnd } from "./logs/line-splitter.ts";
import type { SecretFinder } from "./logs/secret-finder.ts";
import { SecretMask } from "./logs/secret-mask.ts";
import type { StepFile } from "./step-file.ts";

/** Twice the bound, because masks may make the text shorter. */
const READ_BYTES = 2 * NOTE_BOUNDS.summaryBytes;

export interface ReadSummary {
  /** Null when the step wrote none, or when it cannot be read. */
  readonly summary: Summary | null;
  /** What the log tells about it; undefined for nothing. */
  readonly remark: string | undefined;
}

/** Call when no process of the step is left. Secrets are masked; bytes that are not UTF-8 become U+FFFD. */
export function readSummary(file: StepFile, secrets: SecretFinder): ReadSummary {
  const { bytes, size, problem } = file.read(READ_BYTES);
  if (problem !== undefined) {
    return { summary: null, remark: `the summary in MILLRACE_SUMMARY is not kept: ${problem}` };
  }
  const masked: Buffer[] = [];
  const mask = new SecretMask(secrets, (some) => masked.push(Buffer.from(some)));
  mask.write(bytes);
  // Otherwise the end of what was read may be the beginning of a secret, which the mask holds back.
  if (size <= READ_BYTES) mask.end();
  const whole = Buffer.concat(masked);
  const isCut = size > READ_BYTES || whole.length > NOTE_BOUNDS.summaryBytes;
  const kept = whole.subarray(0, NOTE_BOUNDS.summaryBytes);
  const markdown = (isCut ? withoutBrokenEnd(kept) : kept).toString("utf8");
  if (markdown.trim() === "") return { summary: null, remark: undefined };
  const remark = isCut ? `the summary in MILLRACE_SUMMARY is cut after ${NOTE_BOUNDS.summaryBytes} bytes` : undefined;
  return { summary: { markdown, isCut }, remark };
}

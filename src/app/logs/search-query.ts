/** What a search in logs is asked with, and what it answers. */
import { z } from "zod";
import type { JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import { asId } from "../../domain/ids.ts";
import type { ListKey } from "../../stores/ports/pages.ts";
import { count } from "../lists.ts";
import { fields, id, listOf, shape, wholeNumber } from "../shapes.ts";
import { filterFields } from "./log-filter.ts";
import { LogEntryShape } from "./read-log.ts";

const MAX_TEXT_CHARS = 200;
const MAX_CONTEXT = 10;
const MAX_MATCHES = 200;
const DEFAULT_MATCHES = 50;
/** Longer than every cursor of this program. */
const MAX_CURSOR_CHARS = 500;

/** Where a search goes on: at a line of a step, in a run. */
export interface SearchPlace {
  /** The run; null in a search within one run. */
  readonly run: ListKey | null;
  readonly stepRunId: StepRunId | null;
  readonly line: number;
}

const flag = z
  .enum(["true", "false"])
  .default("false")
  .transform((text) => text === "true");
const contextRule = `must be a whole number from 0 to ${MAX_CONTEXT}`;

export const searchQuery = z.strictObject({
  q: z.string().min(1).max(MAX_TEXT_CHARS),
  /** `q` is a pattern in the syntax of RE2. */
  pattern: flag,
  ignoreCase: flag,
  context: z
    .string()
    .regex(/^\d{1,2}$/, contextRule)
    .transform(Number)
    .refine((value) => value <= MAX_CONTEXT, contextRule)
    .meta({ type: "integer", minimum: 0, maximum: MAX_CONTEXT })
    .default(0),
  limit: count(MAX_MATCHES).default(DEFAULT_MATCHES),
  after: z
    .string()
    .max(MAX_CURSOR_CHARS)
    .transform((text, check): SearchPlace => {
      const place = readPlace(text);
      if (place !== undefined) return place;
      check.addIssue("must be `next` of an earlier answer");
      return z.NEVER;
    })
    .optional(),
  ...filterFields,
});
export type SearchQuery = z.output<typeof searchQuery>;

const LogMatchShape = shape("LogMatch", () => ({
  runId: id<RunId>(),
  jobId: id<JobRunId>(),
  stepRunId: id<StepRunId>(),
  entry: LogEntryShape,
  /** Where in `content`, in UTF-16 units: the first one, and the one behind the last; the first 20 places. */
  ranges: listOf(fields(() => ({ from: wholeNumber, to: wholeNumber }))),
  before: listOf(LogEntryShape),
  after: listOf(LogEntryShape),
}));
export type LogMatch = z.infer<typeof LogMatchShape>;

export const LogSearchShape = fields(() => ({
  list: listOf(LogMatchShape),
  /** Lines that this call has looked at. */
  searchedLines: wholeNumber,
  /** `after` of the call that goes on; null when everything that is stored was looked at. */
  next: z.string().nullable(),
}));

/** A cursor is not signed: it says no more than a place in logs that the caller may read anyway. */
export function cursorOfPlace({ run, stepRunId, line }: SearchPlace): string {
  return Buffer.from(JSON.stringify([run?.at ?? null, run?.id ?? null, stepRunId, line])).toString("base64url");
}

function readPlace(text: string): SearchPlace | undefined {
  try {
    const [at, runId, stepRunId, line, ...rest] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (!Number.isSafeInteger(line) || (line as number) < 1 || rest.length > 0) return undefined;
    if (stepRunId !== null && typeof stepRunId !== "string") return undefined;
    const hasRun = Number.isSafeInteger(at) && typeof runId === "string";
    if (!hasRun && (at !== null || runId !== null)) return undefined;
    return {
      run: hasRun ? { at: at as number, id: runId } : null,
      stepRunId: stepRunId === null ? null : asId<StepRunId>(stepRunId),
      line: line as number,
    };
  } catch {
    return undefined;
  }
}

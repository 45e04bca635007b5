/** Reads the test reports of a run's steps, and their cases. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { addCounts, NO_TESTS, TEST_OUTCOMES, type TestCase, type TestOverview } from "../../domain/notes/notes.ts";
import type { NoteKey } from "../../stores/ports/outputs.ts";
import type { Caller } from "../identity/access.ts";
import { loopShare } from "../loop-share.ts";
import { TestCountsShape, testCountFields } from "../runs/test-counts.ts";
import { fields, listOf, shape, wholeNumber } from "../shapes.ts";
import type { NotesContext } from "./context.ts";
import {
  behind,
  NotedStepShape,
  notesQueryFields,
  type NotesRequest,
  stepsWithNotes,
  type StepWithNote,
} from "./noted-steps.ts";

/** What one call reads at most: parts of a thousand cases. */
const MAX_PARTS = 20;
const MAX_CASES = 200;
const DEFAULT_CASES = 50;

export const TestReportPageShape = fields(() => ({
  /** All steps of the list together, those of other pages too. */
  tests: TestCountsShape,
  list: listOf(
    fields(() => ({
      step: NotedStepShape,
      ...testCountFields(),
      /** Test cases that can be read. */
      kept: wholeNumber,
      /** What is wrong with the reports. */
      problems: listOf(z.string()),
    })),
  ),
  next: z.string().nullable(),
}));

export const testReportsQuery = z.strictObject(notesQueryFields(100, 50));

export const TestCasePageShape = fields(() => ({
  list: listOf(
    shape("TestCase", () => ({
      step: NotedStepShape,
      suite: z.string(),
      name: z.string(),
      /** As the report has it; null for none. */
      file: z.string().nullable(),
      line: wholeNumber.nullable(),
      outcome: z.enum(TEST_OUTCOMES),
      isFlaky: z.boolean(),
      durationMs: wholeNumber,
      /** Of a failure; empty for others. */
      message: z.string(),
    })),
  ),
  next: z.string().nullable(),
}));

export const TEST_FILTERS = ["all", "failed", "flaky", "slowest"] as const;

export const testCasesQuery = z.strictObject({
  ...notesQueryFields(MAX_CASES, DEFAULT_CASES),
  filter: z.enum(TEST_FILTERS).default("all"),
});

/** Throws `forbidden` and `not_found`. */
export async function readTestReports(
  context: NotesContext,
  caller: Caller,
  request: NotesRequest & { readonly after?: string | undefined; readonly limit: number },
): Promise<z.infer<typeof TestReportPageShape>> {
  const steps = await stepsWithNotes(context, caller, "tests", request);
  const overviews = await overviewsOf(context, steps);
  const page = behind(steps, request.after).slice(0, request.limit);
  const last = page.at(-1);
  return {
    tests: [...overviews.values()].reduce(sumOf, NO_TESTS),
    list: page.flatMap(({ step }) => {
      const found = overviews.get(step.stepRunId);
      return found === undefined ? [] : [{ step, ...found }];
    }),
    next: last === undefined || last === steps.at(-1) ? null : last.step.stepRunId,
  };
}

async function overviewsOf(
  { stores }: NotesContext,
  steps: readonly StepWithNote[],
): Promise<ReadonlyMap<string, TestOverview>> {
  const notes = await stores.notes.find(steps.flatMap(({ keys }) => keys));
  return new Map(notes.map(({ stepRunId, body }) => [stepRunId, JSON.parse(body) as TestOverview]));
}

function sumOf(sum: typeof NO_TESTS, one: typeof NO_TESTS): typeof NO_TESTS {
  return addCounts(sum, one);
}

type ShownCase = z.infer<typeof TestCasePageShape>["list"][number];

/**
 * The cases of all steps, step by step; of one step failed cases first, then flaky ones, then the slowest. `slowest` answers
 * the slowest of all steps, on one page. Throws `forbidden` and `not_found`.
 */
export async function readTestCases(
  context: NotesContext,
  caller: Caller,
  { filter, after, limit, ...request }: NotesRequest & z.output<typeof testCasesQuery>,
): Promise<z.infer<typeof TestCasePageShape>> {
  const steps = await stepsWithNotes(context, caller, "cases", request);
  if (filter === "slowest") return { list: await slowestOf(context, steps, limit), next: null };
  const places = steps.flatMap(({ step, keys }) => keys.map((key) => ({ step, key })));
  let { part: at, offset } = placeOf(after);
  if (at > places.length) throw wrongCursor();
  const list: ShownCase[] = [];
  for (let read = 0; at < places.length && read < MAX_PARTS; read++) {
    const { step, key } = places[at]!;
    const cases = await casesOf(context, key);
    for (; offset < cases.length && list.length < limit; offset++) {
      const one = cases[offset]!;
      if (passes(one, filter)) list.push(shown(step, one));
    }
    if (offset < cases.length) return { list, next: `${at}.${offset}` };
    offset = 0;
    at = filter !== "all" && !cases.some((one) => passes(one, filter)) ? nextStep(places, at) : at + 1;
  }
  return { list, next: at < places.length ? `${at}.0` : null };
}

/** Behind the parts of the same step: cases that pass a filter are in the first parts. */
function nextStep(places: readonly { readonly key: NoteKey }[], at: number): number {
  const { stepRunId } = places[at]!.key;
  let next = at + 1;
  while (places[next]?.key.stepRunId === stepRunId) next++;
  return next;
}

function passes({ outcome, isFlaky }: TestCase, filter: (typeof TEST_FILTERS)[number]): boolean {
  return filter === "all" || (filter === "failed" ? outcome === "failed" : isFlaky);
}

/** In each step, passed cases are sorted by their time, and follow those that failed. */
async function slowestOf(context: NotesContext, steps: readonly StepWithNote[], limit: number): Promise<ShownCase[]> {
  let found: ShownCase[] = [];
  let read = 0;
  for (const { step, keys } of steps) {
    let passed = 0;
    for (const key of keys) {
      if (passed >= limit || read++ >= MAX_PARTS) break;
      const cases = await casesOf(context, key);
      passed += cases.filter(({ outcome, isFlaky }) => outcome === "passed" && !isFlaky).length;
      found.push(...cases.map((one) => shown(step, one)));
    }
    found = found.sort((a, b) => b.durationMs - a.durationMs).slice(0, limit);
  }
  return found;
}

async function casesOf({ stores }: NotesContext, key: NoteKey): Promise<readonly TestCase[]> {
  await loopShare.enter();
  const [note] = await stores.notes.find([key]);
  return note === undefined ? [] : (JSON.parse(note.body) as readonly TestCase[]);
}

function shown(step: ShownCase["step"], one: TestCase): ShownCase {
  const { suite, name, file, line, outcome, isFlaky, durationMs, message } = one;
  return {
    step,
    suite,
    name,
    file: file === "" ? null : file,
    line: line === 0 ? null : line,
    outcome,
    isFlaky,
    durationMs,
    message,
  };
}

function placeOf(after: string | undefined): { readonly part: number; readonly offset: number } {
  if (after === undefined) return { part: 0, offset: 0 };
  const [, part, offset] = /^(\d{1,7})\.(\d{1,4})$/.exec(after) ?? [];
  if (part === undefined) throw wrongCursor();
  return { part: Number(part), offset: Number(offset) };
}

function wrongCursor(): MillraceError {
  return new MillraceError("malformed_request", "`after` must be `next` of an earlier page of the same list");
}

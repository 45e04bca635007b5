/**
 * Notes: what a step leaves for people beside its log. Annotations point at places in files, a summary is Markdown, and
 * test reports tell of each test case.
 */
import type { AnnotationLevel } from "./log-commands.ts";

/** Bounds of one step; a text is measured in characters. `runBytes`: of all steps of a run, for each kind of note. */
export const NOTE_BOUNDS = {
  annotations: 50,
  file: 512,
  title: 256,
  message: 2_048,
  summaryBytes: 65_536,
  runBytes: 16_777_216,
} as const;

/** A place in a file, and what is to be said about it. */
export interface Annotation {
  readonly level: AnnotationLevel;
  /** Relative to the workspace, as the step wrote it; empty for none. */
  readonly file: string;
  /** From 1; 0 for none. */
  readonly line: number;
  readonly endLine: number;
  readonly column: number;
  readonly endColumn: number;
  readonly title: string;
  readonly message: string;
  /** The line of the log that has the annotation. */
  readonly logLine: number;
}

export interface Annotations {
  readonly list: readonly Annotation[];
  /** How many more there were. */
  readonly leftOut: number;
}

export interface Summary {
  readonly markdown: string;
  /** True when the step wrote more. */
  readonly isCut: boolean;
}

/** Bounds of the test reports of one step. A text is measured in characters. `runBytes`: the cases of all steps of a run. */
export const TEST_BOUNDS = {
  files: 1_000,
  fileBytes: 10_485_760,
  allBytes: 52_428_800,
  cases: 50_000,
  partCases: 1_000,
  /** As JSON. */
  partBytes: 2_000_000,
  name: 512,
  message: 2_048,
  /** All messages together. */
  messages: 2_097_152,
  problems: 20,
  problem: 500,
  runBytes: 33_554_432,
} as const;

export const TEST_OUTCOMES = ["failed", "passed", "skipped"] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** One test case of a report. Suite and name identify the test from run to run. */
export interface TestCase {
  readonly suite: string;
  readonly name: string;
  /** As the report has it; empty for none. */
  readonly file: string;
  /** 0 for none. */
  readonly line: number;
  readonly outcome: TestOutcome;
  /** True for a test that has failed and passed in the same step. */
  readonly isFlaky: boolean;
  readonly durationMs: number;
  /** Of a failure; empty for others. */
  readonly message: string;
}

export interface TestCounts {
  readonly total: number;
  readonly failed: number;
  readonly skipped: number;
  readonly flaky: number;
  /** All cases together. */
  readonly durationMs: number;
}

export const NO_TESTS: TestCounts = { total: 0, failed: 0, skipped: 0, flaky: 0, durationMs: 0 };

/** The overview of a step's test reports. */
export interface TestOverview extends TestCounts {
  /** How many of the cases are stored. */
  readonly kept: number;
  /** What is wrong with the reports, for people. */
  readonly problems: readonly string[];
}

export function addCounts(one: TestCounts, other: TestCounts): TestCounts {
  return {
    total: one.total + other.total,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    flaky: one.flaky + other.flaky,
    durationMs: one.durationMs + other.durationMs,
  };
}

/** The notes that come with the report of a step's end. */
export interface StepNotes {
  readonly annotations: Annotations;
  readonly summary: Summary | null;
  /** Null for a step without test reports. */
  readonly tests: TestOverview | null;
}

export const NO_ANNOTATIONS: Annotations = { list: [], leftOut: 0 };

/** The same notes within their bounds. What is beyond them is cut, or counted as left out. */
export function boundedNotes({ annotations, summary, tests }: StepNotes): StepNotes {
  const { list, leftOut } = annotations;
  const kept = list.slice(0, NOTE_BOUNDS.annotations).map(boundedAnnotation);
  return {
    annotations: { list: kept, leftOut: leftOut + list.length - kept.length },
    summary: summary === null || summary.markdown === "" ? null : boundedSummary(summary),
    tests: tests === null ? null : { ...tests, problems: boundedProblems(tests.problems) },
  };
}

export function boundedAnnotation(annotation: Annotation): Annotation {
  return {
    ...annotation,
    file: cutText(annotation.file, NOTE_BOUNDS.file),
    title: cutText(annotation.title, NOTE_BOUNDS.title),
    message: cutText(annotation.message, NOTE_BOUNDS.message),
  };
}

function boundedProblems(problems: readonly string[]): readonly string[] {
  return problems.slice(0, TEST_BOUNDS.problems).map((text) => cutText(text, TEST_BOUNDS.problem));
}

function boundedSummary({ markdown, isCut }: Summary): Summary {
  const bytes = Buffer.from(markdown);
  if (bytes.length <= NOTE_BOUNDS.summaryBytes) return { markdown, isCut };
  let end: number = NOTE_BOUNDS.summaryBytes;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return { markdown: bytes.toString("utf8", 0, end), isCut: true };
}

/** At most `most` characters; of a longer text, its beginning and `…`. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isSplit = /[\ud800-\udbff]/.test(text[most - 2]!);
  return `${text.slice(0, isSplit ? most - 2 : most - 1)}…`;
}

/** Reads the notes in the report of a step's end. */
import {
  type Annotation as AnnotationMessage,
  AnnotationLevel as LevelCode,
  type StepNotes as NotesMessage,
  type TestOverview as TestsMessage,
} from "../../../proto/generated/agent/v1/agent.ts";
import type { AnnotationLevel } from "../../domain/notes/log-commands.ts";
import type { Annotation, StepNotes, TestOverview } from "../../domain/notes/notes.ts";

const LEVELS: Readonly<Partial<Record<LevelCode, AnnotationLevel>>> = {
  [LevelCode.ANNOTATION_LEVEL_ERROR]: "error",
  [LevelCode.ANNOTATION_LEVEL_WARNING]: "warning",
  [LevelCode.ANNOTATION_LEVEL_NOTICE]: "notice",
};

/** Whatever is wrong with a note, the report is taken: its step would never end otherwise. */
export function readNotes({ annotations, annotationsLeftOut, summary, tests }: NotesMessage): StepNotes {
  return {
    annotations: { list: annotations.map(readAnnotation), leftOut: Math.max(0, annotationsLeftOut) },
    summary: summary === undefined ? null : { markdown: summary.markdown, isCut: summary.cut },
    tests: tests === undefined ? null : readTests(tests),
  };
}

function readTests({ total, failed, skipped, flaky, durationMs, kept, problems }: TestsMessage): TestOverview {
  const count = (number: number) => Math.max(0, number);
  return {
    total: count(total),
    failed: count(failed),
    skipped: count(skipped),
    flaky: count(flaky),
    durationMs: count(Number(durationMs)),
    kept: count(kept),
    problems,
  };
}

function readAnnotation(message: AnnotationMessage): Annotation {
  const { file, line, endLine, column, endColumn, title, logLine } = message;
  const place = (number: number) => Math.max(0, number);
  return {
    level: LEVELS[message.level] ?? "notice",
    file,
    line: place(line),
    endLine: place(endLine),
    column: place(column),
    endColumn: place(endColumn),
    title,
    message: message.message,
    logLine: logLine >= 0n && logLine <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(logLine) : 0,
  };
}

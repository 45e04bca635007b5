/** Reads the annotations and the summaries of a run's steps. */
import { z } from "zod";
import { ANNOTATION_LEVELS } from "../../domain/notes/log-commands.ts";
import type { Annotation, Annotations, Summary } from "../../domain/notes/notes.ts";
import type { StoredNote } from "../../stores/ports/outputs.ts";
import type { Caller } from "../identity/access.ts";
import { loopShare } from "../loop-share.ts";
import { fields, listOf, shape, wholeNumber } from "../shapes.ts";
import type { NotesContext } from "./context.ts";
import { renderMarkdown } from "./markdown.ts";
import { behind, NotedStepShape, notesQueryFields, type NotesRequest, stepsWithNotes } from "./noted-steps.ts";

const place = wholeNumber.nullable();

export const AnnotationShape = shape("Annotation", () => ({
  level: z.enum(ANNOTATION_LEVELS),
  /** As the step wrote it; null for none. */
  file: z.string().nullable(),
  line: place,
  endLine: place,
  column: place,
  endColumn: place,
  title: z.string(),
  message: z.string(),
  /** The number of the line in the log of the step. */
  logLine: wholeNumber,
}));

export const AnnotationPageShape = fields(() => ({
  /** Steps with annotations, in the order of the plan. */
  list: listOf(
    fields(() => ({
      step: NotedStepShape,
      annotations: listOf(AnnotationShape),
      /** How many more the step has written, which are only in its log. */
      leftOut: wholeNumber,
    })),
  ),
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
}));

export const annotationsQuery = z.strictObject(notesQueryFields(50, 20));

export const SummaryPageShape = fields(() => ({
  list: listOf(
    fields(() => ({
      step: NotedStepShape,
      /** As the step wrote it. */
      markdown: z.string(),
      /** The same as HTML, without anything that a browser would run or load. */
      html: z.string(),
      /** True when the step wrote more than is kept. */
      isCut: z.boolean(),
    })),
  ),
  next: z.string().nullable(),
}));

export const summariesQuery = z.strictObject(notesQueryFields(10, 5));

/** Throws `forbidden` and `not_found`. */
export async function readAnnotations(
  context: NotesContext,
  caller: Caller,
  request: NotesRequest & Page,
): Promise<z.infer<typeof AnnotationPageShape>> {
  const { list, next } = await pageOf<Annotations>(context, caller, "annotations", request);
  const shown = list.map(({ step, body }) => {
    return { step, annotations: body.list.map(annotationView), leftOut: body.leftOut };
  });
  return { list: shown, next };
}

/** Throws `forbidden` and `not_found`. */
export async function readSummaries(
  context: NotesContext,
  caller: Caller,
  request: NotesRequest & Page,
): Promise<z.infer<typeof SummaryPageShape>> {
  const { list, next } = await pageOf<Summary>(context, caller, "summary", request);
  const shown = [];
  for (const { step, body } of list) {
    await loopShare.enter();
    shown.push({ step, markdown: body.markdown, html: await renderMarkdown(body.markdown), isCut: body.isCut });
  }
  return { list: shown, next };
}

interface Page {
  readonly after?: string | undefined;
  readonly limit: number;
}

async function pageOf<Body>(
  context: NotesContext,
  caller: Caller,
  kind: "annotations" | "summary",
  request: NotesRequest & Page,
) {
  const steps = behind(await stepsWithNotes(context, caller, kind, request), request.after);
  const page = steps.slice(0, request.limit);
  const notes = await context.stores.notes.find(page.flatMap(({ keys }) => keys));
  const byStep = new Map(notes.map((note): [string, StoredNote] => [note.stepRunId, note]));
  const list = page.flatMap(({ step }) => {
    const note = byStep.get(step.stepRunId);
    return note === undefined ? [] : [{ step, body: JSON.parse(note.body) as Body }];
  });
  return { list, next: steps.length > page.length ? page.at(-1)!.step.stepRunId : null };
}

function annotationView(annotation: Annotation): z.infer<typeof AnnotationShape> {
  const { level, file, line, endLine, column, endColumn, title, message, logLine } = annotation;
  const known = (number: number) => (number === 0 ? null : number);
  return {
    level,
    file: file === "" ? null : file,
    line: known(line),
    endLine: known(endLine),
    column: known(column),
    endColumn: known(endColumn),
    title,
    message,
    logLine,
  };
}

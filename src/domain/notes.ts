/** Notes: what a step leaves for people beside its log. Annotations point at places in files; a summary is Markdown. */

/** Bounds of one step; a text is measured in characters. `runBytes`: of all steps of a run, for each kind of note. */
export const NOTE_BOUNDS = {
  annotations: 50,
  file: 512,
  title: 256,
  message: 2_048,
  summaryBytes: 65_536,
  runBytes: 16_777_216,
} as const;

export const ANNOTATION_LEVELS = ["error", "warning", "notice"] as const;
export type AnnotationLevel = (typeof ANNOTATION_LEVELS)[number];

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

/** The notes that come with the report of a step's end. */
export interface StepNotes {
  readonly annotations: Annotations;
  readonly summary: Summary | null;
}

export const NO_ANNOTATIONS: Annotations = { list: [], leftOut: 0 };

/** The same notes within their bounds. What is beyond them is cut, or counted as left out. */
export function boundedNotes({ annotations, summary }: StepNotes): StepNotes {
  const { list, leftOut } = annotations;
  const kept = list.slice(0, NOTE_BOUNDS.annotations).map(boundedAnnotation);
  return {
    annotations: { list: kept, leftOut: leftOut + list.length - kept.length },
    summary: summary === null || summary.markdown === "" ? null : boundedSummary(summary),
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

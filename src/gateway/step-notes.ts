/** Stores the notes that come with a step's report. */
import { boundedNotes, NOTE_BOUNDS, type StepNotes } from "../domain/notes/notes.ts";
import type { NoteKey, NoteKind, NoteStore } from "../stores/ports/outputs.ts";

/**
 * Stores what fits in the bounds of the run. Of what does not fit, only that it is missing is stored: a step never fails
 * because of its notes. Safe to repeat.
 */
export async function putNotes(
  store: Pick<NoteStore, "put">,
  step: Pick<NoteKey, "runId" | "stepRunId" | "token">,
  notes: StepNotes,
): Promise<void> {
  const { annotations, summary, tests } = boundedNotes(notes);
  const put = async (kind: NoteKind, whole: unknown, withoutContent: unknown): Promise<void> => {
    const note = (body: unknown) => ({ ...step, kind, part: 0, body: JSON.stringify(body) });
    if ((await store.put(note(whole), NOTE_BOUNDS.runBytes)) === "stored") return;
    await store.put(note(withoutContent), Number.POSITIVE_INFINITY);
  };
  const count = annotations.list.length + annotations.leftOut;
  if (count > 0) await put("annotations", annotations, { list: [], leftOut: count });
  if (tests !== null) await put("tests", tests, { ...tests, problems: [] });
  if (summary !== null) await put("summary", summary, { markdown: "", isCut: true });
}

/** The text that a save would commit: the head's text, edited to a structured definition. */
import { editText } from "../../definition/edit/edit-text.ts";
import { renderSpec } from "../../definition/edit/render.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";

export interface Draft {
  /** The head that the text is made from. The text may be committed on this head only. Null before the first save. */
  readonly headRevisionId: Revision["revisionId"] | null;
  readonly text: string;
  /** Committing the text would change nothing. */
  readonly isHead: boolean;
}

/**
 * Keeps the comments and the layout of a head in the same format. For a head in another format the text is rendered
 * from scratch.
 */
export async function draftOn(
  { stores }: WithStores<"pipelines">,
  { headRevisionId }: Pipeline,
  { spec, format }: { readonly spec: unknown; readonly format: Revision["format"] },
): Promise<Draft> {
  const head = headRevisionId === null ? undefined : await stores.pipelines.findRevision(headRevisionId);
  if (head?.format !== format) return { headRevisionId, text: renderSpec(spec, format), isHead: false };
  const text = editText(head.text, format, spec);
  return { headRevisionId, text, isHead: text === head.text };
}

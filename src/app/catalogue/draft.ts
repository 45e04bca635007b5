/** The text that a save would commit: the head's text, edited to a structured definition. */
import { isSameValue } from "../../definition/edit/same-value.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import type { Asking } from "./plugin-lookup.ts";

export interface Draft {
  /** The head that the text is made from. The text may be committed on this head only. Null before the first save. */
  readonly headRevisionId: Revision["revisionId"] | null;
  readonly text: string;
  /** Committing the text would change nothing. */
  readonly isHead: boolean;
}

export interface DraftSource {
  readonly spec: unknown;
  readonly format: Revision["format"];
  /** The text to commit as it is; absent: the text is made of the head's and of `spec`. */
  readonly layout?: string | undefined;
}

/**
 * Keeps the comments and the layout of a head in the same format. For a head in another format the text is rendered
 * from scratch. Rejects as `Threads.run` does.
 */
export async function draftOn(
  { stores }: WithStores<"pipelines">,
  { work, caller }: Asking,
  { headRevisionId }: Pipeline,
  { spec, format, layout }: DraftSource,
): Promise<Draft> {
  const head = headRevisionId === null ? undefined : await stores.pipelines.findRevision(headRevisionId);
  const edited = head?.format === format ? head.text : null;
  const text = layout ?? (await work.draft(caller, { head: edited, spec, format }));
  return { headRevisionId, text, isHead: text === edited };
}

/** Throws `malformed_request` unless the valid text holds just `spec`. */
export async function requireEqual(
  { work, caller }: Asking,
  text: string,
  { spec, format }: DraftSource,
): Promise<void> {
  if (isSameValue(await work.spec(caller, { text, format }), spec)) return;
  const message = "must hold the same definition as `spec`: only comments and the way of writing may be its own";
  throw new MillraceError("malformed_request", `the body has problems: /layout ${message}`, {
    problems: [{ code: "invalid", pointer: "/layout", message }],
  });
}

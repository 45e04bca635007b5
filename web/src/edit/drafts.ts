/** Texts that are not saved yet. They live as long as the tab does, also through a login. */

export interface Draft {
  /** Who has written it: nobody else gets it back. */
  readonly userId: string;
  readonly text: string;
  readonly format: "yaml" | "json";
  /** The head on which the text was written; an empty id for none. */
  readonly base: { readonly headCommitSha: string; readonly text: string };
  readonly commitMessage: string;
  /** Where the cursor was. */
  readonly cursor: number;
  /** True when the writer was about to save. */
  readonly isSaving: boolean;
  /** How this save is stored; absent while the writer has not chosen. */
  readonly saveMode?: "direct" | "pr" | undefined;
  readonly at: number;
}

const keyOf = (pipelineId: string): string => `millrace.draft.${pipelineId}`;

/** False when the browser has no room for it. */
export function keepDraft(pipelineId: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(keyOf(pipelineId), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function readDraft(pipelineId: string, userId: string): Draft | undefined {
  const kept = sessionStorage.getItem(keyOf(pipelineId));
  if (kept === null) return undefined;
  const draft = JSON.parse(kept) as Draft;
  return draft.userId === userId ? draft : undefined;
}

export function dropDraft(pipelineId: string): void {
  sessionStorage.removeItem(keyOf(pipelineId));
}

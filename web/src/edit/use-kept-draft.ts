/** Keeps a text that is not saved, while it is written and when its writer leaves the page. */
import type { RefObject } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { session } from "../app/session.ts";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import type { CodeEditor } from "./code-mirror.ts";
import { type Draft, dropDraft, keepDraft } from "./drafts.ts";

/** A draft is kept when the writer pauses. */
const KEPT_MS = 250;

interface KeptDraftOptions {
  readonly pipeline: Schemas["Pipeline"];
  /** Has the newest text and the cursor; null before it is open. */
  readonly editor: RefObject<CodeEditor | null>;
  readonly written: Pick<Draft, "text" | "format" | "base" | "commitMessage" | "saveMode">;
  /** The text differs from what is saved. */
  readonly isChanged: boolean;
  /** The writer is about to save. */
  readonly isSaving: boolean;
}

/** `keep` keeps the draft at once. `drop` forgets it, also when the writer leaves the page afterwards. */
export function useKeptDraft(options: KeptDraftOptions): { readonly keep: () => void; readonly drop: () => void } {
  const { pipeline, editor, written, isChanged, isSaving } = options;
  const { pipelineId } = pipeline;
  const { text, format, base, commitMessage, saveMode } = written;
  const isDropped = useRef(false);
  const keepAs = useCallback(
    (wasSaving: boolean) =>
      keepDraft(pipelineId, {
        userId: session.value?.user.userId ?? "",
        text: editor.current?.text() ?? text,
        format,
        base,
        commitMessage,
        cursor: editor.current?.cursor() ?? 0,
        isSaving: wasSaving,
        saveMode,
        at: Date.now(),
      }),
    [pipelineId, text, format, base, commitMessage, saveMode],
  );
  useEffect(() => {
    if (!isChanged) {
      dropDraft(pipelineId);
      return undefined;
    }
    const timer = setTimeout(() => keepAs(isSaving), KEPT_MS);
    return () => clearTimeout(timer);
  }, [isChanged, keepAs, isSaving]);
  const openedAt = useRef(location.pathname);
  const latest = useRef({ isChanged, keepAs });
  latest.current = { isChanged, keepAs };
  // The back button asks nothing, so the text must outlive the page, and its writer must know.
  useEffect(
    () => () => {
      if (!latest.current.isChanged || isDropped.current || location.pathname === openedAt.current) return;
      latest.current.keepAs(false);
      tell(words.edit.kept(pipeline.name));
    },
    [],
  );
  return {
    keep: () => void keepAs(isSaving),
    drop: () => {
      isDropped.current = true;
      dropDraft(pipelineId);
    },
  };
}

/** The saved revisions, what each has changed, and the way back to one. */
import { useState } from "preact/hooks";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { DiffView } from "../parts/diff-view.tsx";
import styles from "./edit.module.css";

const texts = words.edit;
type Revision = Schemas["Revision"];

export function HistoryDialog({
  pipelineId,
  headCommitSha,
  isChanged,
  mayWrite,
  onText,
  onRestored,
  onClose,
}: {
  readonly pipelineId: string;
  readonly headCommitSha: string;
  readonly isChanged: boolean;
  readonly mayWrite: boolean;
  /** Puts the text of a revision into the editor. */
  readonly onText: (text: string) => void;
  readonly onRestored: () => void;
  readonly onClose: () => void;
}) {
  const path = { pipelineId };
  const [older, setOlder] = useState<readonly Revision[]>([]);
  const [after, setAfter] = useState<string | undefined>(undefined);
  const page = useResource(
    (signal) => {
      const query = after === undefined ? {} : { after };
      return api.get("/pipelines/{pipelineId}/revisions", { path, query, signal });
    },
    [pipelineId, after],
  );
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  return (
    <Dialog title={texts.history} wide onClose={onClose}>
      <Loaded of={page}>
        {({ list, next }) => {
          const all = [...older, ...list.filter((one) => !older.some((known) => known.revisionId === one.revisionId))];
          const shown = all.find(({ revisionId }) => revisionId === chosen) ?? all[0];
          if (shown === undefined) return <p class={styles["quiet"]}>{texts.noRevisions}</p>;
          return (
            <div class={styles["history"]}>
              <ol>
                {all.map((one) => (
                  <li key={one.revisionId}>
                    <button type="button" aria-current={one === shown} onClick={() => setChosen(one.revisionId)}>
                      {one.commitMessage === "" ? texts.noMessage : one.commitMessage}
                      <small>
                        {one.editor}, <Ago at={one.savedAt} />
                        {one.commitSha === null ? "" : ` · ${texts.revisionAt(one.commitSha.slice(0, 8), one.branch)}`}
                        {one.isHead ? ` · ${texts.head}` : ""}
                      </small>
                    </button>
                  </li>
                ))}
                {next === null ? null : (
                  <li>
                    <Button
                      onClick={() => {
                        setOlder(all);
                        setAfter(next);
                      }}
                    >
                      {words.runs.older}
                    </Button>
                  </li>
                )}
              </ol>
              <Shown
                key={shown.revisionId}
                revision={shown}
                headCommitSha={headCommitSha}
                isChanged={isChanged}
                mayWrite={mayWrite}
                onText={onText}
                onRestored={onRestored}
              />
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function Shown({
  revision: { pipelineId, revisionId, isHead },
  headCommitSha,
  isChanged,
  mayWrite,
  onText,
  onRestored,
}: {
  readonly revision: Revision;
  readonly headCommitSha: string;
  readonly isChanged: boolean;
  readonly mayWrite: boolean;
  readonly onText: (text: string) => void;
  readonly onRestored: () => void;
}) {
  const path = { pipelineId, revisionId };
  const diff = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/revisions/{revisionId}/diff", { path, signal }),
    [revisionId],
  );
  const open = async () => {
    const { text } = await api.get("/pipelines/{pipelineId}/revisions/{revisionId}", { path });
    if (!isChanged || confirm(texts.replaceAsk)) onText(text);
  };
  const restore = async () => {
    if (isChanged && !confirm(texts.replaceAsk)) return;
    await api.post("/pipelines/{pipelineId}/revisions/{revisionId}/restore", {
      path,
      body: headCommitSha === "" ? {} : { expectedHeadCommitSha: headCommitSha },
    });
    tell(texts.restoredRevision);
    onRestored();
  };
  return (
    <div class={styles["revision"]}>
      <Loaded of={diff}>{(of) => <DiffView diff={of.diff} label={texts.changes} />}</Loaded>
      {mayWrite ? (
        <div class={styles["row"]}>
          <Button onClick={open}>{texts.openRevision}</Button>
          {isHead ? null : <Button onClick={restore}>{texts.restore}</Button>}
        </div>
      ) : null}
    </div>
  );
}

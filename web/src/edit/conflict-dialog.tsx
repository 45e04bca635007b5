/** Another user has saved meanwhile: what that change is, and how both go together. The text of the writer stays. */
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Ago } from "../parts/time.tsx";
import { words } from "../words.ts";
import { DiffView } from "../parts/diff-view.tsx";
import { compareTexts, takeOver } from "./merge-texts.ts";
import type { Base } from "./save-dialog.tsx";
import styles from "./edit.module.css";

const texts = words.edit;

export function ConflictDialog({
  pipelineId,
  base,
  mine,
  onTaken,
  onClose,
}: {
  readonly pipelineId: string;
  readonly base: Base;
  readonly mine: string;
  /** The text is written on `theirs` from now on; `merged` has both changes, and is undefined to keep the text. */
  readonly onTaken: (theirs: Base, merged: string | undefined) => void;
  readonly onClose: () => void;
}) {
  const head = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/spec", { path: { pipelineId }, signal }),
    [pipelineId],
  );
  return (
    <Dialog title={texts.conflict} wide onClose={onClose}>
      <Loaded of={head}>
        {(theirs) => {
          const merged = takeOver(base.text, theirs.text, mine);
          const next = { headCommitSha: theirs.headCommitSha, text: theirs.text };
          return (
            <div class={styles["form"]}>
              <p>
                {texts.otherSaved(theirs.editor)} <Ago at={theirs.savedAt} />
                {theirs.commitMessage === "" ? null : <>: {theirs.commitMessage}</>}
              </p>
              <DiffView diff={compareTexts(base.text, theirs.text)} label={texts.otherChange} />
              <p class={styles["quiet"]}>{merged === undefined ? texts.overlap : texts.noOverlap}</p>
              <div class={styles["row"]}>
                {merged === undefined ? null : (
                  <Button kind="primary" onClick={() => onTaken(next, merged)}>
                    {texts.takeOver}
                  </Button>
                )}
                <Button kind={merged === undefined ? "primary" : "plain"} onClick={() => onTaken(next, undefined)}>
                  {texts.compare}
                </Button>
              </div>
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

/** What a save changes, and the words that go with it. */
import { useRef } from "preact/hooks";
import { api, type Schemas } from "../api/client.ts";
import { isReason } from "../api/errors.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { tell } from "../parts/toast.tsx";
import { useSubmit } from "../parts/use-submit.ts";
import { words } from "../words.ts";
import { specOf } from "./definition-text.ts";
import { DiffView } from "../parts/diff-view.tsx";
import { compareTexts } from "./merge-texts.ts";
import styles from "./edit.module.css";

const texts = words.edit;

/** The head that the text is written on; an empty id before the first save. */
export interface Base {
  readonly headCommitSha: string;
  readonly text: string;
}

export interface Written {
  readonly text: string;
  readonly format: "yaml" | "json";
}

export type SaveMode = "direct" | "pr";

export function SaveDialog({
  pipelineId,
  mode,
  choice,
  onMode,
  base,
  written,
  message,
  onMessage,
  onSaved,
  onConflict,
  onClose,
}: {
  readonly pipelineId: string;
  /** How this save is stored. */
  readonly mode: SaveMode;
  /** The branches between which the writer chooses; undefined for a definition that is in no repository. */
  readonly choice: { readonly direct: string; readonly target: string } | undefined;
  readonly onMode: (mode: SaveMode) => void;
  readonly base: Base;
  readonly written: Written;
  readonly message: string;
  readonly onMessage: (message: string) => void;
  readonly onSaved: (answer: Schemas["SavedSpec"], written: Written) => void;
  readonly onConflict: () => void;
  readonly onClose: () => void;
}) {
  // A repeat after a lost answer is the same request.
  const requestId = useRef(newRequestId());
  const sent = useRef("");
  const send = async () => {
    const spec = specOf(written.text);
    if (spec === undefined) throw new Error(texts.unreadable);
    const body = {
      spec: { ...spec },
      format: written.format,
      layout: written.text,
      ...(base.headCommitSha === "" ? {} : { expectedHeadCommitSha: base.headCommitSha }),
      ...(message.trim() === "" ? {} : { commitMessage: message.trim() }),
      ...(choice === undefined ? {} : { saveMode: mode }),
    };
    const content = JSON.stringify(body);
    if (sent.current !== content) requestId.current = newRequestId();
    sent.current = content;
    try {
      const answer = await api.post("/pipelines/{pipelineId}/spec/save", {
        path: { pipelineId },
        body: { ...body, requestId: requestId.current },
      });
      tell(answer.pullRequest === null ? texts.saved : texts.proposalSaved);
      onSaved(answer, written);
    } catch (error) {
      if (!isReason(error, "head_moved") && !isReason(error, "precondition_failed")) throw error;
      onConflict();
    }
  };
  const { submit, isRunning } = useSubmit(send);
  const isProposed = mode === "pr";
  const title = isProposed ? texts.propose : texts.save;
  return (
    <Dialog
      title={title}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="primary" disabled={written.text === base.text || isRunning} onClick={submit}>
            {title}
          </Button>
        </>
      }
    >
      <form
        class={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          if (written.text !== base.text) submit();
        }}
      >
        <DiffView diff={compareTexts(base.text, written.text)} label={texts.changes} />
        <label class={styles["field"]}>
          {texts.message}
          <input
            name="message"
            value={message}
            maxLength={10_000}
            autoFocus
            onInput={(event) => onMessage(event.currentTarget.value)}
          />
        </label>
        {choice === undefined ? null : (
          <fieldset class={styles["choice"]}>
            <legend>{texts.saveAs}</legend>
            {(["direct", "pr"] as const).map((one) => (
              <label key={one}>
                <input type="radio" name="mode" checked={mode === one} onChange={() => onMode(one)} />
                <span>{one === "pr" ? texts.asProposal(choice.target) : texts.asCommit(choice.direct)}</span>
              </label>
            ))}
          </fieldset>
        )}
        {isProposed ? <p class={styles["quiet"]}>{texts.proposeAbout}</p> : null}
      </form>
    </Dialog>
  );
}

/** Not `crypto.randomUUID`, which browsers have over TLS alone. */
function newRequestId(): string {
  return `web-${[...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-")}`;
}

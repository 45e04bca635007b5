/** One text that is written: from the head or a kept draft, until it is saved or discarded. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import historyIcon from "lucide-static/icons/history.svg?raw";
import diffIcon from "lucide-static/icons/file-diff.svg?raw";
import save from "lucide-static/icons/save.svg?raw";
import { useKeys } from "../app/keys.ts";
import { useQuestionBeforeLeaving } from "../app/leaving.ts";
import { may } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { goToLogin, holdBeforeLogin } from "../api/expiry.ts";
import { useResource } from "../api/resource.ts";
import { PlanView } from "../pages/plan-view.tsx";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";
import { useSettled } from "../parts/use-settled.ts";
import { words } from "../words.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { specOf } from "./definition-text.ts";
import { type Draft, dropDraft } from "./drafts.ts";
import type { Head } from "./head.ts";
import { IncludedFile } from "./included-file.tsx";
import { HistoryDialog } from "./history-dialog.tsx";
import { Problems } from "./problems.tsx";
import { type Base, SaveDialog, type SaveMode, type Written } from "./save-dialog.tsx";
import type { JsonSchema } from "./schema-hints.ts";
import { useCodeEditor } from "./use-code-editor.ts";
import { useKeptDraft } from "./use-kept-draft.ts";
import styles from "./edit.module.css";

const texts = words.edit;
/** Problems and plan are asked for when the writer pauses. */
const TYPED_MS = 350;

export function Writing({
  pipeline,
  head,
  draft,
  starter,
  crumbs,
  onReload,
}: {
  readonly pipeline: Schemas["Pipeline"];
  readonly head: Head;
  readonly draft: Draft | undefined;
  readonly starter: string;
  readonly crumbs: readonly (readonly [href: string, text: string])[];
  readonly onReload: () => void;
}) {
  const { pipelineId } = pipeline;
  const path = { pipelineId };
  const format = draft?.format ?? head?.format ?? "yaml";
  const [base, setBase] = useState<Base>(
    draft?.base ?? { headCommitSha: head?.headCommitSha ?? "", text: head?.text ?? "" },
  );
  const [text, setText] = useState(draft?.text ?? head?.text ?? starter);
  const [commitMessage, setMessage] = useState(draft?.commitMessage ?? "");
  const [open, setOpen] = useState<"save" | "history" | "conflict" | undefined>(draft?.isSaving ? "save" : undefined);
  const [saveMode, setSaveMode] = useState<SaveMode | undefined>(draft?.saveMode);
  /** A problem of a file that the definition includes. */
  const [elsewhere, setElsewhere] = useState<Schemas["Diagnostic"] | undefined>(undefined);
  const [isExpired, setExpired] = useState(false);
  const [isMarked, setMarked] = useState(false);
  const [proposal, setProposal] = useState<Schemas["SavedSpec"]["pullRequest"]>(null);
  const schema = useRef<JsonSchema | undefined>(undefined);
  const saveButton = useRef<HTMLDivElement>(null);
  const isLeaving = useRef(false);
  const isChanged = text !== base.text;
  const mayWrite = may("writeDefinitions");

  const { host, editor } = useCodeEditor({
    text,
    cursor: draft?.cursor ?? 0,
    isJson: format === "json",
    isReadOnly: !mayWrite,
    schema: () => schema.current,
    onChange: (changed) => setText(changed),
    onSave: () => setOpen("save"),
    onLeave: () => saveButton.current?.querySelector<HTMLElement>("button:enabled, a")?.focus(),
  });

  const { keep, drop } = useKeptDraft({
    pipeline,
    editor,
    written: { text, format, base, commitMessage, saveMode },
    isChanged,
    isSaving: open === "save",
  });
  useQuestionBeforeLeaving(isChanged && !isLeaving.current ? texts.leave : undefined);
  useEffect(() => holdBeforeLogin(() => setExpired(true)), []);
  const logIn = () => {
    if (isChanged) keep();
    isLeaving.current = true;
    setExpired(false);
    setTimeout(goToLogin);
  };

  const settled = useSettled(text, TYPED_MS);
  const spec = useMemo(() => specOf(settled), [settled]);
  const checked = useResource(
    (signal) => {
      const body = { spec: spec ?? {}, format, layout: settled === "" ? "\n" : settled };
      return api.post("/pipelines/{pipelineId}/spec/validate", { path, body, signal });
    },
    [pipelineId, settled, format, isExpired],
  );
  const diagnostics = checked.value?.diagnostics ?? [];
  useEffect(() => editor.current?.showProblems(diagnostics), [checked.value]);
  // A session that somebody has begun in another window goes on here.
  useEffect(() => {
    if (checked.value !== undefined && checked.error === undefined && !checked.isLoading) setExpired(false);
  }, [checked.value]);
  useResource(async (signal) => {
    const answer = await fetch("/api/v1/definitions/schema", { signal });
    schema.current = (await answer.json()) as JsonSchema;
  }, []);

  const reload = (): void => {
    drop();
    onReload();
  };
  const mark = (against: string | null) => {
    setMarked(against !== null);
    editor.current?.markAgainst(against);
  };
  const saved = ({ headCommitSha, pullRequest }: Schemas["SavedSpec"], written: Written) => {
    setBase({ headCommitSha, text: written.text });
    setProposal(pullRequest);
    setMessage("");
    setSaveMode(undefined);
    setOpen(undefined);
    mark(null);
    if (written.text === editor.current?.text()) dropDraft(pipelineId);
  };
  useKeys([
    { keys: "mod+s", does: texts.save, inFields: true, run: () => setOpen("save") },
    { keys: "e", does: texts.focus, run: () => editor.current?.focus() },
  ]);
  const isInGit = pipeline.repoUrl !== "";
  const mode = isInGit ? (saveMode ?? pipeline.saveMode) : "direct";
  const target = pipeline.prTargetBranch === "" ? pipeline.defaultBranch : pipeline.prTargetBranch;
  return (
    <Page
      title={texts.titled(pipeline.name)}
      crumbs={crumbs}
      actions={
        <div ref={saveButton} class={styles["row"]}>
          {mayWrite ? (
            <Button kind="primary" icon={save} disabled={!isChanged} onClick={() => setOpen("save")}>
              {mode === "pr" ? texts.propose : texts.save}
            </Button>
          ) : null}
          <Button
            icon={diffIcon}
            pressed={isMarked}
            disabled={!isChanged && !isMarked}
            onClick={() => mark(isMarked ? null : base.text)}
          >
            {texts.marks}
          </Button>
          <Button icon={historyIcon} onClick={() => setOpen("history")}>
            {texts.history}
          </Button>
          <ButtonLink href={`/pipelines/${pipelineId}/trigger`}>{words.pipeline.trigger}</ButtonLink>
        </div>
      }
    >
      <Notices
        onLogIn={isExpired ? logIn : undefined}
        restored={isChanged ? draft : undefined}
        onDiscard={reload}
        proposal={proposal}
        mayWrite={mayWrite}
      />
      <div class={styles["columns"]}>
        <div class={styles["writing"]}>
          <div ref={host} class={styles["editor"]} data-editor="definition" />
          <p id="editor-keys" class={styles["quiet"]}>
            {texts.keys}
          </p>
        </div>
        <div class={styles["side"]}>
          <Section title={texts.problems}>
            <Problems
              of={checked}
              onChoose={(problem) =>
                problem.file === undefined ? editor.current?.goTo(problem.line, problem.column) : setElsewhere(problem)
              }
              isEmpty={settled.trim() === ""}
            />
          </Section>
          {checked.value?.valid === true && spec !== undefined ? (
            <Section title={words.trigger.plan}>
              <PlanBeside pipelineId={pipelineId} spec={spec} format={format} />
            </Section>
          ) : null}
        </div>
      </div>
      {elsewhere === undefined ? null : (
        <IncludedFile
          problem={elsewhere}
          head={head}
          repoUrl={pipeline.repoUrl}
          onClose={() => setElsewhere(undefined)}
        />
      )}
      {open === "save" ? (
        <SaveDialog
          pipelineId={pipelineId}
          mode={mode}
          choice={isInGit ? { direct: pipeline.defaultBranch, target } : undefined}
          onMode={setSaveMode}
          base={base}
          written={{ text, format }}
          message={commitMessage}
          onMessage={setMessage}
          onSaved={saved}
          onConflict={() => setOpen("conflict")}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
      {open === "conflict" ? (
        <ConflictDialog
          pipelineId={pipelineId}
          base={base}
          mine={text}
          onTaken={(theirs, merged) => {
            setBase(theirs);
            setOpen(undefined);
            if (merged !== undefined) editor.current?.setText(merged);
            mark(theirs.text);
            editor.current?.focus();
          }}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
      {open === "history" ? (
        <HistoryDialog
          pipelineId={pipelineId}
          headCommitSha={base.headCommitSha}
          isChanged={isChanged}
          mayWrite={mayWrite}
          onText={(other) => {
            editor.current?.setText(other);
            setOpen(undefined);
          }}
          onRestored={() => {
            setOpen(undefined);
            reload();
          }}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
    </Page>
  );
}

/** What the writer has to know above the text. */
function Notices({
  onLogIn,
  restored,
  onDiscard,
  proposal,
  mayWrite,
}: {
  /** Undefined while the session lasts. */
  readonly onLogIn: (() => void) | undefined;
  readonly restored: Draft | undefined;
  readonly onDiscard: () => void;
  readonly proposal: Schemas["SavedSpec"]["pullRequest"];
  readonly mayWrite: boolean;
}) {
  return (
    <>
      {onLogIn === undefined ? null : (
        <div class={styles["notice"]} role="alert">
          <span>{texts.expired}</span>
          <Button kind="primary" onClick={onLogIn}>
            {texts.logIn}
          </Button>
        </div>
      )}
      {restored === undefined ? null : (
        <div class={styles["notice"]}>
          <span>
            {texts.restored} <Ago at={new Date(restored.at).toISOString()} />
          </span>
          <Button
            onClick={() => {
              if (confirm(texts.discardAsk)) onDiscard();
            }}
          >
            {texts.discard}
          </Button>
        </div>
      )}
      {proposal === null ? null : (
        <div class={styles["notice"]} role="status">
          <span>
            {texts.proposed(proposal.branch, proposal.targetBranch)}{" "}
            <a href={proposal.url} target="_blank" rel="noreferrer">
              #{proposal.number}
            </a>
          </span>
        </div>
      )}
      {mayWrite ? null : <p class={styles["notice"]}>{texts.readOnly}</p>}
    </>
  );
}

function PlanBeside({
  pipelineId,
  spec,
  format,
}: {
  readonly pipelineId: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly format: "yaml" | "json";
}) {
  const plan = useResource(
    (signal) => {
      const body = { spec: { ...spec }, format, variables: {} };
      return api.post("/pipelines/{pipelineId}/plan", { path: { pipelineId }, body, signal });
    },
    [pipelineId, spec, format],
  );
  return <PlanView plan={plan} />;
}

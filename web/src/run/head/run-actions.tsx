/** What a reader may do to a run, with the dialogs that ask first. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api } from "../../api/client.ts";
import { may } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { tell } from "../../parts/toast.tsx";
import { useSubmit } from "../../parts/use-submit.ts";
import { words } from "../../words.ts";
import { shortId } from "../run-facts.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, type RunView } from "../run-view.ts";
import styles from "./run-head.module.css";

type RerunScope = "all" | "failed" | "step";

export interface RunActions {
  readonly canStop: boolean;
  readonly canPause: boolean;
  readonly canResume: boolean;
  readonly canRerun: boolean;
  readonly askStop: () => boolean;
  readonly askRerun: () => boolean;
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly dialogs: ComponentChildren;
}

/** `stepRunId`: the step that is looked at, from which a run can be repeated. */
export function useRunActions(view: RunView, stepRunId: string | undefined): RunActions {
  const [open, setOpen] = useState<"stop" | "rerun" | undefined>(undefined);
  const { status } = view.head;
  const isOver = hasEnded(view);
  const canStop = !isOver && may("controlRun");
  const canRerun = isOver && may("triggerRun");
  const path = { pipelineId: view.head.pipelineId, runId: view.head.runId };
  const ask = (what: "stop" | "rerun", isPossible: boolean): boolean => {
    if (isPossible) setOpen(what);
    return isPossible;
  };
  const close = (): void => setOpen(undefined);
  return {
    canStop,
    canRerun,
    canPause: status === "running" && may("controlRun"),
    canResume: status === "paused" && may("controlRun"),
    askStop: () => ask("stop", canStop),
    askRerun: () => ask("rerun", canRerun),
    pause: async () => void (await api.post("/pipelines/{pipelineId}/runs/{runId}/pause", { path, body: {} })),
    resume: async () => void (await api.post("/pipelines/{pipelineId}/runs/{runId}/resume", { path, body: {} })),
    dialogs:
      open === "stop" ? (
        <StopDialog path={path} onClose={close} />
      ) : open === "rerun" ? (
        <RerunDialog path={path} view={view} stepRunId={stepRunId} onClose={close} />
      ) : null,
  };
}

interface RunPath {
  readonly pipelineId: string;
  readonly runId: string;
}

function StopDialog({ path, onClose }: { readonly path: RunPath; readonly onClose: () => void }) {
  const [reason, setReason] = useState("");
  const { submit, isRunning } = useSubmit(async () => {
    await api.post("/pipelines/{pipelineId}/runs/{runId}/stop", { path, body: reason === "" ? {} : { reason } });
    onClose();
  });
  return (
    <Dialog
      title={runWords.stopTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="danger" disabled={isRunning} onClick={submit}>
            {runWords.actions.stop}
          </Button>
        </>
      }
    >
      <form class={styles["form"]} onSubmit={submit}>
        <p>{words.runs.stopText}</p>
        <label>
          <span>{runWords.table.reason}</span>
          <input value={reason} maxLength={500} autofocus onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      </form>
    </Dialog>
  );
}

function RerunDialog({
  path,
  view,
  stepRunId,
  onClose,
}: {
  readonly path: RunPath;
  readonly view: RunView;
  readonly stepRunId: string | undefined;
  readonly onClose: () => void;
}) {
  const { route } = useLocation();
  const hasFailures = view.jobs.some(({ newest }) => newest.status === "failed" || newest.status === "cancelled");
  const [scope, setScope] = useState<RerunScope>(hasFailures ? "failed" : "all");
  const { submit, isRunning } = useSubmit(async () => {
    const body = scope === "step" && stepRunId !== undefined ? { scope, stepRunId } : { scope };
    const run = await api.post("/pipelines/{pipelineId}/runs/{runId}/rerun", { path, body });
    onClose();
    tell(runWords.started(shortId(run.runId)));
    route(`/runs/${run.runId}`);
  });
  const scopes: readonly (readonly [RerunScope, string, boolean])[] = [
    ["failed", runWords.actions.rerunFailed, hasFailures],
    ["all", runWords.actions.rerunAll, true],
    ["step", runWords.actions.rerunFrom, stepRunId !== undefined],
  ];
  return (
    <Dialog
      title={runWords.rerunTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.actions.cancel}</Button>
          <Button kind="primary" disabled={isRunning} onClick={submit}>
            {runWords.rerunTitle}
          </Button>
        </>
      }
    >
      <form class={styles["form"]} onSubmit={submit}>
        <p>{runWords.rerunText}</p>
        <fieldset>
          <legend class={styles["quiet"]}>{runWords.rerunTitle}</legend>
          {scopes.map(([name, label, isPossible]) => (
            <label key={name} class={styles["choice"]} data-off={!isPossible}>
              <input
                type="radio"
                name="scope"
                value={name}
                checked={scope === name}
                disabled={!isPossible}
                autofocus={scope === name}
                onChange={() => setScope(name)}
              />
              <span>
                <strong>{label}</strong>
                <span>{runWords.rerunScopes[name]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

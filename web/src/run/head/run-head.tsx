/** The head of the page of a run: what it is, how it goes, the one reason for which it waits, and what one may do. */
import { useEffect, useRef, useState } from "preact/hooks";
import gitCompare from "lucide-static/icons/git-compare-arrows.svg?raw";
import hourglass from "lucide-static/icons/hourglass.svg?raw";
import pause from "lucide-static/icons/pause.svg?raw";
import play from "lucide-static/icons/play.svg?raw";
import rotate from "lucide-static/icons/rotate-cw.svg?raw";
import square from "lucide-static/icons/square.svg?raw";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Status } from "../../parts/status.tsx";
import { Ago, Elapsed } from "../../parts/time.tsx";
import { words } from "../../words.ts";
import { mainWait, reasonText, shortId } from "../run-facts.ts";
import type { RunStore } from "../run-store.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, type RunView } from "../run-view.ts";
import type { RunActions } from "./run-actions.tsx";
import { WhyPanel } from "./why-panel.tsx";
import styles from "./run-head.module.css";

interface RunHeadProps {
  readonly store: RunStore;
  readonly view: RunView;
  /** Undefined while it is not known. */
  readonly pipelineName: string | undefined;
  readonly projectId: string;
  readonly actions: RunActions;
  /** The job whose wait is explained; null for that of the run, undefined while none is. */
  readonly whyJob: string | null | undefined;
  readonly onWhy: (job: string | null | undefined) => void;
}

export function RunHead({ store, view, pipelineName, actions, whyJob, onWhy }: RunHeadProps) {
  const { head } = view;
  const wait = mainWait(view);
  return (
    <header class={styles["head"]}>
      <p class={styles["crumbs"]}>
        <a href={`/pipelines/${head.pipelineId}`} aria-label={pipelineName ?? runWords.pipeline}>
          {pipelineName ?? " "}
        </a>{" "}
        /
      </p>
      <div class={styles["line"]}>
        <h1 tabIndex={-1} title={head.runId}>
          {runWords.run} <span class={styles["id"]}>{shortId(head.runId)}</span>
        </h1>
        <Status of={head.status} />
        <span class={styles["elapsed"]}>
          <Elapsed from={head.startTime} to={head.endTime} ms={head.duration} />
        </span>
        <div class={styles["actions"]}>
          {actions.canPause ? (
            <Button icon={pause} onClick={actions.pause}>
              {runWords.actions.pause}
            </Button>
          ) : null}
          {actions.canResume ? (
            <Button icon={play} kind="primary" onClick={actions.resume}>
              {runWords.actions.resume}
            </Button>
          ) : null}
          {actions.canStop ? (
            <Button icon={square} onClick={() => void actions.askStop()}>
              {runWords.actions.stop}
            </Button>
          ) : null}
          <ButtonLink href={`/runs/${head.runId}/compare`} icon={gitCompare}>
            {runWords.actions.compare}
          </ButtonLink>
          {actions.canRerun ? (
            <Button icon={rotate} kind="primary" onClick={() => void actions.askRerun()}>
              {runWords.actions.rerun}
            </Button>
          ) : null}
        </div>
      </div>
      <Origin view={view} />
      {head.reason === "" ? null : <p class={styles["reason"]}>{reasonText(head.reason)}</p>}
      {wait === null || hasEnded(view) ? null : (
        <div class={styles["wait"]}>
          <Icon svg={hourglass} size={14} />
          <span class={styles["waitText"]}>
            {wait.job === null || wait.wait.text.includes(wait.job.name) ? "" : `${wait.job.name}: `}
            {wait.wait.text}
          </span>
          <Button
            kind="quiet"
            expanded={whyJob !== undefined}
            onClick={() => onWhy(whyJob === undefined ? (wait.job?.jobId ?? null) : undefined)}
          >
            {runWords.why}
          </Button>
        </div>
      )}
      {whyJob === undefined || hasEnded(view) ? null : (
        <WhyPanel store={store} view={view} jobId={whyJob} onPick={onWhy} onClose={() => onWhy(undefined)} />
      )}
      <Announcer text={`${runWords.run} ${words.status[head.status].toLowerCase()}`} />
    </header>
  );
}

function Origin({ view: { head } }: { readonly view: RunView }) {
  const { trigger, triggeredBy, commitSha, attempt, retryOf, retriedBy, createdAt } = head;
  const isCommit = /^[0-9a-f]{40}$/.test(commitSha);
  return (
    <p class={styles["origin"]}>
      <span>
        {runWords.triggers[trigger.kind]} {triggeredBy === "" ? "" : runWords.by(triggeredBy)} <Ago at={createdAt} />
      </span>
      {trigger.ref === "" ? null : <code>{trigger.ref.replace(/^refs\/(heads|tags)\//, "")}</code>}
      {isCommit ? <code title={commitSha}>{commitSha.slice(0, 8)}</code> : null}
      {attempt > 1 ? <span>{runWords.attempt(attempt)}</span> : null}
      {retryOf === null ? null : (
        <span>
          {runWords.repeats} <a href={`/runs/${retryOf}`}>{shortId(retryOf)}</a>
        </span>
      )}
      {retriedBy === null ? null : (
        <span>
          {runWords.repeatedBy} <a href={`/runs/${retriedBy}`}>{shortId(retriedBy)}</a>
        </span>
      )}
    </p>
  );
}

/** Tells readers of screens the status of the run when it changes, and not at first. */
function Announcer({ text }: { readonly text: string }) {
  const first = useRef(text);
  const [said, say] = useState("");
  useEffect(() => {
    if (text !== first.current) {
      first.current = "";
      say(text);
    }
  }, [text]);
  return (
    <span class={styles["quiet"]} role="status" aria-live="polite">
      {said}
    </span>
  );
}

/** What failed, and what steps have left for people: annotations and summaries. */
import { useMemo } from "preact/hooks";
import { api, type Schemas } from "../../api/client.ts";
import { useResource } from "../../api/resource.ts";
import { Section } from "../../parts/page.tsx";
import { StatusIcon } from "../../parts/status.tsx";
import { reasonText, stepToShow } from "../run-facts.ts";
import { runWords } from "../run-words.ts";
import { type Job, hasEnded, jobHasEnded, type RunView } from "../run-view.ts";
import { stepAddress, type ViewProps } from "../view-props.ts";
import { FailureLines } from "./failure-lines.tsx";
import styles from "./notes.module.css";

const MOST_FAILURES = 20;
/** Failures whose lines are shown: each is a call of its own. */
const MOST_WITH_LINES = 3;
const MOST_TESTS = 5;
const MOST_ANNOTATIONS = 60;

export function Notes({ view }: ViewProps) {
  const { runId } = view.head;
  // Notes are there once their step has ended.
  const ended = hasEnded(view) ? -1 : view.jobs.filter(({ newest }) => jobHasEnded(newest)).length;
  const notes = useResource(
    async (signal) => {
      const path = { runId };
      const [annotations, summaries] = await Promise.all([
        api.get("/pipelines/runs/{runId}/annotations", { path, query: { limit: 20 }, signal }),
        api.get("/pipelines/runs/{runId}/summaries", { path, query: { limit: 5 }, signal }),
      ]);
      return { annotations: annotations.list, summaries: summaries.list };
    },
    [runId, ended],
  );
  const failed = view.jobs.filter(({ newest }) => newest.status === "failed");
  const annotations = notes.value?.annotations ?? [];
  const summaries = notes.value?.summaries ?? [];
  return (
    <>
      {failed.length === 0 ? null : (
        <Section title={runWords.failures}>
          <ul class={styles["list"]}>
            {failed.slice(0, MOST_FAILURES).map(({ key, newest }, at) => (
              <Failure key={key} of={view.head} job={newest} hasLines={at < MOST_WITH_LINES} />
            ))}
            {failed.length > MOST_FAILURES ? (
              <li class={styles["more"]}>{runWords.graph.leftOut(failed.length - MOST_FAILURES)}</li>
            ) : null}
          </ul>
        </Section>
      )}
      {(view.head.tests?.failed ?? 0) === 0 ? null : <FailedTests runId={runId} ended={ended} />}
      {annotations.length === 0 ? null : <Annotations runId={runId} of={annotations} />}
      {summaries.length === 0 ? null : (
        <Section title={runWords.summaries}>
          {summaries.map((summary) => (
            <Summary key={summary.step.stepRunId} of={summary} />
          ))}
        </Section>
      )}
    </>
  );
}

function Failure({
  of: { pipelineId, runId },
  job,
  hasLines,
}: {
  readonly of: RunView["head"];
  readonly job: Job;
  readonly hasLines: boolean;
}) {
  const step = stepToShow(job);
  const reason = reasonText(step?.reason === undefined || step.reason === "" ? job.reason : step.reason);
  return (
    <li>
      <StatusIcon of="failed" />
      {step === undefined ? (
        <span>{job.name}</span>
      ) : (
        <a href={stepAddress(runId, step.stepRunId)} data-row-link="">
          {job.name} / {step.name}
        </a>
      )}
      <span class={styles["why"]}>{reason}</span>
      {hasLines && step !== undefined && step.stepRunId !== "" && step.startTime !== null ? (
        <FailureLines pipelineId={pipelineId} runId={runId} stepRunId={step.stepRunId} />
      ) : null}
    </li>
  );
}

function FailedTests({ runId, ended }: { readonly runId: string; readonly ended: number }) {
  const tests = useResource(
    (signal) => {
      const query = { filter: "failed" as const, limit: MOST_TESTS };
      return api.get("/pipelines/runs/{runId}/test-cases", { path: { runId }, query, signal });
    },
    [runId, ended],
  );
  const list = tests.value?.list ?? [];
  if (list.length === 0) return null;
  return (
    <Section title={runWords.failedTests} aside={<a href={`/runs/${runId}?view=tests`}>{runWords.allTests}</a>}>
      <ul class={styles["list"]}>
        {list.map((test, at) => (
          <li key={at}>
            <StatusIcon of="failed" />
            <span class={styles["test"]}>
              {test.suite === "" ? null : <span class={styles["suite"]}>{test.suite} › </span>}
              {test.name}
            </span>
            <span class={styles["why"]}>
              <a href={`/runs/${runId}/steps/${test.step.stepRunId}`}>
                {test.step.job} / {test.step.step}
              </a>
            </span>
            {test.message === "" ? null : <span class={styles["message"]}>{test.message}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface AnnotatedStep {
  readonly step: Schemas["NotedStep"];
  readonly annotations: readonly Schemas["Annotation"][];
  readonly leftOut: number;
}

const SHAPES = { error: "failed", warning: "partial", notice: "pending" } as const;

function Annotations({ runId, of }: { readonly runId: string; readonly of: readonly AnnotatedStep[] }) {
  const all = of.flatMap(({ step, annotations }) => annotations.map((annotation) => ({ step, annotation })));
  const leftOut = of.reduce((sum, step) => sum + step.leftOut, 0) + Math.max(0, all.length - MOST_ANNOTATIONS);
  return (
    <Section title={runWords.annotations}>
      <ul class={styles["list"]}>
        {all.slice(0, MOST_ANNOTATIONS).map(({ step, annotation }) => (
          <li key={`${step.stepRunId} ${annotation.logLine}`}>
            <StatusIcon of={SHAPES[annotation.level]} />
            <span class={styles["annotation"]}>
              {annotation.title === "" ? null : <strong>{annotation.title}: </strong>}
              {annotation.message}
            </span>
            <span class={styles["why"]}>
              {annotation.file === null ? null : <code>{placeOf(annotation)}</code>}{" "}
              <a href={`/runs/${runId}/steps/${step.stepRunId}#L${annotation.logLine}`}>
                {step.job} / {step.step}
              </a>
            </span>
          </li>
        ))}
        {leftOut > 0 ? <li class={styles["more"]}>{runWords.leftOut(leftOut)}</li> : null}
      </ul>
    </Section>
  );
}

function placeOf({ file, line, column }: Schemas["Annotation"]): string {
  return [file, line, column].filter((part) => part !== null).join(":");
}

interface StepSummary {
  readonly step: Schemas["NotedStep"];
  readonly html: string;
  readonly isCut: boolean;
}

/** The server has made the HTML from Markdown, without any HTML of the step: docs/logs.md, "Summaries". */
function Summary({ of: { step, html, isCut } }: { readonly of: StepSummary }) {
  return (
    <article class={styles["summary"]}>
      <h3>
        {step.job} / {step.step}
      </h3>
      <Markup html={html} />
      {isCut ? <p class={styles["more"]}>{runWords.isCut}</p> : null}
    </article>
  );
}

/** Links of a summary lead out of the page, and tell the other site nothing about it. */
function Markup({ html }: { readonly html: string }) {
  const ready = useMemo(() => withRelations(html), [html]);
  return <div class={styles["markup"]} dangerouslySetInnerHTML={{ __html: ready }} />;
}

function withRelations(html: string): string {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const link of parsed.querySelectorAll("a")) {
    link.setAttribute("rel", "noopener noreferrer nofollow");
    link.setAttribute("target", "_blank");
  }
  return parsed.body.innerHTML;
}

/** The lines of a log that tell most about a failure, below the step that failed. */
import { api } from "../../api/client.ts";
import { useResource } from "../../api/resource.ts";
import { annotationMark, plainText } from "../log/line-text.ts";
import { runWords } from "../run-words.ts";
import styles from "./notes.module.css";

const READ = "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs";
/** Lines at the end of a log, for a step that has marked no line as an error. */
const LAST = 6;
/** Lines around the first error. */
const BEFORE = 3;
const BEHIND = 2;
/** A longer line is cut: the log has the whole one. */
const MOST_CHARACTERS = 400;

interface FailureLinesProps {
  readonly pipelineId: string;
  readonly runId: string;
  readonly stepRunId: string;
}

export function FailureLines({ pipelineId, runId, stepRunId }: FailureLinesProps) {
  const lines = useResource(
    async (signal) => {
      const path = { pipelineId, runId, stepRunId };
      const end = await api.get(READ, { path, query: { tail: LAST }, signal });
      if (end.firstError === null || end.firstError > end.lines - LAST) return { ...end, error: end.firstError };
      const from = Math.max(1, end.firstError - BEFORE);
      const to = end.firstError + BEHIND;
      const around = await api.get(READ, { path, query: { from, to, limit: to - from + 1 }, signal });
      return { ...around, error: end.firstError };
    },
    [pipelineId, runId, stepRunId],
  );
  // The place is kept while the lines are read, so that what stands below does not move.
  if (lines.value === undefined) return <div class={styles["lines"]} data-empty={true} aria-hidden="true" />;
  const { list, error } = lines.value;
  if (list.length === 0) return null;
  return (
    <ol class={styles["lines"]} aria-label={runWords.failureLines} tabIndex={0}>
      {list.map(({ line_number: line, content, level }) => (
        <li key={line} data-error={line === error}>
          <a href={`/runs/${runId}/steps/${stepRunId}#L${line}`} aria-label={runWords.log.line(line)} tabIndex={-1}>
            {line}
          </a>
          <span>{shownText(content, level)}</span>
        </li>
      ))}
    </ol>
  );
}

function shownText(content: string, level: string): string {
  const annotation = annotationMark(content, level);
  const begin = annotation === null ? "" : runWords.log.annotation[annotation.kind];
  return `${begin}${plainText(content, annotation?.messageAt).slice(0, MOST_CHARACTERS)}`;
}

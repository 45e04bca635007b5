/** What a step is and how it went: one line above its log. */
import { Status } from "../parts/status.tsx";
import { Elapsed } from "../parts/time.tsx";
import { sizeText } from "../parts/time-texts.ts";
import { useAgentNames } from "./agent-names.ts";
import type { StepPlace } from "./run-facts.ts";
import { runWords } from "./run-words.ts";
import styles from "./step-drawer.module.css";

export function StepFacts({ place: { job, step } }: { readonly place: StepPlace }) {
  const { status, attempt, exitCode, reason, usage, startTime, endTime, duration } = step;
  const names = useAgentNames();
  const why = status === "pending" || status === "queued" ? (step.waitingFor?.text ?? "") : reason;
  return (
    <p class={styles["facts"]}>
      <Status of={status} size={14} />
      <span class={styles["elapsed"]}>
        <Elapsed from={startTime} to={endTime} ms={duration} />
      </span>
      {exitCode === null || exitCode === 0 || reason.includes(`${exitCode}`) ? null : <span>exit {exitCode}</span>}
      {attempt > 1 ? <span>{runWords.attempt(attempt)}</span> : null}
      {usage === null || usage.maxRssBytes === 0 ? null : (
        <span title={runWords.mostMemory}>{runWords.memory(sizeText(usage.maxRssBytes))}</span>
      )}
      {job.agentId === null ? null : <a href={`/agents/${job.agentId}`}>{names.get(job.agentId) ?? runWords.agent}</a>}
      {why === "" ? null : (
        <span class={styles["why"]} title={why}>
          {why}
        </span>
      )}
    </p>
  );
}

/** A plan before it runs: what runs, what is skipped and why, who can take it, and what is missing. */
import badgeAlert from "lucide-static/icons/triangle-alert.svg?raw";
import circleDashed from "lucide-static/icons/circle-dashed.svg?raw";
import circleHelp from "lucide-static/icons/circle-question-mark.svg?raw";
import skip from "lucide-static/icons/skip-forward.svg?raw";
import type { Schemas } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import type { Resource } from "../api/resource.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading } from "../parts/loaded.tsx";
import { words } from "../words.ts";
import styles from "./plan-view.module.css";

const texts = words.trigger;
type Verdict = Schemas["Verdict"];
const SHAPES = { runs: circleDashed, skipped: skip, unknown: circleHelp } as const;

/** What most steps use, so that only others are named. */
const USUAL = "shell";
/** Of a large fleet the first agents are named. */
const MOST_NAMES = 4;

export function PlanView({ plan: { value, error } }: { readonly plan: Resource<Schemas["Plan"]> }) {
  if (error !== undefined) {
    return (
      <div class={styles["refused"]} role="alert">
        <strong>{texts.refused}</strong>
        <p>{problemText(error)}</p>
      </div>
    );
  }
  if (value === undefined) return <Loading rows={5} />;
  const missing = value.secrets.filter(({ isSet }) => isSet === false);
  return (
    <div class={styles["plan"]} aria-live="polite">
      <p class={styles["summary"]}>{texts.summary(value.jobsCount, value.stepsCount)}</p>
      {missing.length === 0 ? null : (
        <p class={styles["warning"]}>
          <Icon svg={badgeAlert} /> {texts.missingSecrets}: {missing.map(({ name }) => name).join(", ")}
        </p>
      )}
      {value.warnings.map(({ message, file, line, column }) => (
        <p key={`${file ?? ""} ${line} ${column} ${message}`} class={styles["warning"]}>
          <Icon svg={badgeAlert} /> {file === undefined ? null : `${file}:`}
          {line}:{column} {message}
        </p>
      ))}
      {value.stages.map((stage) => (
        <section key={stage.name} class={styles["stage"]}>
          {value.stages.length === 1 && stage.name === "default" ? null : (
            <h3>
              {stage.name} <Decision verdict={stage.verdict} />
            </h3>
          )}
          <ul>
            {stage.jobs.map((job) => (
              <li key={job.name} class={styles["job"]} data-outcome={job.verdict.outcome}>
                <p>
                  <Icon svg={SHAPES[job.verdict.outcome]} /> <strong>{job.name}</strong>{" "}
                  <Decision verdict={job.verdict} />
                  {job.approval ? <span class={styles["note"]}>{texts.approval}</span> : null}
                </p>
                {job.agents === null || job.verdict.outcome === "skipped" ? null : (
                  <p class={styles["under"]} data-bad={job.agents.matches === 0}>
                    {texts.agents(job.agents.matches)}
                    {job.agents.matching.length === 0 ? null : `: ${namesOf(job.agents)}`}
                    {job.agents.matches > 0
                      ? null
                      : job.agents.failing.map(({ clause, agents }) => (
                          <span key={clause}> · {texts.fails(clause, agents)}</span>
                        ))}
                  </p>
                )}
                <ol class={styles["steps"]}>
                  {job.steps.map((step, at) => (
                    <li key={`${at} ${step.name}`} data-outcome={step.verdict.outcome} title={step.uses}>
                      {step.name}
                      {step.uses === USUAL ? null : <code> {step.uses}</code>}
                      <Decision verdict={step.verdict} />
                    </li>
                  ))}
                </ol>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function namesOf({ matches, matching }: Schemas["AgentMatch"]): string {
  const names = matching.slice(0, MOST_NAMES).map(({ name }) => name);
  return texts.agentNames(names, matches - names.length);
}

/** Only what does not simply run is said. */
function Decision({ verdict: { outcome, decidedBy } }: { readonly verdict: Verdict }) {
  if (outcome === "runs") return null;
  return (
    <span class={styles["note"]}>
      {texts[outcome]}
      {decidedBy === "" ? null : (
        <>
          , <code>{decidedBy}</code>
        </>
      )}
    </span>
  );
}

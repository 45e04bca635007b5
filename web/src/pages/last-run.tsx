/** What the next run has otherwise than the last one: its definition and its variables. */
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Section } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";
import { words } from "../words.ts";
import { changedVariables, type Input, withDefaults } from "./inputs.ts";
import styles from "./trigger.module.css";

const texts = words.trigger;

export function LastRun({
  runId,
  revisionId,
  inputs,
  variables,
}: {
  readonly runId: string;
  readonly revisionId: string;
  readonly inputs: readonly Input[];
  /** What the trigger would give. */
  readonly variables: Readonly<Record<string, string>>;
}) {
  const run = useResource(
    (signal) => api.get("/pipelines/runs/{runId}", { path: { runId }, query: { attempts: "newest" }, signal }),
    [runId],
  );
  if (run.value === undefined) return null;
  const { revisionId: before, createdAt, variables: given } = run.value;
  // The same definition has the same defaults, whether a trigger named them or not.
  const had = before === revisionId ? withDefaults(inputs, given) : given;
  const changed = changedVariables(had, withDefaults(inputs, variables));
  const isSame = before === revisionId && changed.length === 0;
  const link = (
    <>
      <a href={`/runs/${runId}`}>{texts.lastRun}</a>, <Ago at={createdAt} />
    </>
  );
  return (
    <Section title={texts.changed}>
      <p class={styles["quiet"]}>
        {isSame ? texts.sameAsLast : before === revisionId ? null : texts.otherDefinition} {link}
      </p>
      {changed.length === 0 ? null : (
        <ul class={styles["changed"]} aria-live="polite">
          {changed.map((one) => (
            <li key={one.name}>
              <code>{one.name}</code> {one.now ?? texts.notGiven}
              <small>
                {" "}
                {texts.before} {one.before ?? texts.notGiven}
              </small>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

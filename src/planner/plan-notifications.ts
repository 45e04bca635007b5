/** The notifications of a definition as a plan holds them: with all values that are known when a run is planned. Pure. */
import type { Definition } from "../definition/definition.ts";
import type { RawNotification } from "../definition/schema/pipeline.ts";
import type { Path } from "../definition/text/source.ts";
import { parseDuration } from "../domain/durations.ts";
import type { NotificationMessage, PlannedNotification, RunPlan } from "../domain/plan.ts";
import { type PartialScope, type Scope, toPartialScope, UNKNOWN } from "../expressions/context-data.ts";
import { foldTemplate } from "../expressions/fold.ts";
import { OPEN } from "../expressions/template.ts";
import { mapTexts } from "./map-texts.ts";
import type { PlanBudget } from "./plan-budget.ts";

/** `base` knows what is known of the run. Throws `WorkUsedUp`. */
export function planNotifications(
  definition: Definition,
  base: Scope,
  budget: PlanBudget,
): Pick<RunPlan, "notifications"> {
  const known = toPartialScope({ jobs: UNKNOWN, secrets: UNKNOWN, notification: UNKNOWN }, base);
  const ofRun = definition.notify.map((raw, index) => planNotification(raw, null, ["notify", index]));
  const ofJobs = definition.stages.flatMap(({ jobs }) =>
    jobs.flatMap(({ name, path, notify }) =>
      notify.map((raw, index) => planNotification(raw, name, [...path, "notify", index])),
    ),
  );
  const notifications = [...ofRun, ...ofJobs];
  return notifications.length === 0 ? {} : { notifications };

  function planNotification(raw: RawNotification, job: string | null, path: Path): PlannedNotification {
    const { on, longerThan, webhook, slack, email } = raw;
    const channel = webhook !== undefined ? "webhook" : slack !== undefined ? "slack" : "email";
    const written = (webhook ?? slack ?? email) as NotificationMessage;
    return {
      job,
      on: [...new Set(on)],
      longerThanMs: longerThan === undefined ? null : parseDuration(longerThan)!,
      channel,
      message: folded(written, known, definition, budget.at([...path, channel])),
    };
  }
}

function folded<T>(value: T, known: PartialScope, definition: Definition, budget: PlanBudget): T {
  const fold = (text: string): string =>
    text.includes(OPEN) ? foldTemplate(definition.source.parsed.template(text), known, budget) : text;
  return mapTexts(value, [], fold) as T;
}

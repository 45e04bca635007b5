/** Checks of triggers beyond their shape: schedules, events and their filters, and inputs. */
import { Cron } from "croner";
import { HOOK_EVENTS } from "../../hook-events/words.ts";
import { formatDuration, parseDuration } from "../../domain/durations.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import { EXPRESSION_PLACES } from "../text/expression-places.ts";
import { findInputProblem } from "../inputs.ts";
import { checkName } from "./name-checks.ts";
import { checkPatterns } from "./pattern-checks.ts";
import { asMap, type Located, mapBlockOf, mapsOf, type Raw } from "../text/raw.ts";
import type { Reach } from "./reach.ts";
import { clip } from "../text/read-text.ts";
import { inputSchema } from "../schema/triggers.ts";
import { scalar } from "../schema/values.ts";
import type { Path, Source } from "../text/source.ts";
import { checkCondition, refuseExpressions } from "./texts.ts";

/** The start is fixed, so that the answer does not depend on the day of the check. */
const FROM = "2000-01-01T00:00:00Z";
/** Times that are looked at for the smallest gap between two of them. */
const COMPARED_TIMES = 60;

const FILTERS = ["branches", "tags", "paths", "labels", "actions"] as const;
type Filter = (typeof FILTERS)[number];

/** The events that the providers other than `generic` send, and the filters of each. `generic` takes any event and any filter. */
const EVENT_FILTERS: ReadonlyMap<string, readonly Filter[]> = new Map<(typeof HOOK_EVENTS)[number], readonly Filter[]>([
  ["push", ["branches", "paths"]],
  ["tag", ["tags"]],
  ["pull_request", ["branches", "paths", "labels", "actions"]],
  ["release", ["tags", "actions"]],
  ["comment", ["branches", "labels", "actions"]],
]);
export const EVENTS: readonly string[] = HOOK_EVENTS;

/** Reports what is wrong with the triggers of a definition. */
export function checkTriggers(source: Source, root: Raw, reach: Reach): void {
  const block = mapBlockOf(root, [], "triggers");
  if (block === undefined) return;
  const { value, path } = block;
  const inputs = asMap(asMap(value["manual"])?.["inputs"]) ?? {};
  checkInputs(source, inputs, [...path, "manual", "inputs"], root);
  const names = new Set<string>();
  for (const cron of mapsOf(value["cron"], [...path, "cron"])) {
    checkName(source, names, cron, "trigger");
    refuseExpressions(source, cron.value, cron.path, "a cron trigger");
    checkCron(source, cron);
    checkCronVariables(source, cron, inputs);
  }
  for (const event of mapsOf(value["event"], [...path, "event"])) {
    checkName(source, names, event, "trigger");
    checkEvent(source, event, reach);
  }
}

function checkInputs(source: Source, inputs: Raw, path: Path, root: Raw): void {
  refuseExpressions(source, inputs, path, "inputs");
  for (const [name, given] of Object.entries(inputs)) {
    const at = [...path, name];
    const report = (key: string, message: string, hint?: string): void =>
      source.report("invalid-input", [...at, key], message, hint === undefined ? {} : { hint });
    if (Object.hasOwn(asMap(root["variables"]) ?? {}, name)) {
      const message = `\`variables\` declares "${clip(name)}" too: remove it there, and give it a \`default\` here`;
      source.report("duplicate-name", at, message, { spot: "key" });
    }
    const { data: input } = inputSchema.safeParse(given);
    if (input === undefined) continue;
    const { type = "string", options, default: preset, required } = input;
    if (type === "choice" && options === undefined) {
      source.report("invalid-input", at, "a choice needs `options`", { spot: "key" });
    }
    if (type !== "choice" && options !== undefined) report("options", "`options` are allowed only with `type: choice`");
    if (preset !== undefined && required === true)
      report("required", "an input with a `default` is never missing", "remove `default` or `required`");
    const problem = preset === undefined ? undefined : findInputProblem(input, preset);
    if (problem !== undefined) report("default", `\`default\` ${problem}`);
  }
}

function checkCron(source: Source, { value, path }: Located): void {
  const { schedule, timezone } = value;
  if (typeof timezone === "string" && timezone !== "" && !isTimeZone(timezone)) {
    const near = didYouMean(timezone, Intl.supportedValuesOf("timeZone"));
    source.report("invalid-cron", [...path, "timezone"], `there is no time zone "${clip(timezone)}"${near}`);
  }
  if (typeof schedule !== "string" || schedule === "") return;
  const problem = findScheduleProblem(schedule);
  if (problem === undefined) return checkJitter(source, schedule, value["jitter"], path);
  source.report("invalid-cron", [...path, "schedule"], problem, {
    hint: 'write it like "30 5 * * 1-5": minute, hour, day of the month, month, day of the week',
  });
}

/** Reports a jitter with which a run could begin at the next time of the schedule, or later. */
function checkJitter(source: Source, schedule: string, jitter: unknown, path: Path): void {
  const jitterMs = typeof jitter === "string" ? parseDuration(jitter) : undefined;
  if (jitterMs === undefined) return;
  const gapMs = smallestGap(schedule);
  if (jitterMs < gapMs) return;
  const problem = `the times of this schedule are as little as ${formatDuration(gapMs)} apart: the jitter must be shorter`;
  source.report("invalid-cron", [...path, "jitter"], problem);
}

/** Between two of the next times of a schedule, milliseconds. */
function smallestGap(schedule: string): number {
  const cron = new Cron(schedule, { paused: true, timezone: "UTC" });
  const times = cron.nextRuns(COMPARED_TIMES, FROM).map((time) => time.getTime());
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  return Math.min(...gaps);
}

/** Reports variables of a cron trigger that the inputs of the same names refuse: no user is present to correct them later. */
function checkCronVariables(source: Source, { value, path }: Located, inputs: Raw): void {
  for (const [name, given] of Object.entries(asMap(value["variables"]) ?? {})) {
    const { data: input } = inputSchema.safeParse(Object.hasOwn(inputs, name) ? inputs[name] : undefined);
    const { data: variable } = scalar.safeParse(given);
    const problem = input === undefined || variable === undefined ? undefined : findInputProblem(input, variable);
    if (problem === undefined) continue;
    source.report("invalid-input", [...path, "variables", name], `the input "${clip(name)}" ${problem}`);
  }
}

function findScheduleProblem(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/).length;
  if (fields !== 5) return `a schedule has five fields; this one has ${fields}`;
  try {
    const next = new Cron(schedule, { paused: true, timezone: "UTC" }).nextRun(FROM);
    return next === null ? "this schedule matches no date" : undefined;
  } catch (error) {
    const words = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
    return `this schedule cannot be read: ${clip(wordsOfCron(words))}`;
  }
}

/** The values of a field, by its name in the messages of croner, which counts days and months from 0. */
const FIELDS: Readonly<Record<string, string>> = {
  minute: "a minute is a number from 0 to 59",
  hour: "an hour is a number from 0 to 23",
  day: "a day of the month is a number from 1 to 31",
  nearestWeekdays: "a day of the month is a number from 1 to 31",
  month: "a month is a number from 1 to 12, or a name such as JAN",
  dayOfWeek: "a day of the week is a number from 0 to 7, or a name such as MON",
};

function wordsOfCron(words: string): string {
  const field = /^Invalid value for (\w+):|^(\w+) is not a number:/.exec(words);
  const range = /^From value is larger than to value: ('[^']*')/.exec(words)?.[1];
  if (range !== undefined) return `the range ${range} ends before it begins`;
  return FIELDS[field?.[1] ?? field?.[2] ?? ""] ?? words;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // An offset such as +02:00 does not change with summer time, so only names are taken.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

function checkEvent(source: Source, { value, path }: Located, reach: Reach): void {
  const { provider, event } = value;
  if (typeof event === "string" && provider !== "generic" && !EVENTS.includes(event)) {
    const near = event === "merge_request" ? ' (did you mean "pull_request"?)' : didYouMean(event, EVENTS);
    source.report("invalid-event", [...path, "event"], `there is no event "${clip(event)}"${near}`, {
      hint: `known events: ${EVENTS.join(", ")}; with \`provider: generic\` any word`,
    });
  }
  for (const key of FILTERS) {
    if (value[key] !== undefined && provider !== "generic") checkFilter(source, event, key, path);
    if (key === "actions") refuseExpressions(source, value[key], [...path, key], "`actions`");
    else checkPatterns(source, value[key], [...path, key], key);
  }
  checkPatterns(source, value["actors"], [...path, "actors"], "actors");
  checkCondition(source, value["when"], [...path, "when"], EXPRESSION_PLACES.eventWhen, reach);
}

/** Reports a filter that the event does not support. */
function checkFilter(source: Source, event: unknown, key: Filter, path: Path): void {
  const filters = typeof event === "string" ? EVENT_FILTERS.get(event) : undefined;
  if (filters === undefined || filters.includes(key)) return;
  const known = filters.map((one) => `\`${one}\``).join(" and ");
  source.report("invalid-event", [...path, key], `a \`${String(event)}\` has no ${key}: this would match nothing`, {
    spot: "key",
    hint: `it can be filtered by ${known}${event === "push" ? "; the event `tag` has `tags`" : ""}`,
  });
}

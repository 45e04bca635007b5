/** What triggers must be beyond their shape: schedules that come to pass, events that exist, inputs that fit. */
import { Cron } from "croner";
import { didYouMean } from "../expressions/nearest.ts";
import { EXPRESSION_PLACES } from "./expression-places.ts";
import { findInputProblem } from "./inputs.ts";
import { checkName } from "./name-checks.ts";
import { asMap, type Located, mapBlockOf, mapsOf, type Raw, textsOf } from "./raw.ts";
import type { Reach } from "./reach.ts";
import { clip } from "./read-text.ts";
import { inputSchema } from "./schema/triggers.ts";
import type { Path, Source } from "./source.ts";
import { checkCondition, refuseExpressions } from "./texts.ts";

/** Words of the providers whose events are known; those of `generic` are free. */
const EVENTS = ["push", "tag", "pull_request", "release", "comment"];

export function checkTriggers(source: Source, root: Raw, reach: Reach): void {
  const block = mapBlockOf(root, [], "triggers");
  if (block === undefined) return;
  const { value, path } = block;
  checkInputs(source, asMap(asMap(value["manual"])?.["inputs"]) ?? {}, [...path, "manual", "inputs"], root);
  const names = new Set<string>();
  for (const cron of mapsOf(value["cron"], [...path, "cron"])) {
    checkName(source, names, cron, "trigger");
    refuseExpressions(source, cron.value, cron.path, "a cron trigger");
    checkCron(source, cron);
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
    const report = (key: string, message: string): void => source.report("invalid-input", [...at, key], message);
    if (Object.hasOwn(asMap(root["variables"]) ?? {}, name)) {
      const message = `\`variables\` declares "${clip(name)}" too: give it a \`default\` here instead`;
      source.report("duplicate-name", at, message, { spot: "key" });
    }
    const { data: input } = inputSchema.safeParse(given);
    if (input === undefined) continue;
    const { type = "string", options, default: preset, required } = input;
    if (type === "choice" && options === undefined) {
      source.report("invalid-input", at, "a choice needs `options`", { spot: "key" });
    }
    if (type !== "choice" && options !== undefined) report("options", "`options` go with `type: choice` alone");
    if (preset !== undefined && required === true) report("required", "what has a `default` is never missing");
    const problem = preset === undefined ? undefined : findInputProblem(input, preset);
    if (problem !== undefined) report("default", problem);
  }
}

function checkCron(source: Source, { value, path }: Located): void {
  const { schedule, timezone } = value;
  if (typeof timezone === "string" && !isTimeZone(timezone)) {
    const near = didYouMean(timezone, Intl.supportedValuesOf("timeZone"));
    source.report("invalid-cron", [...path, "timezone"], `there is no time zone "${clip(timezone)}"${near}`);
  }
  if (typeof schedule !== "string" || schedule === "") return;
  const problem = findScheduleProblem(schedule);
  if (problem === undefined) return;
  source.report("invalid-cron", [...path, "schedule"], problem, {
    hint: 'such as "30 5 * * 1-5": minute, hour, day of the month, month, day of the week',
  });
}

function findScheduleProblem(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/).length;
  if (fields !== 5) return `a schedule has five fields; this one has ${fields}`;
  try {
    // From a fixed time: whether a schedule ever comes to pass must not depend on the day on which it is checked.
    const next = new Cron(schedule, { paused: true, timezone: "UTC" }).nextRun("2000-01-01T00:00:00Z");
    return next === null ? "this never comes to pass" : undefined;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return `this schedule cannot be read: ${clip(words.replace(/^CronPattern: /, ""))}`;
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // Offsets such as +02:00 know no summer time.
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
  if (event === "push" && value["tags"] !== undefined && value["branches"] !== undefined) {
    source.report("invalid-event", [...path, "tags"], "a push is of a branch: use the event `tag` for tags", {
      spot: "key",
    });
  }
  for (const key of ["branches", "tags", "paths"]) checkPatterns(source, value[key], [...path, key], key);
  checkCondition(source, value["when"], [...path, "when"], EXPRESSION_PLACES.eventWhen, reach);
}

function checkPatterns(source: Source, value: unknown, path: Path, key: string): void {
  refuseExpressions(source, value, path, `\`${key}\``);
  const filter = asMap(value);
  const lists = filter === undefined ? [{ list: value, at: path }] : [];
  for (const part of ["include", "exclude"]) {
    if (filter !== undefined) lists.push({ list: filter[part], at: [...path, part] });
  }
  for (const { list, at } of lists) {
    for (const { text, path: place } of textsOf(list, at)) {
      const problem = findPatternProblem(text, key);
      if (problem !== undefined) source.report("invalid-pattern", place, problem);
    }
  }
}

function findPatternProblem(pattern: string, key: string): string | undefined {
  if (pattern.startsWith("!")) return "write what to leave out under `exclude`";
  if (key === "paths" && /^\.?\//.test(pattern)) return "paths begin at the root of the repository, without `/`";
  if (key !== "paths" && pattern.startsWith("refs/"))
    return `give the name alone, without \`${/^refs\/[^/]*\//.exec(pattern)?.[0] ?? "refs/"}\``;
  if (count(pattern, /\[/g) !== count(pattern, /\]/g) || count(pattern, /\{/g) !== count(pattern, /\}/g)) {
    return "a bracket of this pattern is not closed";
  }
  return undefined;
}

function count(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}

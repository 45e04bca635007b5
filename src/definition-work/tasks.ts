/**
 * What is computed for definitions, as functions from plain data to plain data: they run in the process that asks and in a
 * thread alike. Pure.
 */
import { countJobs, countSteps } from "../definition/count.ts";
import type { KnownHook } from "../definition/checks/hook-checks.ts";
import type { Definition } from "../definition/definition.ts";
import { editText } from "../definition/edit/edit-text.ts";
import { renderSpec, textToSpec } from "../definition/edit/render.ts";
import { type ParsedDefinition, parseDefinition, resolvedSpec } from "../definition/parse.ts";
import { schedulesOf } from "../definition/schedules.ts";
import { includePathsIn, type Includes } from "../definition/include/included-files.ts";
import type { Diagnostic } from "../definition/text/diagnostics.ts";
import type { Format } from "../definition/text/read-text.ts";
import { Source } from "../definition/text/source.ts";
import type { HookKind } from "../hook-events/words.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { FoundPlugin, PluginLookup } from "../domain/plugins.ts";
import type { ScheduleSpec } from "../domain/schedules.ts";
import { findTooLargeForAll } from "../planner/definition-size.ts";
import { type DryRunResult, dryRun } from "../planner/dry-run.ts";
import { PlanBudget } from "../planner/plan-budget.ts";
import { type EventJudgement, type EventSubject, judgeEvents } from "../planner/judge-events.ts";
import type { Subject } from "../planner/plan-contexts.ts";
import { type PlanInput, type PlanResult, planRun } from "../planner/plan-run.ts";
import { checkArgs } from "../plugins/args-check.ts";

export { judgeEvents, PlanBudget };

/** Plugins of the registry, by the references of a definition. */
export type KnownPlugins = readonly (readonly [uses: string, found: KnownPlugin])[];
export type KnownPlugin =
  | Omit<FoundPlugin & { readonly found: "release" }, "checkArgs">
  | Exclude<FoundPlugin, { readonly found: "release" }>;

export interface DefinitionText {
  readonly text: string;
  readonly format: Format;
  /** What a definition of a repository includes; absent for one that includes nothing, and for one in no repository. */
  readonly includes?: Includes | undefined;
}

export interface DraftInput {
  /** The text to edit; null to write a new one. */
  readonly head: string | null;
  /** JSON. */
  readonly spec: string;
  readonly format: Format;
}

export interface CheckInput extends DefinitionText {
  /** The largest snapshot of a run that the store holds, bytes; absent or null when no store bounds it. */
  readonly snapshotBytes?: number | null;
  /** Null: steps that use plugins are not checked. */
  readonly plugins: KnownPlugins | null;
  /** The hooks of the project; absent: event triggers are not compared with them. */
  readonly hooks?: readonly KnownHook[];
  /** The digests that images had in earlier runs, by their references. */
  readonly digests?: Pairs<string>;
}

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Null for a definition with errors. */
  readonly size: { readonly jobsCount: number; readonly stepsCount: number } | null;
  /** The references to plugins in `uses`, each once. */
  readonly plugins: readonly string[];
  /** The cron triggers; none for a definition with errors. */
  readonly schedules: readonly ScheduleSpec[];
  /** The providers of event triggers, each once; none for a definition with errors. */
  readonly providers: readonly HookKind[];
}

export interface PlanTask<Input> extends DefinitionText {
  readonly plugins: KnownPlugins;
  readonly input: Omit<Input, "definition" | "plugins">;
}

/** The results are JSON values. A text to plan must be valid. */
export interface Tasks {
  /** The text of a spec. */
  draft: { readonly input: DraftInput; readonly result: string };
  /** The spec of a text; null for one that cannot be read. */
  spec: { readonly input: DefinitionText; readonly result: unknown };
  /** The spec of a text with what it includes; null for a text with errors. */
  resolved: { readonly input: DefinitionText; readonly result: unknown };
  /** The paths that a text includes; null for one without `include`, and for one that cannot be read. */
  includes: { readonly input: DefinitionText; readonly result: readonly string[] | null };
  check: { readonly input: CheckInput; readonly result: Checked };
  plan: { readonly input: PlanTask<PlanInput>; readonly result: PlanResult };
  dryRun: { readonly input: PlanTask<Subject>; readonly result: DryRunResult };
  /** Which event triggers an event starts. */
  events: { readonly input: EventTask; readonly result: readonly EventJudgement[] };
}

export interface EventTask extends DefinitionText {
  readonly subject: EventSubject;
}

/** Reads a definition; a thread remembers the last ones. */
export type ReadDefinition = (text: DefinitionText) => Definition;

export function performTask<Name extends keyof Tasks>(
  name: Name,
  input: Tasks[Name]["input"],
  read: ReadDefinition,
): Tasks[Name]["result"] {
  const performers: { [Each in keyof Tasks]: (input: Tasks[Each]["input"]) => Tasks[Each]["result"] } = {
    draft: draftText,
    spec: ({ text, format }) => (new Source(text, format).hasErrors ? null : textToSpec(text, format)),
    resolved: ({ text, format, includes }) => resolvedSpec(text, format, includes) ?? null,
    includes: ({ text, format }) => includePathsIn(new Source(text, format).value) ?? null,
    check: (asked) => checkText(asked).checked,
    plan: (asked) => planDefinition(read(asked), asked),
    dryRun: (asked) => dryRunDefinition(read(asked), asked),
    events: (asked) => judgeEvents(read(asked), asked.subject),
  };
  return performers[name](input);
}

export function draftText({ head, spec, format }: DraftInput): string {
  const value: unknown = JSON.parse(spec);
  return head === null ? renderSpec(value, format) : editText(head, format, value);
}

/** `definition` is undefined for a text with errors. */
export function checkText({ text, format, includes, plugins, hooks, digests, snapshotBytes = null }: CheckInput): {
  readonly checked: Checked;
  readonly definition: Definition | undefined;
} {
  const parsed = refuseTooLarge(
    parseDefinition(text, format, {
      lookup: plugins === null ? undefined : lookupIn(plugins),
      hooks,
      includes,
      digests: digests && new Map(digests),
    }),
    snapshotBytes,
  );
  const { definition, diagnostics } = parsed;
  const size =
    definition === undefined ? null : { jobsCount: countJobs(definition), stepsCount: countSteps(definition) };
  const schedules = definition === undefined ? [] : schedulesOf(definition);
  const providers = [...new Set(definition?.triggers.event.map(({ provider }) => provider))];
  return { checked: { diagnostics, size, plugins: parsed.plugins, schedules, providers }, definition };
}

function refuseTooLarge(parsed: ParsedDefinition, limit: number | null): ParsedDefinition {
  const { definition } = parsed;
  const large = definition === undefined || limit === null ? undefined : findTooLargeForAll(definition, limit);
  if (definition === undefined || large === undefined) return parsed;
  const found = definition.source.locate("snapshot-limit", "error", large.path, large.message);
  const diagnostics = [...parsed.diagnostics, found].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { ...parsed, definition: undefined, diagnostics };
}

/** The definition of a text that was found valid. */
export function readDefinition({ text, format, includes }: DefinitionText): Definition {
  const { definition, diagnostics } = parseDefinition(text, format, { includes });
  if (definition === undefined) throw new Error(`the definition is not valid: ${diagnostics[0]?.message}`);
  return definition;
}

export function planDefinition(
  definition: Definition,
  { plugins, input }: Omit<PlanTask<PlanInput>, keyof DefinitionText>,
  budget?: PlanBudget,
): PlanResult {
  // The spread last: members behind it take V8 of Node 20 some microseconds.
  return planRun({ definition, plugins: lookupIn(plugins), ...input }, budget);
}

export function dryRunDefinition(
  definition: Definition,
  { plugins, input }: Omit<PlanTask<Subject>, keyof DefinitionText>,
  budget?: PlanBudget,
): DryRunResult {
  return dryRun({ ...input, definition, plugins: lookupIn(plugins) }, budget);
}

/** Every plugin that the definition names was looked up; any other is unknown. */
export function lookupIn(plugins: KnownPlugins): PluginLookup {
  const found = new Map(plugins);
  return (uses) => {
    const plugin = found.get(uses) ?? { found: "nothing", names: [] };
    if (plugin.found !== "release") return plugin;
    return { ...plugin, checkArgs: ({ args: schema }, args, isDeferred) => checkArgs(schema, args, isDeferred) };
  };
}

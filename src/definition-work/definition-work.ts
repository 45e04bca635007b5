/**
 * Drafts, checks and plans definitions: small ones at once, because the way to a thread and back costs more, and large ones in
 * threads, so that no definition holds the event loop for longer than some 20 ms.
 */
import type { Definition } from "../definition/definition.ts";
import type { Format } from "../definition/text/read-text.ts";
import type { HookKind } from "../hook-events/words.ts";
import type { DryRunResult } from "../planner/dry-run.ts";
import type { ScheduleSpec } from "../domain/schedules.ts";
import type { EventJudgement, EventSubject } from "../planner/judge-events.ts";
import type { PlanBudget } from "../planner/plan-budget.ts";
import type { Subject } from "../planner/plan-contexts.ts";
import type { PlanInput, PlanResult } from "../planner/plan-run.ts";
import type * as TasksModule from "./tasks.ts";
import type { Checked, CheckInput, DefinitionText, PlanTask, Tasks } from "./tasks.ts";
import type { Threads } from "./threads.ts";

/** A text of more characters goes to a thread: 8,192 take about 8 ms, the way there and back about 1 ms. */
const INLINE_CHARS = 8_192;

/** A plan that costs more work is made in a thread. A matrix makes a large plan of a small text. */
const INLINE_WORK = 1_048_576;

/** A valid definition. `definition` is null for a large one, which only threads read. */
export interface KnownDefinition extends DefinitionText {
  readonly plugins: readonly string[];
  readonly schedules: readonly ScheduleSpec[];
  /** The providers of its event triggers, each once. */
  readonly providers: readonly HookKind[];
  readonly definition: Definition | null;
}

export interface CheckedDefinition extends Checked {
  /** Null for a definition with errors. */
  readonly known: KnownDefinition | null;
}

type PlanRequest<Input> = Omit<PlanTask<Input>, keyof DefinitionText>;

/** The methods reject as `Threads.run` does. `caller`: who asks; the bounds count for each caller. */
export class DefinitionWork {
  readonly #threads: Threads | null;

  /** Without threads, everything is computed at once. */
  constructor(threads: Threads | null) {
    this.#threads = threads;
  }

  /** The text of a spec, a JSON value. `head`: the text to edit; null to write a new one. */
  async draft(caller: string, { head, spec, format }: DraftOf): Promise<string> {
    const input = { head, spec: JSON.stringify(spec), format };
    const isSmall = (head ?? "").length + input.spec.length <= INLINE_CHARS;
    return isSmall ? (await loadTasks()).draftText(input) : this.#perform(caller, head ?? "", "draft", input);
  }

  /** What a text holds, valid or not; null for one that cannot be read. */
  async spec(caller: string, source: DefinitionText): Promise<unknown> {
    return this.#read(caller, "spec", source);
  }

  /** The definition with what it includes, as its spec; null for one with errors. */
  async resolved(caller: string, source: DefinitionText): Promise<unknown> {
    return this.#read(caller, "resolved", source);
  }

  /** The good paths in the `include` of a text; undefined for a text without the key, and for one that cannot be read. */
  async includePaths(caller: string, text: string, format: Format): Promise<readonly string[] | undefined> {
    return (await this.#read(caller, "includes", { text, format })) ?? undefined;
  }

  async check(caller: string, input: CheckInput): Promise<CheckedDefinition> {
    const { text, format, includes } = input;
    if (sizeOf(input) <= INLINE_CHARS) {
      const { checkText } = await loadTasks();
      const { checked, definition } = checkText(input);
      const { plugins, schedules, providers } = checked;
      const known = { text, format, includes, plugins, schedules, providers };
      return { ...checked, known: definition === undefined ? null : { ...known, definition } };
    }
    const checked = await this.#perform(caller, text, "check", input);
    const { plugins, schedules, providers } = checked;
    const known = { text, format, includes, plugins, schedules, providers, definition: null };
    return { ...checked, known: checked.size === null ? null : known };
  }

  async plan(caller: string, known: KnownDefinition, request: PlanRequest<PlanInput>): Promise<PlanResult> {
    if (known.definition !== null) {
      const { PlanBudget: Budget, planDefinition } = await loadTasks();
      const budget = this.#inlineBudget(Budget);
      const result = planDefinition(known.definition, request, budget);
      if (!this.#isTooMuch(budget)) return result;
    }
    return this.#perform(caller, known.text, "plan", { ...textOf(known), ...request });
  }

  async dryRun(caller: string, known: KnownDefinition, request: PlanRequest<Subject>): Promise<DryRunResult> {
    if (known.definition !== null) {
      const { PlanBudget: Budget, dryRunDefinition } = await loadTasks();
      const budget = this.#inlineBudget(Budget);
      const result = dryRunDefinition(known.definition, request, budget);
      if (!this.#isTooMuch(budget)) return result;
    }
    return this.#perform(caller, known.text, "dryRun", { ...textOf(known), ...request });
  }

  /** Which event triggers an event starts. */
  async judgeEvents(caller: string, known: KnownDefinition, subject: EventSubject): Promise<readonly EventJudgement[]> {
    if (known.definition !== null) return (await loadTasks()).judgeEvents(known.definition, subject);
    return this.#perform(caller, known.text, "events", { ...textOf(known), subject });
  }

  #inlineBudget(Budget: typeof PlanBudget): PlanBudget {
    return this.#threads === null ? new Budget() : new Budget(INLINE_WORK);
  }

  #isTooMuch(budget: PlanBudget): boolean {
    return this.#threads !== null && budget.isUsedUp;
  }

  /** What follows from a text alone; that of a small one is found at once. */
  async #read<Name extends "spec" | "resolved" | "includes">(
    caller: string,
    name: Name,
    source: DefinitionText,
  ): Promise<Tasks[Name]["result"]> {
    const isSmall = sizeOf(source) <= INLINE_CHARS;
    return isSmall ? performAtOnce(name, source) : this.#perform(caller, source.text, name, source);
  }

  async #perform<Name extends keyof Tasks>(
    caller: string,
    text: string,
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["result"]> {
    if (this.#threads === null) return performAtOnce(name, input);
    return this.#threads.run(caller, text, name, input);
  }
}

let tasks: Promise<typeof TasksModule> | undefined;

/** The parser, the checks and the planner are a tenth of the program. A node loads them with the first definition. */
function loadTasks(): Promise<typeof TasksModule> {
  return (tasks ??= import("./tasks.ts"));
}

async function performAtOnce<Name extends keyof Tasks>(
  name: Name,
  input: Tasks[Name]["input"],
): Promise<Tasks[Name]["result"]> {
  const { performTask, readDefinition } = await loadTasks();
  return performTask(name, input, readDefinition);
}

function textOf({ text, format, includes }: KnownDefinition): DefinitionText {
  return { text, format, includes };
}

/** Characters of a definition with all that it includes. */
function sizeOf({ text, includes }: DefinitionText): number {
  return (includes?.files ?? []).reduce((sum, file) => sum + ("text" in file ? file.text.length : 0), text.length);
}

interface DraftOf {
  readonly head: string | null;
  readonly spec: unknown;
  readonly format: Format;
}

/** For programs that serve one user. */
export const WORK_AT_ONCE = new DefinitionWork(null);

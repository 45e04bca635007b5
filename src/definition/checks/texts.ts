/** Checks of the expressions in the texts of a definition: their places, what they read, and their types. */
import { checkTypes } from "../../expressions/check-types.ts";
import type { TypeProblem } from "../../expressions/type-problem.ts";
import type { Condition } from "../../expressions/condition.ts";
import { FUNCTIONS, STATUS_FUNCTIONS } from "../../expressions/functions.ts";
import { didYouMean, nearest } from "../../expressions/nearest.ts";
import { OPEN, type Reference, type TemplateProblem, type TextSpan } from "../../expressions/template.ts";
import type { DiagnosticCode } from "../text/diagnostics.ts";
import { CONTEXTS, type ContextName, EXPRESSION_PLACES, type ExpressionPlace } from "../text/expression-places.ts";
import { type Reach, typesFor } from "./reach.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source, TextSpot } from "../text/source.ts";

/** Visits every text within `value`, at any depth. */
export function forEachText(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === "string") visit(value, path);
  else if (Array.isArray(value)) value.forEach((item, index) => forEachText(item, [...path, index], visit));
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) forEachText(item, [...path, key], visit);
  }
}

/**
 * Checks the expressions of every text within `value`. `use`: whether an expression that is the whole text becomes a text too, or
 * keeps its type. `isScript` is true for a text that is run as code: a value of the trigger in it gets a warning.
 */
export function checkTexts(
  source: Source,
  value: unknown,
  path: Path,
  place: ExpressionPlace,
  reach: Reach,
  { use = "text", isScript = () => false }: { use?: "text" | "value"; isScript?: (at: Path) => boolean } = {},
): void {
  forEachText(value, path, (text, at) => {
    if (text.includes("\0")) source.report("invalid-value", at, "a text for a step cannot contain a NUL character");
    if (!text.includes(OPEN)) return;
    const template = source.parsed.template(text);
    checkReferences(source, text, at, OPEN, template, place, reach);
    if (template.problems.length === 0 && areReadable(template.references, place)) {
      reportTypes(source, text, at, OPEN, checkTypes(template, typesFor(reach, template.references), use));
    }
    const injected = isScript(at) ? template.references.find(isUntrusted) : undefined;
    if (injected === undefined) return;
    source.report("script-injection", at, "a trigger value inside a script can run as code", {
      severity: "warning",
      spot: spotIn(text, injected),
      hint: "put it into `env` and read the variable in the script",
    });
  });
}

/** Checks a `when`, which is one expression, with or without `${{ }}` around it. */
export function checkCondition(source: Source, when: unknown, path: Path, place: ExpressionPlace, reach: Reach): void {
  if (typeof when !== "string") return;
  if (when.trim() === "") {
    source.report("expression-syntax", path, "this condition is empty", { hint: "remove `when` to imply success()" });
    return;
  }
  const condition = source.parsed.condition(when);
  const mark = when.includes(OPEN) ? OPEN : "";
  checkReferences(source, when, path, mark, condition, place, reach);
  if (condition.problems.length > 0 || !areReadable(condition.references, place)) return;
  if (condition.usesStatus && place === EXPRESSION_PLACES.eventWhen) {
    const message = `success(), failure(), always() and cancelled() cannot be called in ${place.words}: nothing has run yet`;
    source.report("expression-misplaced", path, message);
    return;
  }
  reportTypes(source, when, path, mark, checkTypes(condition, typesFor(reach, condition.references), "condition"));
}

/** Reports expressions in texts that are used without evaluation. */
export function refuseExpressions(source: Source, value: unknown, path: Path, place: string): void {
  forEachText(value, path, (text, at) => {
    const offset = text.indexOf(OPEN);
    if (offset < 0) return;
    source.report("expression-misplaced", at, `expressions are not evaluated in ${place}`, {
      spot: spotIn(text, { offset, length: OPEN.length }),
      hint: "they are evaluated in `args`, `env`, `when`, `outputs`, the names of steps, and the other places that docs/definition.md lists",
    });
  });
}

/** The place of a part of a template's text. */
export function spotIn(text: string, { offset, length }: TextSpan, mark: string = OPEN): TextSpot {
  return { text, mark, offset, length };
}

/** Whether all references may be read in the place; for those that may not, no types are known. */
function areReadable(references: readonly Reference[], { contexts }: ExpressionPlace): boolean {
  return references.every((reference) => contexts.some((context) => context === reference.context));
}

function isUntrusted({ context, field }: Reference): boolean {
  return context === "trigger" && field !== "kind";
}

function checkReferences(
  source: Source,
  text: string,
  path: Path,
  mark: string,
  { references, problems }: Pick<Condition, "references" | "problems">,
  place: ExpressionPlace,
  reach: Reach,
): void {
  for (const problem of problems) reportProblem(source, text, path, mark, problem);
  for (const reference of references) {
    const context = CONTEXTS.find((one) => one === reference.context);
    if (context === undefined) continue;
    const spot = spotIn(text, reference, mark);
    if (!place.contexts.includes(context)) {
      const allowed = place.contexts.map((one) => `\`${one}\``).join(", ");
      const message = `\`${context}\` cannot be read in ${place.words}`;
      source.report("expression-misplaced", path, message, {
        spot,
        hint: `contexts that can be read here: ${allowed}`,
      });
    } else checkReach(source, path, spot, context, reference.field, reach);
  }
}

function checkReach(
  source: Source,
  path: Path,
  spot: TextSpot,
  context: ContextName,
  field: string | null,
  reach: Reach,
): void {
  if (field === null) return;
  if (context === "jobs" && reach.jobs.find(field) === undefined) {
    const exists = reach.allJobs.has(field);
    const names = reach.jobs.names();
    const near = exists ? "" : didYouMean(field, names);
    const message = exists
      ? `job "${clip(field)}" may not have ended when this is read`
      : `there is no job "${clip(field)}"${near}`;
    const hint = exists ? "name it in `needs`, or read it in a later stage" : listReadable("job", names);
    source.report("unknown-job", path, message, { spot, hint });
  } else if (context === "steps" && !reach.steps.has(field)) {
    const exists = reach.allSteps.has(field);
    const near = exists ? "" : didYouMean(field, [...reach.steps.keys()]);
    const message = exists
      ? `step "${clip(field)}" has not ended when this is read`
      : `there is no step with the id "${clip(field)}" before this${near}`;
    source.report("unknown-step", path, message, {
      spot,
      hint: reach.steps.size === 0 ? "give the earlier step an `id`" : listReadable("step", [...reach.steps.keys()]),
    });
  } else if (context === "variables" && !reach.variables.includes(field)) {
    const near = nearest(field, reach.variables);
    if (near === undefined) return;
    source.report("undefined-value", path, `no variable "${clip(field)}" is declared (did you mean "${near}"?)`, {
      severity: "warning",
      spot,
      hint: "it is empty unless the trigger, the project or the tenant gives it a value",
    });
  }
}

function listReadable(noun: "job" | "step", names: readonly string[]): string {
  return names.length === 0
    ? `no ${noun} can be read here`
    : `${noun}s that can be read here: ${clip(names.join(", "))}`;
}

const CODES: Readonly<Record<TypeProblem["kind"], DiagnosticCode>> = {
  "unknown-property": "unknown-property",
  "type-mismatch": "type-mismatch",
  "unknown-word": "unknown-word",
  "invalid-call": "invalid-call",
  "constant-condition": "constant-condition",
};

function reportTypes(source: Source, text: string, path: Path, mark: string, problems: readonly TypeProblem[]): void {
  for (const problem of problems) {
    source.report(CODES[problem.kind], path, problem.message, {
      severity: problem.kind === "constant-condition" ? "warning" : "error",
      spot: spotIn(text, problem, mark),
      ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    });
  }
}

/** Contexts of other pipeline languages, and the contexts that have the same content here. */
const FOREIGN_CONTEXTS: Readonly<Record<string, ContextName>> = {
  github: "trigger",
  gitea: "trigger",
  inputs: "variables",
  needs: "jobs",
  parameters: "variables",
  params: "variables",
  vars: "variables",
};

function reportProblem(source: Source, text: string, path: Path, mark: string, problem: TemplateProblem): void {
  const { kind, name, message } = problem;
  const spot = spotIn(text, problem, mark);
  switch (kind) {
    case "syntax":
      source.report("expression-syntax", path, message, { spot });
      return;
    case "invalid-call":
      source.report(kind, path, message, { spot });
      return;
    case "limit":
      source.report("expression-limit", path, message, { spot });
      return;
    case "misplaced-function": {
      const hint = "success(), failure(), always() and cancelled() can be called only in `when`";
      source.report("expression-misplaced", path, message, { spot, hint });
      return;
    }
    case "unknown-context":
    case "unknown-function": {
      const [word, known] =
        kind === "unknown-context" ? ["context", CONTEXTS] : ["function", [...FUNCTIONS, ...STATUS_FUNCTIONS]];
      const meant = Object.hasOwn(FOREIGN_CONTEXTS, name) ? FOREIGN_CONTEXTS[name] : undefined;
      const near = meant === undefined ? didYouMean(name, known) : ` (did you mean "${meant}"?)`;
      source.report(kind, path, `unknown ${word} "${clip(name)}"${near}`, {
        spot,
        hint: `known ${word}s: ${known.join(", ")}`,
      });
    }
  }
}

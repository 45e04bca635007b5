/** Expressions in the texts of a definition: where they may stand, and what they may read. */
import { FUNCTIONS } from "../expressions/functions.ts";
import { OPEN, parseTemplate, type TemplateProblem, type TextSpan } from "../expressions/template.ts";
import { didYouMean } from "../expressions/nearest.ts";
import { clip } from "./read-text.ts";
import type { Path, Source, TextSpot } from "./source.ts";

/** Contexts that expressions may read now. */
export const CONTEXTS = ["trigger", "variables", "matrix", "run", "pipeline", "project"] as const;
const LATER_CONTEXTS: readonly string[] = ["env", "secrets", "jobs", "steps"];
const LATER_FUNCTIONS: readonly string[] = ["success", "failure", "always", "cancelled"];

export interface TextRules {
  /** Fields that `matrix` has in some cell. */
  readonly matrixFields: readonly string[];
  /** Of `CONTEXTS`, those that may be read in this place. */
  readonly contexts: readonly string[];
  /** The text becomes code: what came with the trigger must not be put in. */
  readonly isScript: boolean;
}

/** Every text within `value`, however deep. */
export function forEachText(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === "string") visit(value, path);
  else if (Array.isArray(value)) value.forEach((item, index) => forEachText(item, [...path, index], visit));
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) forEachText(item, [...path, key], visit);
  }
}

/** Checks a text whose expressions are evaluated when a run is planned. */
export function checkText(source: Source, text: string, path: Path, rules: TextRules): void {
  if (text.includes("\0"))
    source.report("invalid-value", path, "a text that a step is given may hold no NUL character");
  const { references, problems } = parseTemplate(text, CONTEXTS);
  for (const problem of problems) reportProblem(source, text, path, problem);
  for (const reference of references) {
    const { context, field } = reference;
    const spot = spotIn(text, reference);
    if (!rules.contexts.includes(context) && (CONTEXTS as readonly string[]).includes(context)) {
      const allowed = rules.contexts.map((one) => `\`${one}\``).join(", ");
      source.report("expression-misplaced", path, `only ${allowed} can be read here, not \`${context}\``, { spot });
    } else if (context === "matrix" && field !== null && !rules.matrixFields.includes(field)) {
      const message = `there is no \`matrix.${clip(field)}\` here${didYouMean(field, rules.matrixFields)}`;
      source.report("unknown-context", path, message, { spot });
    }
  }
  const injected = rules.isScript ? references.find(({ context }) => context === "trigger") : undefined;
  if (injected === undefined) return;
  source.report("script-injection", path, "a trigger value inside a script can run as code", {
    severity: "warning",
    spot: spotIn(text, injected),
    hint: "put it into `env` and read the variable in the script",
  });
}

/** Reports expressions in texts that are taken as they stand. */
export function refuseExpressions(source: Source, value: unknown, path: Path, place: string): void {
  forEachText(value, path, (text, at) => {
    const offset = text.indexOf(OPEN);
    if (offset < 0) return;
    source.report("expression-misplaced", at, `expressions are not evaluated in ${place}`, {
      spot: spotIn(text, { offset, length: OPEN.length }),
      hint: "they are in the `args`, `env` and `name` of steps, and in the `env` of jobs and of the pipeline",
    });
  });
}

/** Where a part of a template's text stands. */
export function spotIn(text: string, { offset, length }: TextSpan): TextSpot {
  return { text, mark: OPEN, offset, length };
}

function reportProblem(source: Source, text: string, path: Path, problem: TemplateProblem): void {
  const { kind, name, message } = problem;
  const spot = spotIn(text, problem);
  if (kind === "syntax") {
    source.report("expression-syntax", path, clip(message), { spot });
    return;
  }
  const [word, known, later] =
    kind === "unknown-context" ? ["context", CONTEXTS, LATER_CONTEXTS] : ["function", FUNCTIONS, LATER_FUNCTIONS];
  if (later.includes(name)) {
    source.report("not-supported-yet", path, `the ${word} \`${name}\` is not supported yet`, { spot });
    return;
  }
  source.report(kind, path, `unknown ${word} "${clip(name)}"${didYouMean(name, known)}`, {
    spot,
    hint: `known ${word}s: ${known.join(", ")}`,
  });
}

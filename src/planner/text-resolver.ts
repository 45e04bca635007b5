/** Puts values into the texts of one run's jobs, and collects what went wrong and what was absent. */
import type { DefinedJob, DefinedStep, Definition } from "../definition/definition.ts";
import type { Diagnostic, DiagnosticCode } from "../definition/diagnostics.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import type { Path } from "../definition/source.ts";
import { RUN_CONTEXTS } from "../definition/expression-places.ts";
import { spotIn } from "../definition/texts.ts";
import { builtinOf } from "../definition/uses.ts";
import type { Problem } from "../domain/errors.ts";
import { type JobSpec, type Pairs, type Scalar, type StepSpec } from "../domain/plan.ts";
import { hasField, type Json, type Scope, toScope } from "../expressions/context-data.ts";
import { asText, evaluateTemplate, OPEN, type Reference } from "../expressions/template.ts";

/** What a value counts besides its characters. */
const VALUE_CHARS = 8;

interface ResolverOptions {
  /** What becomes of texts that read what only the run knows: a problem each, or kept as they are written. */
  readonly late: "refuse" | "keep";
}

export class TextResolver {
  readonly problems: Problem[] = [];
  readonly warnings: Diagnostic[] = [];
  readonly #source: Definition["source"];
  readonly #base: Scope;
  readonly #late: ResolverOptions["late"];
  readonly #warned = new Set<string>();
  #chars = 0;

  /** `base` holds all contexts but `matrix`. */
  constructor(source: Definition["source"], base: Scope, { late }: ResolverOptions) {
    this.#source = source;
    this.#base = base;
    this.#late = late;
  }

  /** True once the texts are more than a run may have, which is a problem then; nothing more is resolved. */
  get isFull(): boolean {
    return this.#chars > LIMITS.planTextChars;
  }

  /** What is told of one place is told once: the cells of a matrix share their texts and so their problems. */
  refuse(code: DiagnosticCode, path: Path, message: string): void {
    if (this.problems.length >= LIMITS.diagnostics) return;
    const { pointer, line, column } = this.#source.locate(code, "error", path, message);
    if (this.problems.some((told) => told.pointer === pointer && told.code === code)) return;
    this.problems.push({ code, pointer, message, line, column });
  }

  /** What an agent is told of one cell of a job; `env` is the pipeline's. */
  resolveJob(env: Pairs<Scalar>, job: DefinedJob, matrix: Pairs<Scalar>): JobSpec {
    const scope = toScope({ matrix: Object.fromEntries(matrix) }, this.#base);
    const merged = new Map([
      ...this.#resolveEnv(env, ["env"], scope),
      ...this.#resolveEnv(job.env, [...job.path, "env"], scope),
    ]);
    const steps = job.steps.map((step, index) => this.#resolveStep(step, index, [...job.path, "steps", index], scope));
    return { env: [...merged], steps };
  }

  /** True for a text that reads what only the run knows. */
  isLate(text: string): boolean {
    return text.includes(OPEN) && this.#source.parsed.template(text).references.some(isLate);
  }

  #resolveStep(step: DefinedStep, index: number, path: Path, scope: Scope): StepSpec {
    const name = asText(this.#resolveText(step.name, [...path, "name"], scope)).slice(0, LIMITS.nameChars);
    const args = this.#resolve(step.args as Json, [...path, "args"], scope, builtinOf(step.uses) === "shell");
    return {
      name: name.trim() === "" ? `step ${index + 1}` : name,
      uses: step.uses,
      action: step.action,
      args: args as Readonly<Record<string, unknown>>,
      env: this.#resolveEnv(step.env, [...path, "env"], scope),
      workingDirectory: step.workingDirectory,
    };
  }

  #resolveEnv(env: Pairs<Scalar>, path: Path, scope: Scope): Pairs<string> {
    return env.map(([name, value]) => [name, asText(this.#resolve(value, [...path, name], scope, true))]);
  }

  /** With `asTexts`, what was a text stays one, whatever its expression gives. */
  #resolve(value: Json, path: Path, scope: Scope, asTexts: boolean): Json {
    this.#charge(VALUE_CHARS);
    if (this.isFull) return "";
    if (typeof value === "string") {
      const resolved = this.#resolveText(value, path, scope);
      return asTexts ? asText(resolved) : resolved;
    }
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.#resolve(item, [...path, index], scope, asTexts));
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        this.#charge(key.length);
        return [key, this.#resolve(item as Json, [...path, key], scope, asTexts)];
      }),
    );
  }

  #resolveText(text: string, path: Path, scope: Scope): Json {
    const value = text.includes(OPEN) ? this.#evaluate(text, path, scope) : text;
    const plain = asText(value);
    this.#charge(plain.length);
    if (plain.includes("\0"))
      this.refuse("invalid-value", path, "a text that a step is given may hold no NUL character");
    return value;
  }

  #evaluate(text: string, path: Path, scope: Scope): Json {
    const template = this.#source.parsed.template(text);
    const late = template.references.find(isLate);
    if (late !== undefined) {
      if (this.#late === "refuse") {
        this.refuse("not-run-yet", path, `\`${late.context}\` is not given to runs yet`);
      }
      return text;
    }
    for (const { context, field, ...span } of template.references) {
      const name = `${context}.${field ?? ""}`;
      if (field === null || hasField(scope, context, field) || this.#warned.has(name)) continue;
      if (this.#warned.size >= LIMITS.diagnostics) break;
      this.#warned.add(name);
      const message = `\`${name}\` has no value; it is empty`;
      this.warnings.push(this.#source.locate("undefined-value", "warning", path, message, spotIn(text, span)));
    }
    try {
      return evaluateTemplate(template, scope);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.refuse("evaluation-failed", path, `this expression cannot be evaluated: ${message}`);
      return "";
    }
  }

  #charge(chars: number): void {
    const wasFull = this.isFull;
    this.#chars += chars;
    if (!this.isFull || wasFull) return;
    const message = `the texts of a run may have ${LIMITS.planTextChars} characters; with every matrix cell these have more`;
    this.refuse("plan-limit", [], message);
  }
}

function isLate({ context }: Reference): boolean {
  return (RUN_CONTEXTS as readonly string[]).includes(context);
}

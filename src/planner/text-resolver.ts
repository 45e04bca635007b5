/** Puts values into the texts of one run's jobs, and collects what went wrong and what was absent. */
import type { DefinedJob, DefinedStep, Definition } from "../definition/definition.ts";
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { Diagnostic, DiagnosticCode } from "../definition/text/diagnostics.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import type { Path } from "../definition/text/source.ts";
import { spotIn } from "../definition/checks/texts.ts";
import { builtinOf } from "../definition/checks/uses.ts";
import type { ArtifactRule } from "../domain/artifacts.ts";
import { parseDuration } from "../domain/durations.ts";
import type { Problem } from "../domain/errors.ts";
import type { JobSpec, Pairs, Scalar, StepSpec } from "../domain/plan.ts";
import {
  type Json,
  mayHaveField,
  type PartialScope,
  type Scope,
  toPartialScope,
  UNKNOWN,
  UNKNOWN_VALUE,
} from "../expressions/context-data.ts";
import { foldTemplate } from "../expressions/fold.ts";
import { asText, evaluateTemplate, OPEN, parseTemplate, type Template } from "../expressions/template.ts";
import { completeCheckout } from "./checkout-args.ts";
import { UNBOUNDED } from "./deferred-texts.ts";
import { matrixOf, type PlannedCell } from "./plan-cells.ts";

/** What a value counts besides its characters. */
const VALUE_CHARS = 8;

interface ResolvedEnv {
  readonly env: Pairs<string>;
  /** Names of those that hold expressions still. */
  readonly late: ReadonlySet<string>;
  /** For each of these, the names of the secrets that it reads. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
}

/** A text that is left for the run. */
interface LateText {
  readonly path: Path;
  /** Names of those that it reads. */
  readonly secrets: readonly string[];
}

interface ResolverOptions {
  /** What becomes of texts that read what only the run knows: what is known is put in, or they are kept as written. */
  readonly late: "fold" | "keep";
  /** Of the pipeline; empty for none, null where nobody knows. */
  readonly repoUrl: string | null;
}

export class TextResolver {
  readonly problems: Problem[] = [];
  readonly warnings: Diagnostic[] = [];
  readonly #source: Definition["source"];
  readonly #base: Scope;
  readonly #late: ResolverOptions["late"];
  readonly #repoUrl: ResolverOptions["repoUrl"];
  readonly #warned = new Set<string>();
  /** The texts that are left for the run, since somebody has emptied it. */
  #lateHere: LateText[] = [];
  #chars = 0;

  /** `base` holds all contexts but `matrix`. */
  constructor(source: Definition["source"], base: Scope, { late, repoUrl }: ResolverOptions) {
    this.#source = source;
    this.#base = base;
    this.#late = late;
    this.#repoUrl = repoUrl;
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

  /** As {@link refuse}, of what hinders nothing. */
  warn(code: DiagnosticCode, path: Path, message: string): void {
    if (this.#warned.size >= LIMITS.diagnostics || this.#warned.has(`${code} ${message}`)) return;
    this.#warned.add(`${code} ${message}`);
    this.warnings.push(this.#source.locate(code, "warning", path, message));
  }

  /** What an agent is told of one cell of a job, or of all while none is known; `env` is the pipeline's. */
  resolveJob(env: Pairs<Scalar>, planned: PlannedCell): JobSpec {
    const job = planned.defined;
    const cell = toPartialScope(
      { matrix: matrixOf(planned), jobs: UNKNOWN, steps: UNKNOWN, secrets: UNKNOWN },
      this.#base,
    );
    const ofPipeline = this.#resolveEnv(env, ["env"], cell);
    const ofJob = this.#resolveEnv(job.env, [...job.path, "env"], withEnv(cell, ofPipeline));
    const merged = new Map([...ofPipeline.env, ...ofJob.env]);
    const holderOf = (name: string): ResolvedEnv => (ofJob.env.some(([own]) => own === name) ? ofJob : ofPipeline);
    const late = new Set([...merged.keys()].filter((name) => holderOf(name).late.has(name)));
    const secrets = new Map([...late].map((name) => [name, holderOf(name).secrets.get(name)!]));
    const outer: ResolvedEnv = { env: [...merged], late, secrets };
    const steps = job.steps.map((step, index) => this.#resolveStep(step, index, job, cell, outer));
    return { env: outer.env, late: [...late], steps };
  }

  #resolveStep(
    step: DefinedStep,
    index: number,
    { path: jobPath, code }: DefinedJob,
    cell: PartialScope,
    outer: ResolvedEnv,
  ): StepSpec {
    const path = [...jobPath, "steps", index];
    const name = asText(this.#resolveText(step.name, [...path, "name"], cell)).slice(0, LIMITS.nameChars);
    const own = this.#resolveEnv(step.env, [...path, "env"], withEnv(cell, outer));
    const inner = withEnv(cell, outer, own);
    this.#lateHere = [];
    const builtin = builtinOf(step.uses);
    const written = builtin === "checkout" ? completeCheckout(step.args, code) : step.args;
    const resolved = this.#resolve(written as Json, [...path, "args"], inner, builtin === "shell");
    const args = builtin === "checkout" ? this.#withRepository(resolved as StepSpec["args"], path) : resolved;
    const late = this.#lateHere.map((text) => toPointer(text.path.slice(path.length)));
    const secrets = [...outer.secrets.values(), ...own.secrets.values(), ...this.#lateHere.map((text) => text.secrets)];
    return {
      name: name.trim() === "" ? step.uses.slice(0, LIMITS.nameChars) : name,
      uses: step.uses,
      plugin: null,
      action: step.action,
      args: args as Readonly<Record<string, unknown>>,
      env: own.env,
      workingDirectory: step.workingDirectory,
      artifacts: step.artifacts.map((artifact) => this.#ruleOf(artifact)),
      late: [...[...own.late].map((each) => toPointer(["env", each])), ...late],
      secrets: [...new Set(secrets.flat())].toSorted(),
    };
  }

  #withRepository(args: StepSpec["args"], path: Path): StepSpec["args"] {
    if ((args["repo"] ?? "") !== "") return args;
    if (this.#repoUrl === "") {
      const message = "there is no repository to check out: give `repo` here, or a `source`";
      this.refuse("invalid-args", [...path, "args"], message);
    }
    return { ...args, ...(this.#repoUrl === null ? {} : { repo: this.#repoUrl }) };
  }

  #ruleOf({ name, paths, retention, ifMissing = "error" }: DefinedStep["artifacts"][number]): ArtifactRule {
    for (const text of [name, ...paths]) this.#charge(text.length + VALUE_CHARS);
    const retentionMs = retention === undefined ? null : parseDuration(retention)!;
    return { name, paths, ifMissing, retentionMs };
  }

  #resolveEnv(env: Pairs<Scalar>, path: Path, scope: PartialScope): ResolvedEnv {
    this.#lateHere = [];
    const resolved = env.map(([name, value]): readonly [string, string] => [
      name,
      asText(this.#resolve(value, [...path, name], scope, true)),
    ]);
    const secrets = new Map(this.#lateHere.map((text) => [String(text.path.at(-1)), text.secrets]));
    return { env: resolved, late: new Set(secrets.keys()), secrets };
  }

  /** With `asTexts`, what was a text stays one, whatever its expression gives. */
  #resolve(value: Json, path: Path, scope: PartialScope, asTexts: boolean): Json {
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

  #resolveText(text: string, path: Path, scope: PartialScope): Json {
    const value = text.includes(OPEN) ? this.#evaluate(text, path, scope) : text;
    const plain = asText(value);
    this.#charge(plain.length);
    if (plain.includes("\0"))
      this.refuse("invalid-value", path, "a text that a step is given may hold no NUL character");
    return value;
  }

  #evaluate(text: string, path: Path, scope: PartialScope): Json {
    const template = this.#source.parsed.template(text);
    for (const { context, field, ...span } of template.references) {
      const name = `${context}.${field ?? ""}`;
      if (field === null || mayHaveField(scope, context, field) || this.#warned.has(name)) continue;
      if (this.#warned.size >= LIMITS.diagnostics) break;
      this.#warned.add(name);
      const message = `\`${name}\` has no value; it is empty`;
      this.warnings.push(this.#source.locate("undefined-value", "warning", path, message, spotIn(text, span)));
    }
    try {
      return evaluateTemplate(template, scope);
    } catch (error) {
      if (error === UNKNOWN_VALUE) {
        this.#lateHere.push({ path, secrets: this.#secretsOf(template, path, scope) });
        return this.#late === "fold" ? foldTemplate(template, scope) : text;
      }
      const message = error instanceof Error ? error.message : String(error);
      this.refuse("evaluation-failed", path, `this expression cannot be evaluated: ${message}`);
      return "";
    }
  }

  /** A step is given what its texts name, and nothing else: that must be known by now. */
  #secretsOf(template: Template, path: Path, scope: PartialScope): readonly string[] {
    if (!template.references.some(({ context }) => context === "secrets")) return [];
    const left = parseTemplate(foldTemplate(template, scope), CONTEXTS, UNBOUNDED).references;
    const names = left.flatMap(({ context, field }) => (context === "secrets" ? [field] : []));
    const known = names.filter((name) => name !== null);
    if (known.length < names.length) {
      this.refuse("evaluation-failed", path, "secrets are read one by one, by names that are known before the run");
    }
    return known;
  }

  #charge(chars: number): void {
    const wasFull = this.isFull;
    this.#chars += chars;
    if (!this.isFull || wasFull) return;
    const message = `the texts of a run may have ${LIMITS.planTextChars} characters; with every matrix cell these have more`;
    this.refuse("plan-limit", [], message);
  }
}

/** With `env` as far as it is known; later ones win. */
function withEnv(cell: PartialScope, ...envs: readonly ResolvedEnv[]): PartialScope {
  return toPartialScope({ env: Object.fromEntries(envs.flatMap((each) => Object.entries(knownEnv(each)))) }, cell);
}

export type KnownEnv = Readonly<Record<string, string | typeof UNKNOWN>>;

/** The `env` context as far as it is known before the run; `late` names those that only the run knows. */
export function knownEnv({ env, late }: { readonly env: Pairs<string>; readonly late: Iterable<string> }): KnownEnv {
  const unknown = new Set(late);
  return Object.fromEntries(env.map(([name, value]) => [name, unknown.has(name) ? UNKNOWN : value]));
}

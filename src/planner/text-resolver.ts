/** Puts values into the texts of one run's jobs, and collects problems, and warnings of absent values. */
import type {
  DefinedContainer,
  DefinedJob,
  DefinedService,
  DefinedStep,
  Definition,
} from "../definition/definition.ts";
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { Diagnostic, DiagnosticCode } from "../definition/text/diagnostics.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import { clip } from "../definition/text/read-text.ts";
import type { Path, Spot } from "../definition/text/source.ts";
import { spotIn } from "../definition/checks/texts.ts";
import { builtinOf } from "../domain/builtins.ts";
import type { ArtifactRule } from "../domain/artifacts.ts";
import { parseDuration } from "../domain/durations.ts";
import type { Problem } from "../domain/errors.ts";
import { WorkUsedUp } from "../domain/work/work-budget.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { JobSpec, Scalar, StepSpec } from "../domain/plan.ts";
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
import type { ContainerSpec, ImageUse, ServiceSpec } from "../domain/containers/containers.ts";
import { parseImage } from "../domain/containers/image-references.ts";
import { asText, evaluateTemplate, OPEN, parseTemplate, type Template } from "../expressions/template.ts";
import { completeCheckout, type OwnRepository } from "./checkout-args.ts";
import { UNBOUNDED } from "./deferred-texts.ts";
import { matrixOf, type PlannedCell } from "./plan-cells.ts";
import type { PlanBudget } from "./plan-budget.ts";
import { mapFiles, problemsOfFiles, type StepFiles } from "./step-files.ts";
import { fitName } from "./step-name.ts";

/** How many characters a value counts for, besides its own characters. */
const VALUE_CHARS = 8;

/** The work of planning a step besides that of its texts, and of a variable that the expressions of a step can read. */
const STEP_WORK = 2_048;
const VARIABLE_WORK = 16;

interface ResolvedEnv {
  readonly env: Pairs<string>;
  /** Names of the variables whose texts are deferred. */
  readonly deferred: ReadonlySet<string>;
  /** For each deferred variable, the names of the secrets that it reads. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
}

/** A text whose value is known only during the run. */
interface DeferredText {
  readonly path: Path;
  /** Names of the secrets that it reads. */
  readonly secrets: readonly string[];
}

interface ResolverOptions {
  /** What becomes of deferred texts: `fold` puts the known values in, `keep` keeps them as written. */
  readonly deferred: "fold" | "keep";
  /** The repository of the pipeline; empty when it has none, null when it is not known. */
  readonly repoUrl: string | null;
  /** Of a definition in Git. */
  readonly inGit?: Pick<OwnRepository, "commit" | "credential"> | undefined;
  /** Of a run of a fork: its commit. */
  readonly forkCommit?: string | undefined;
  /** Is charged for all texts. Once it is used up, the methods throw `WorkUsedUp`. */
  readonly budget: PlanBudget;
}

/** Resolves the texts of all jobs of one run. */
export class TextResolver {
  readonly problems: Problem[] = [];
  readonly warnings: Diagnostic[] = [];
  readonly #source: Definition["source"];
  readonly #base: Scope;
  readonly #whenDeferred: ResolverOptions["deferred"];
  readonly #repoUrl: ResolverOptions["repoUrl"];
  readonly #own: OwnRepository | undefined;
  readonly #forkCommit: string | undefined;
  readonly #budget: PlanBudget;
  readonly #warned = new Set<string>();
  /** Names of artifacts that expressions gave, with their places. */
  readonly #artifactNames = new Set<string>();
  /** The deferred texts that were found since this list was last emptied: before each `env`, and before the arguments of a step. */
  #deferred: DeferredText[] = [];
  #chars = 0;

  /** `base` has all known contexts except `matrix`. */
  constructor(source: Definition["source"], base: Scope, options: ResolverOptions) {
    const { deferred, repoUrl, inGit, forkCommit, budget } = options;
    this.#source = source;
    this.#base = base;
    this.#whenDeferred = deferred;
    this.#repoUrl = repoUrl;
    this.#own = inGit && repoUrl !== null ? { url: repoUrl, ...inGit } : undefined;
    this.#forkCommit = forkCommit;
    this.#budget = budget;
  }

  /** True when the texts have more characters than a run may have. That is a problem, and no more texts are resolved. */
  get isFull(): boolean {
    return this.#chars > LIMITS.planTextChars;
  }

  /** Adds a problem, once for each place and code: the cells of a matrix share their texts and so their problems. */
  refuse(code: DiagnosticCode, path: Path, message: string, spot?: Spot): void {
    if (this.problems.length >= LIMITS.diagnostics) return;
    const { pointer, line, column, file } = this.#source.locate(code, "error", path, message, spot);
    const isKnown = (known: Problem) => known.pointer === pointer && known.code === code && known.file === file;
    if (this.problems.some(isKnown)) return;
    this.problems.push({ code, pointer, message, line, column, ...(file !== undefined && { file }) });
  }

  /** As {@link refuse}, for an evaluation that has used up the budget. Throws every other error. */
  refuseWork(error: unknown): void {
    if (!(error instanceof WorkUsedUp)) throw error;
    const { path, message, spot } = this.#budget.refusal(error, this.#source);
    this.refuse("plan-limit", path, message, spot);
  }

  /** Adds a warning, once for each message. */
  warn(code: DiagnosticCode, path: Path, message: string): void {
    if (this.#warned.size >= LIMITS.diagnostics || this.#warned.has(`${code} ${message}`)) return;
    this.#warned.add(`${code} ${message}`);
    this.warnings.push(this.#source.locate(code, "warning", path, message));
  }

  /** What an agent needs to run one cell of a job, or any cell of a job with deferred cells; `env` is that of the pipeline. */
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
    const deferred = new Set([...merged.keys()].filter((name) => holderOf(name).deferred.has(name)));
    const secrets = new Map([...deferred].map((name) => [name, holderOf(name).secrets.get(name)!]));
    const outer: ResolvedEnv = { env: [...merged], deferred, secrets };
    const { container, services, secrets: ofContainers } = this.#resolveContainers(job, cell);
    const steps = job.steps.map((step, index) => {
      const resolved = this.#resolveStep(step, index, job, cell, outer);
      return ofContainers.length === 0
        ? resolved
        : { ...resolved, secrets: sorted([...resolved.secrets, ...ofContainers]) };
    });
    return {
      env: outer.env,
      late: [...deferred],
      ...(services.length === 0 ? {} : { services }),
      ...(container === undefined ? {} : { container }),
      steps,
    };
  }

  /** The containers of a job, and the names of the secrets that they read: every step of the job may be the first. */
  #resolveContainers({ path, container, services }: DefinedJob, cell: PartialScope) {
    const secrets: string[] = [];
    const add = <T extends DefinedContainer | DefinedService>(defined: T, at: Path): Omit<T, "env"> & ImageUse => {
      const resolved = this.#resolveImageUse(defined, at, cell);
      secrets.push(...resolved.secrets);
      return { ...defined, ...resolved.use };
    };
    return {
      container: container === null ? undefined : (add(container, [...path, "container"]) as ContainerSpec),
      services: services.map((service) => add(service, [...path, "services", service.name]) as ServiceSpec),
      secrets,
    };
  }

  #resolveImageUse(defined: DefinedContainer | DefinedService, path: Path, cell: PartialScope) {
    this.#deferred = [];
    const image = asText(this.#resolve(defined.image, [...path, "image"], cell, true));
    const ofImage = this.#deferred.length > 0 ? ["/image"] : [];
    if (ofImage.length === 0 && !this.isFull && parseImage(image) === undefined) {
      const message = `"${image.slice(0, LIMITS.nameChars)}" is not the reference of an image`;
      this.refuse("invalid-image", [...path, "image"], message);
    }
    const env = this.#resolveEnv(defined.env, [...path, "env"], cell);
    const isSecret = defined.credential !== "";
    const use: ImageUse = {
      image,
      env: env.env,
      credential: isSecret ? `\${{ secrets.${defined.credential} }}` : "",
      pull: defined.pull,
      late: [
        ...ofImage,
        ...(isSecret ? ["/credential"] : []),
        ...[...env.deferred].map((name) => toPointer(["env", name])),
      ],
    };
    return { use, secrets: [...(isSecret ? [defined.credential] : []), ...[...env.secrets.values()].flat()] };
  }

  #resolveStep(
    step: DefinedStep,
    index: number,
    { path: jobPath, code }: DefinedJob,
    cell: PartialScope,
    outer: ResolvedEnv,
  ): StepSpec {
    const path = [...jobPath, "steps", index];
    this.#budget.at(path).charge(STEP_WORK);
    const written = asText(this.#resolveText(step.name, [...path, "name"], cell));
    const name = fitName(written);
    const own = this.#resolveEnv(step.env, [...path, "env"], withEnv(cell, outer));
    this.#budget.charge((2 * outer.env.length + own.env.length) * VARIABLE_WORK);
    const inner = withEnv(cell, outer, own);
    const contained =
      step.container === null ? undefined : this.#resolveImageUse(step.container, [...path, "container"], cell);
    this.#deferred = [];
    const builtin = builtinOf(step.uses);
    const given = builtin === "checkout" ? completeCheckout(step.args, code, this.#own, this.#forkCommit) : step.args;
    const resolved = this.#resolve(given as Json, [...path, "args"], inner, builtin === "shell");
    const args = builtin === "checkout" ? this.#withRepository(resolved as StepSpec["args"], path) : resolved;
    const deferredArgs = this.#deferred.map((text) => toPointer(text.path.slice(path.length)));
    const secrets = [
      ...outer.secrets.values(),
      ...own.secrets.values(),
      ...this.#deferred.map((text) => text.secrets),
      contained?.secrets ?? [],
    ];
    const { files, deferred: deferredFiles } = this.#resolveFiles(step, path, cell);
    return {
      name: name.trim() === "" ? step.uses.slice(0, LIMITS.nameChars) : name,
      uses: step.uses,
      plugin: null,
      action: step.action,
      args: args as Readonly<Record<string, unknown>>,
      env: own.env,
      workingDirectory: step.workingDirectory,
      ...files,
      ...(contained === undefined ? {} : { container: { ...step.container!, ...contained.use } }),
      late: [...[...own.deferred].map((variable) => toPointer(["env", variable])), ...deferredArgs, ...deferredFiles],
      secrets: sorted(secrets.flat()),
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

  /** Names and patterns with the values that are known, and the JSON pointers of those that have values only during the run. */
  #resolveFiles(
    { artifacts, junit }: DefinedStep,
    path: Path,
    cell: PartialScope,
  ): { readonly files: StepFiles; readonly deferred: readonly string[] } {
    const written = { artifacts: artifacts.map(ruleOf), ...(junit.length > 0 && { junit }) };
    const placeOf = (at: Path): Path => [...path, ...(at[0] === "junit" ? ["reports"] : []), ...at];
    const deferred: string[] = [];
    const evaluated = new Set<string>();
    const files = mapFiles(written, (text, at) => {
      this.#charge(VALUE_CHARS);
      if (this.isFull) return "";
      this.#deferred = [];
      const resolved = asText(this.#resolveText(text, placeOf(at), cell));
      const pointer = toPointer(at);
      if (this.#deferred.length > 0) deferred.push(pointer);
      else if (text.includes(OPEN)) evaluated.add(pointer);
      return resolved;
    });
    const isKnown = (pointer: string): boolean => evaluated.has(pointer);
    for (const { code, path: at, message } of problemsOfFiles(files, isKnown)) this.refuse(code, placeOf(at), message);
    for (const [at, { name }] of files.artifacts.entries()) {
      const place = ["artifacts", at, "name"];
      if (isKnown(toPointer(place))) this.#tellSameName(name, placeOf(place));
    }
    return { files, deferred };
  }

  /** Of cells of a matrix whose artifacts get one name, although an expression was to tell them apart. */
  #tellSameName(name: string, path: Path): void {
    const key = `${toPointer(path)} ${name}`;
    if (this.#artifactNames.has(key)) {
      const message =
        `several cells of this job keep an artifact named "${clip(name)}": ` +
        "a step that fetches it has to name the cell with `job`";
      this.warn("duplicate-name", path, message);
    }
    this.#artifactNames.add(key);
  }

  #resolveEnv(env: Pairs<Scalar>, path: Path, scope: PartialScope): ResolvedEnv {
    this.#deferred = [];
    const resolved = env.map(([name, value]): readonly [string, string] => [
      name,
      asText(this.#resolve(value, [...path, name], scope, true)),
    ]);
    const secrets = new Map(this.#deferred.map((text) => [String(text.path.at(-1)), text.secrets]));
    return { env: resolved, deferred: new Set(secrets.keys()), secrets };
  }

  /** With `asTexts`, a text stays a text, whatever the type of the value of its expression is. */
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
    if (plain.includes("\0")) this.refuse("invalid-value", path, "a text for a step cannot contain a NUL character");
    return value;
  }

  #evaluate(text: string, path: Path, scope: PartialScope): Json {
    const template = this.#source.parsed.template(text);
    for (const { context, field, ...span } of template.references) {
      const name = `${context}.${field ?? ""}`;
      if (field === null || mayHaveField(scope, context, field) || this.#warned.has(name)) continue;
      if (this.#warned.size >= LIMITS.diagnostics) break;
      this.#warned.add(name);
      const message = `\`${name}\` has no value and becomes empty`;
      this.warnings.push(this.#source.locate("undefined-value", "warning", path, message, spotIn(text, span)));
    }
    try {
      return evaluateTemplate(template, scope, undefined, this.#budget.at(path, text));
    } catch (error) {
      if (error instanceof WorkUsedUp) throw error;
      if (error === UNKNOWN_VALUE) {
        this.#deferred.push({ path, secrets: this.#secretsOf(template, path, scope) });
        return this.#whenDeferred === "fold" ? foldTemplate(template, scope, this.#budget) : text;
      }
      const message = error instanceof Error ? error.message : String(error);
      this.refuse("evaluation-failed", path, `this expression cannot be evaluated: ${message}`);
      return "";
    }
  }

  /** The names of the secrets that a template reads. A step receives no other secrets, so the names must be known before the run. */
  #secretsOf(template: Template, path: Path, scope: PartialScope): readonly string[] {
    if (!template.references.some(({ context }) => context === "secrets")) return [];
    const left = parseTemplate(foldTemplate(template, scope, this.#budget), CONTEXTS, UNBOUNDED).references;
    const names = left.flatMap(({ context, field }) => (context === "secrets" ? [field] : []));
    const known = names.filter((name) => name !== null);
    if (known.length < names.length) {
      const message = "the name of a secret must be known before the run: read each secret by its name";
      this.refuse("evaluation-failed", path, message);
    }
    return known;
  }

  #charge(chars: number): void {
    const wasFull = this.isFull;
    this.#chars += chars;
    this.#budget.charge(chars);
    if (!this.isFull || wasFull) return;
    const message = `the texts of a run may have ${LIMITS.planTextChars} characters; with all matrix cells, these have more`;
    this.refuse("plan-limit", [], message);
  }
}

function ruleOf({ name, paths, retention, ifMissing = "error" }: DefinedStep["artifacts"][number]): ArtifactRule {
  const retentionMs = retention === undefined ? null : parseDuration(retention)!;
  return { name, paths, ifMissing, retentionMs };
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

/** The scope of a cell with the `env` context of these environments; a later one overrides an earlier one. */
function withEnv(cell: PartialScope, ...envs: readonly ResolvedEnv[]): PartialScope {
  const variables = envs.flatMap(({ env, deferred }) => Object.entries(knownEnv(env, deferred)));
  return toPartialScope({ env: Object.fromEntries(variables) }, cell);
}

export type KnownEnv = Readonly<Record<string, string | typeof UNKNOWN>>;

/** The `env` context before the run: the variables that `deferred` names are unknown. */
export function knownEnv(env: Pairs<string>, deferred: Iterable<string>): KnownEnv {
  const unknown = new Set(deferred);
  return Object.fromEntries(env.map(([name, value]) => [name, unknown.has(name) ? UNKNOWN : value]));
}

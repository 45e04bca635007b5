/** What the language has and this version does not run: told when a definition is validated, refused when a run of it is asked for. */
import type { DefinedJob, DefinedStep, Definition } from "./definition.ts";
import type { Path } from "./source.ts";
import { builtinOf } from "./uses.ts";

export interface NotRunYet {
  readonly path: Path;
  readonly message: string;
  /** A run would do something else than what is written; else it only lacks something. */
  readonly refused: boolean;
}

/** The first place of each. */
export function findNotRunYet(definition: Definition): readonly NotRunYet[] {
  const found = new Map<string, NotRunYet>();
  const note = (isThere: boolean, what: string, path: Path, refused = true): void => {
    if (!isThere || found.has(what)) return;
    const message = refused
      ? `${what} is not run yet: a run of this definition is refused`
      : `${what} has no effect yet; the definition runs without it`;
    found.set(what, { path, message, refused });
  };
  note(definition.concurrency !== null, "`concurrency`", ["concurrency"]);
  note(definition.notify.length > 0, "`notify`", ["notify"], false);
  note(definition.triggers.cron.length > 0, "a cron trigger", ["triggers", "cron"], false);
  note(definition.triggers.event.length > 0, "an event trigger", ["triggers", "event"], false);
  for (const stage of definition.stages) {
    note(stage.when !== "", "`when`", [...stage.path, "when"]);
    note(stage.approval !== null, "`approval`", [...stage.path, "approval"]);
    for (const job of stage.jobs) {
      noteJob(note, job);
      for (const [index, step] of job.steps.entries()) noteStep(note, step, [...job.path, "steps", index]);
    }
  }
  return [...found.values()];
}

type Note = (isThere: boolean, what: string, path: Path, refused?: boolean) => void;

function noteJob(note: Note, job: DefinedJob): void {
  const { path, matrix } = job;
  note(job.when !== "", "`when`", [...path, "when"]);
  note(matrix?.axes.some(([, values]) => typeof values === "string") ?? false, "an axis from an expression", [
    ...path,
    "matrix",
  ]);
  note(matrix !== null && matrix.maxParallel !== null, "`maxParallel`", [...path, "matrix", "maxParallel"]);
  note(job.retry.delayMs > 0 || !job.retry.on.includes("agent_lost"), "`retry` of a job by its causes", [
    ...path,
    "retry",
  ]);
  note(job.concurrency !== null, "`concurrency`", [...path, "concurrency"]);
  note(job.approval !== null, "`approval`", [...path, "approval"]);
  note(job.target?.protected === true, "a protected `target`", [...path, "target"]);
  note(job.notify.length > 0, "`notify`", [...path, "notify"], false);
  note(job.outputs.length > 0, "`outputs`", [...path, "outputs"]);
}

function noteStep(note: Note, step: DefinedStep, path: Path): void {
  note(step.when !== "", "`when`", [...path, "when"]);
  note(step.retry.attempts > 1, "`retry` of a step", [...path, "retry"]);
  note(step.artifacts.length > 0, "`artifacts`", [...path, "artifacts"]);
  const builtin = builtinOf(step.uses);
  if (builtin === "shell") return;
  note(true, builtin === undefined ? "a plugin" : `the builtin \`${builtin}\``, [...path, "uses"]);
}

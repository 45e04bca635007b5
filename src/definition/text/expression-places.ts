/**
 * The places of a definition in which expressions are evaluated, and the contexts that an expression may read in each place:
 * those that are known when the place is evaluated.
 */

/** Contexts whose values are known when a run is planned. */
export const PLAN_CONTEXTS = ["trigger", "variables", "matrix", "run", "pipeline", "project"] as const;
/** Contexts whose values are known only during the run. */
export const RUN_CONTEXTS = ["env", "secrets", "jobs", "steps", "notification"] as const;
export const CONTEXTS = [...PLAN_CONTEXTS, ...RUN_CONTEXTS] as const;
export type ContextName = (typeof CONTEXTS)[number];

export interface ExpressionPlace {
  readonly contexts: readonly ContextName[];
  /** What messages call the place, as the end of "cannot be read in". */
  readonly words: string;
}

const RUN = ["trigger", "variables", "run", "pipeline", "project"] as const;
const CELL = [...RUN, "matrix"] as const;

/** Only a `when` of a stage, a job or a step may also call success(), failure(), always() and cancelled(). */
export const EXPRESSION_PLACES = {
  pipelineEnv: { contexts: [...RUN, "secrets"], words: "the `env` of the pipeline" },
  pipelineConcurrency: { contexts: RUN, words: "the `concurrency` of the pipeline" },
  stageWhen: { contexts: [...RUN, "jobs"], words: "the `when` of a stage" },
  approval: { contexts: [...RUN, "jobs"], words: "an `approval`" },
  notify: { contexts: [...RUN, "jobs", "secrets", "notification"], words: "`notify`" },
  source: { contexts: CELL, words: "a `source`" },
  target: { contexts: [...CELL, "jobs", "secrets"], words: "a `target`" },
  eventWhen: { contexts: ["trigger", "pipeline", "project"], words: "the `when` of a trigger" },
  jobWhen: { contexts: [...CELL, "jobs"], words: "the `when` of a job" },
  jobEnv: { contexts: [...CELL, "jobs", "env", "secrets"], words: "the `env` of a job" },
  jobConcurrency: { contexts: [...CELL, "jobs"], words: "the `concurrency` of a job" },
  axis: { contexts: [...RUN, "jobs"], words: "an axis" },
  jobOutputs: { contexts: [...CELL, "jobs", "env", "steps"], words: "the `outputs` of a job" },
  stepName: { contexts: CELL, words: "the name of a step" },
  stepWhen: { contexts: [...CELL, "jobs", "env", "steps"], words: "the `when` of a step" },
  stepEnv: { contexts: [...CELL, "jobs", "env", "steps", "secrets"], words: "the `env` of a step" },
  stepArgs: { contexts: [...CELL, "jobs", "env", "steps", "secrets"], words: "the `args` of a step" },
  // Every viewer sees names and paths, so they read neither secrets nor `env`, which may hold secrets.
  stepFiles: { contexts: [...CELL, "jobs", "steps"], words: "names and paths of artifacts and reports" },
} as const satisfies Record<string, ExpressionPlace>;

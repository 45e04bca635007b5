/** The pipelines of the load. Each kind of run has one pipeline, whose name is the kind. */
import type { RunStatus } from "../../../src/domain/status.ts";
import { blurtingJobs, confidingJobs, type DefinitionInputs } from "./secret-jobs.ts";
import { type Definition, step, type StepOptions } from "./step.ts";

export const LOAD_KINDS = [
  "sequential",
  "fanOut",
  "matrix",
  "failing",
  "conditional",
  "retried",
  "spread",
  "timedOut",
  "stopped",
  "paused",
  "staged",
  "talking",
  "complaining",
  "flooding",
  "approved",
  "rejected",
  "queueing",
  "superseding",
  "exclusive",
  "repeated",
  "keeping",
  "confiding",
  "blurting",
] as const;
/**
 * What the less obvious kinds do. `spread`: a matrix over a list that an earlier job writes; `staged`: stages in place of
 * jobs alone; `talking`, `complaining`, `flooding`: a step with a log that viewers follow, which succeeds, fails, or
 * writes more than its agent keeps in memory; `queueing`, `superseding`, `exclusive`: runs or jobs of a concurrency group; `repeated`: a
 * failed run that is run again; `keeping`: a step that stores an artifact for a later job; `confiding`: steps that read
 * secrets and print them; `blurting`: a step that fails and prints secrets in its last words, and a request whose
 * answer holds them.
 */
export type LoadKind = (typeof LOAD_KINDS)[number];

/** The number of runs of each kind in one deck of the load; a load deals deck after deck. */
export const SHARES: Record<LoadKind, number> = {
  sequential: 4,
  fanOut: 2,
  matrix: 2,
  failing: 1,
  conditional: 1,
  retried: 2,
  spread: 1,
  timedOut: 1,
  stopped: 1,
  paused: 2,
  staged: 1,
  talking: 2,
  complaining: 1,
  flooding: 1,
  approved: 2,
  rejected: 1,
  queueing: 2,
  superseding: 2,
  exclusive: 1,
  repeated: 2,
  keeping: 3,
  confiding: 3,
  blurting: 1,
};

/** The statuses with which a run of each kind may end. */
export const ENDS: Record<LoadKind, readonly RunStatus[]> = {
  sequential: ["success"],
  fanOut: ["success"],
  matrix: ["success"],
  failing: ["failed"],
  conditional: ["failed"],
  retried: ["success"],
  spread: ["success"],
  timedOut: ["failed"],
  stopped: ["cancelled"],
  paused: ["success"],
  staged: ["failed"],
  talking: ["success"],
  complaining: ["failed"],
  flooding: ["success"],
  approved: ["success"],
  rejected: ["failed"],
  queueing: ["success"],
  superseding: ["success", "cancelled"],
  exclusive: ["success"],
  repeated: ["failed"],
  keeping: ["success"],
  confiding: ["success"],
  blurting: ["failed"],
};

/**
 * Kinds in a concurrency group, and the unit that must not work at the same time as another one: the run, or each job
 * by name.
 */
export const EXCLUSIONS: Partial<Record<LoadKind, "run" | "job">> = {
  queueing: "run",
  superseding: "run",
  exclusive: "job",
};

/** The definition of each kind of run. */
export function definitionsOf(inputs: DefinitionInputs): Record<LoadKind, Definition> {
  const { ledger } = inputs;
  const one = (name: string, options?: StepOptions) => step(ledger, name, options);
  const leaves = ["leaf-1", "leaf-2", "leaf-3"];
  return {
    sequential: {
      jobs: [
        { name: "build", steps: [one("compile"), one("link")] },
        { name: "deploy", needs: ["build"], steps: [one("copy"), one("switch")] },
      ],
    },
    fanOut: {
      jobs: [
        { name: "root", steps: [one("prepare")] },
        ...leaves.map((name) => ({ name, needs: ["root"], steps: [one("work", { beats: 3 })] })),
        { name: "join", needs: leaves, steps: [one("collect")] },
      ],
    },
    matrix: {
      jobs: [
        { name: "cell", matrix: { axes: { os: ["a", "b"], version: [1, 2] } }, steps: [one("test", { beats: 2 })] },
      ],
    },
    failing: {
      jobs: [
        { name: "breaks", steps: [one("works"), one("fails", { exitCode: 3 }), one("never")] },
        { name: "after", needs: ["breaks"], steps: [one("never")] },
      ],
    },
    conditional: {
      jobs: [
        {
          name: "breaks",
          steps: [
            one("left-out", { when: "trigger.kind == 'cron'" }),
            one("fails", { exitCode: 3 }),
            one("never"),
            one("cleans", { when: "always()" }),
          ],
        },
        { name: "reports", needs: ["breaks"], when: "failure()", steps: [one("tells")] },
        { name: "ships", needs: ["breaks"], when: "jobs.breaks.result == 'success'", steps: [one("never")] },
      ],
    },
    retried: {
      jobs: [
        {
          name: "cell",
          matrix: { axes: { n: [1, 2, 3] }, maxParallel: 2 },
          steps: [one("prepares"), one("tries", { flaky: "fails" }), one("waits", { flaky: "hangs" })],
        },
      ],
    },
    spread: {
      jobs: [
        {
          name: "lists",
          outputs: { cells: "${{ steps.finds.outputs.cells }}" },
          steps: [one("finds", { writes: "cells=[1,2,3]" })],
        },
        {
          name: "cell",
          needs: ["lists"],
          matrix: { axes: { n: "${{ fromJSON(jobs.lists.outputs.cells) }}" }, maxParallel: 2 },
          steps: [one("works", { beats: 2 })],
        },
      ],
    },
    timedOut: { jobs: [{ name: "hangs", steps: [one("sleeps", { beats: 600, timeout: "1s" })] }] },
    stopped: {
      jobs: [{ name: "long", steps: [one("works", { beats: 600 }), one("cleans", { when: "always()" })] }],
    },
    paused: { jobs: [{ name: "halting", steps: [one("first", { beats: 8 }), one("second"), one("third")] }] },
    talking: { jobs: [{ name: "talker", steps: [one("talks", { talks: true })] }] },
    staged: {
      stages: [
        { name: "first", jobs: [{ name: "builds", matrix: { axes: { part: ["a", "b"] } }, steps: [one("compiles")] }] },
        {
          name: "second",
          jobs: [
            { name: "checks", steps: [one("fails", { exitCode: 3 }), one("never")] },
            { name: "packs", steps: [one("packs")] },
          ],
        },
        {
          name: "third",
          jobs: [
            { name: "ships", steps: [one("never")] },
            { name: "tells", when: "failure()", steps: [one("tells")] },
          ],
        },
      ],
    },
    complaining: { jobs: [{ name: "talker", steps: [one("talks", { talks: true, exitCode: 3 }), one("never")] }] },
    flooding: { jobs: [{ name: "flooder", steps: [one("floods", { floods: true })] }] },
    approved: {
      approval: {},
      jobs: [
        { name: "build", steps: [one("compile")] },
        { name: "deploy", needs: ["build"], approval: { count: 1 }, steps: [one("copy")] },
      ],
    },
    rejected: {
      jobs: [
        { name: "build", steps: [one("compile")] },
        { name: "deploy", needs: ["build"], approval: {}, steps: [one("never")] },
        { name: "tells", needs: ["deploy"], when: "failure()", steps: [one("tells")] },
      ],
    },
    queueing: { concurrency: { group: "queueing" }, jobs: [{ name: "alone", steps: [one("works", { beats: 5 })] }] },
    superseding: {
      concurrency: { group: "superseding", onConflict: "cancelRunning" },
      jobs: [{ name: "alone", cancelGrace: "1s", steps: [one("works", { beats: 20 })] }],
    },
    exclusive: {
      jobs: [
        {
          name: "cell",
          matrix: { axes: { device: ["a", "b"] } },
          concurrency: { group: "device ${{ matrix.device }}" },
          steps: [one("works", { beats: 3 })],
        },
      ],
    },
    keeping: {
      jobs: [
        {
          name: "keeps",
          outputs: { sum: "${{ steps.makes.outputs.sum }}" },
          steps: [one("makes", { keeps: true })],
        },
        {
          name: "takes",
          needs: ["keeps"],
          steps: [
            { uses: "artifact", args: { name: "kept" } },
            one("compares", { compares: "${{ jobs.keeps.outputs.sum }}" }),
          ],
        },
      ],
    },
    repeated: {
      jobs: [
        { name: "works", steps: [one("works")] },
        { name: "breaks", needs: ["works"], steps: [one("fails", { exitCode: 3 }), one("never")] },
      ],
    },
    confiding: { jobs: confidingJobs(inputs) },
    blurting: { jobs: blurtingJobs(inputs) },
  };
}

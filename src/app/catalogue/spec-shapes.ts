/** The bodies and answers of the calls on a definition. */
import { z } from "zod";
import type { PipelineId, RevisionId } from "../../domain/ids.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { DiagnosticShape } from "./diagnostic-shape.ts";

const spec = z.record(z.string(), z.unknown(), { error: "must be the structured definition, an object" });
const format = z
  .enum(["json", "yaml", "yml"])
  .default("yaml")
  .transform((word) => (word === "json" ? word : "yaml"));

export const validateBody = z.strictObject({
  spec,
  format,
  /** The text that is checked in place of `spec`, so that problems have their places in it. It may be no definition at all. */
  layout: z.string().min(1).optional(),
});
export const saveBody = z.strictObject({
  spec,
  format,
  /** The text to commit, with its comments: its parsed value must equal `spec`. Absent: the text of the head is edited. */
  layout: z.string().min(1).optional(),
  expectedHeadCommitSha: z.string().max(200).optional(),
  commitMessage: z.string().max(10_000).optional(),
  requestId: z.string().max(200).optional(),
  editor: z.string().max(200).optional(),
  /** How this one save is stored; absent: as the `saveMode` of the pipeline says. `pr` needs a definition in Git. */
  saveMode: z.enum(["direct", "pr"]).optional(),
});

export const specQuery = z.strictObject({
  /** Of a definition in Git: a branch, a tag or a full commit id; absent for the default branch. */
  ref: z.string().max(1_000).optional(),
});

/** A pull or merge request. */
export const PullRequestShape = fields(() => ({
  number: wholeNumber,
  url: z.string(),
  branch: z.string(),
  targetBranch: z.string(),
}));

const savedFormat = z.enum(["json", "yaml"]);

export const SpecShape = shape("Spec", () => ({
  pipelineId: id<PipelineId>(),
  /** Of a definition in Git: null while it has errors. */
  spec: z.unknown(),
  /** The definition with the parts of all files that it includes; null for one that includes nothing, and while it has errors. */
  resolved: z.unknown(),
  /** The files that it includes, at the same commit. */
  includes: listOf(
    fields(() => ({
      path: z.string(),
      /** Null where the commit has no such file. */
      text: z.string().nullable(),
    })),
  ),
  /** The saved text, byte for byte. */
  text: z.string(),
  format: savedFormat,
  /** The commit, for a definition in Git; else the revision. */
  headCommitSha: z.string(),
  revisionId: id<RevisionId>(),
  /** The branch in Git; null for an inline definition, and for one that is read at a tag or a commit. */
  branch: z.string().nullable(),
  /** The file in Git; null for an inline definition. */
  path: z.string().nullable(),
  /** The problems of a definition in Git, which anyone can commit; of an inline one, the event triggers that no hook can start. */
  diagnostics: listOf(DiagnosticShape),
  commitMessage: z.string(),
  editor: z.string(),
  savedAt: time,
}));

export const ValidationShape = shape("Validation", () => ({
  valid: z.boolean(),
  diagnostics: listOf(DiagnosticShape),
  jobsCount: wholeNumber,
  stepsCount: wholeNumber,
}));

export const SavedSpecShape = shape("SavedSpec", () => ({
  pipelineId: id<PipelineId>(),
  /** The commit, for a definition in Git; else the revision. */
  headCommitSha: z.string(),
  revisionId: id<RevisionId>(),
  format: savedFormat,
  /** The pull or merge request with the commit; null for a definition that was saved directly. */
  pullRequest: PullRequestShape.nullable(),
}));

export type SpecView = z.infer<typeof SpecShape>;
export type ValidationView = z.infer<typeof ValidationShape>;
export type SaveView = z.infer<typeof SavedSpecShape>;

/** The schemas of the arguments of the builtins. */
import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { sourceSchema } from "./blocks.ts";
import { identifier, json, name, text, variableName, orExpression } from "./values.ts";

const { repo, branch, depth, submodules } = sourceSchema.shape;
const paths = z.array(text).min(1).max(LIMITS.listItems);

export const shellArgs = z.strictObject({
  script: z.string().optional().describe("The text that the shell runs; not together with `command`."),
  shell: text.optional().describe("The shell with its options. Default `sh -e`."),
  command: text.optional().describe("A program that runs without a shell."),
  args: z.array(z.string()).optional().describe("Arguments of `command`."),
});

export const checkoutArgs = z.strictObject({
  repo: repo
    .optional()
    .describe("Default: the repository of `source`, with its other settings, else the pipeline's repository."),
  branch,
  ref: text
    .optional()
    .describe(
      "A branch, tag or commit; `HEAD` is the default branch. Default: the commit of a run from Git, else the `trigger.ref` of the run.",
    ),
  depth: orExpression(depth.unwrap(), "a whole number")
    .optional()
    .describe(depth.description ?? ""),
  submodules: orExpression(submodules.unwrap(), "true, false, recursive")
    .optional()
    .describe(submodules.description ?? ""),
  credential: variableName.optional().describe("Name of the secret with which the repository is read."),
  path: text.optional().describe("Folder within the workspace. Default: its root."),
});

export const artifactArgs = z.strictObject({
  name: name.describe("The name of the artifact, as the step that kept it declares it."),
  job: name.optional().describe("The job that kept it; needed when several jobs keep an artifact of this name."),
  paths: paths.optional().describe("Glob patterns of the files to take. Default: all files."),
  path: text.optional().describe("Folder within the workspace for the files. Default: its root."),
});

export const uploadArgs = z.strictObject({
  name: variableName.describe("The name under which the trigger gives the upload."),
  path: text.optional().describe("Folder within the workspace for the file. Default: its root."),
  as: text.optional().describe("The name that the file gets. Default: the name that it has."),
});

export const cacheArgs = z.strictObject({
  key: text.describe("The key of the cache entry; may have expressions."),
  keyFiles: paths.optional().describe("Glob patterns of files: a hash of their contents is added to `key`."),
  restoreKeys: z
    .array(text)
    .max(LIMITS.listItems)
    .optional()
    .describe("Beginnings of keys of other entries to use when there is none of `key`."),
  paths: paths.describe("Glob patterns of the files to keep and to restore."),
});

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const httpArgs = z.strictObject({
  url: text.describe("An http or https address."),
  method: z.enum(HTTP_METHODS).optional().describe("Default GET."),
  headers: z.record(z.string().min(1), z.string()).optional().describe("By name; may contain `${{ secrets.NAME }}`."),
  body: json.optional().describe("A text is sent unchanged, any other value as JSON."),
  expectStatus: orExpression(z.array(z.int().min(100).max(599)).min(1), "a list of status codes")
    .optional()
    .describe("Default: 200 to 299."),
  output: identifier.optional().describe("Name of the output that receives the body of the answer."),
});

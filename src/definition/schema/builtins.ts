/** The arguments of the builtins. */
import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { sourceSchema } from "./blocks.ts";
import { identifier, json, name, text, variableName, orExpression } from "./values.ts";

const { repo, branch, depth, submodules } = sourceSchema.shape;
const paths = z.array(text).min(1).max(LIMITS.listItems);

export const shellArgs = z.strictObject({
  script: z.string().optional().describe("Given to the shell; not together with `command`."),
  shell: text.optional().describe("The shell with its options. Default `sh -e`."),
  command: text.optional().describe("A program, run without a shell."),
  args: z.array(z.string()).optional().describe("Arguments of `command`."),
});

export const checkoutArgs = z.strictObject({
  repo: repo.optional().describe("Default: all that `source` says, else the pipeline's repository."),
  branch,
  ref: text.optional().describe("A branch, tag or commit. Default: what the run was triggered for."),
  depth: orExpression(depth.unwrap(), "a whole number")
    .optional()
    .describe(depth.description ?? ""),
  submodules: orExpression(submodules.unwrap(), "true, false, recursive")
    .optional()
    .describe(submodules.description ?? ""),
  credential: variableName.optional().describe("Name of the secret that opens the repository."),
  path: text.optional().describe("Folder within the workspace. Default: its root."),
});

export const artifactArgs = z.strictObject({
  name: name.describe("As the step that kept it named it."),
  job: name.optional().describe("The job that kept it; needed where several keep one of this name."),
  paths: paths.optional().describe("Glob patterns of what to take. Default: all."),
  path: text.optional().describe("Folder within the workspace to put it into. Default: its root."),
});

export const cacheArgs = z.strictObject({
  key: text.describe("What it is found by; may hold expressions."),
  keyFiles: paths.optional().describe("Glob patterns of files whose contents `key` goes on with."),
  restoreKeys: z.array(text).max(LIMITS.listItems).optional().describe("Beginnings of keys that do as well."),
  paths: paths.describe("Glob patterns of what to keep and to bring back."),
});

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const httpArgs = z.strictObject({
  url: text.describe("An http or https address."),
  method: z.enum(HTTP_METHODS).optional().describe("Default GET."),
  headers: z.record(z.string().min(1), z.string()).optional().describe("By name; may hold `${{ secrets.NAME }}`."),
  body: json.optional().describe("A text as it is, anything else as JSON."),
  expectStatus: orExpression(z.array(z.int().min(100).max(599)).min(1), "a list of status codes")
    .optional()
    .describe("Default: 200 to 299."),
  output: identifier.optional().describe("Name of the output that the answer's body is put into."),
});

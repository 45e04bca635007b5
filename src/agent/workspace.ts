/** The workspace of a job: a folder that its steps share, and that nothing of the agent's own lies in. */
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { MillraceError } from "../domain/errors.ts";

/** Makes the folder when it is missing and answers its real path. `malformed_request` for an id that is no folder name. */
export function openWorkspace(workDir: string, jobId: string): string {
  const folder = workspacePath(workDir, jobId);
  mkdirSync(folder, { recursive: true });
  return realpathSync.native(folder);
}

/** The real path of `workingDirectory` within the workspace; `malformed_request` when it is missing or leads outside. */
export function resolveWorkingDirectory(workspace: string, workingDirectory: string): string {
  if (workingDirectory === "") return workspace;
  const wanted = resolve(workspace, workingDirectory);
  let real: string;
  try {
    real = realpathSync.native(wanted);
    if (!lstatSync(real).isDirectory()) throw new Error("not a folder");
  } catch {
    throw new MillraceError(
      "malformed_request",
      `the working directory "${workingDirectory}" is no folder of the workspace`,
    );
  }
  if (real === workspace || real.startsWith(workspace + sep)) return real;
  throw new MillraceError(
    "malformed_request",
    `the working directory "${workingDirectory}" leads out of the workspace`,
  );
}

/** Where the workspace is. `malformed_request` for an id that is no folder name: a slash or two dots would lead elsewhere. */
export function workspacePath(workDir: string, jobId: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(jobId)) {
    throw new MillraceError("malformed_request", `the job id ${JSON.stringify(jobId)} cannot name a workspace`);
  }
  return join(workDir, jobId);
}

/** The workspace of a job: a folder that the job's steps share. The agent keeps no files of its own in it. */
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { giveTo, type Owner } from "../process/step-user.ts";

/** Creates the folder if it is missing, and returns its real path. Throws as {@link workspacePath}. */
export function openWorkspace(workDir: string, jobId: string, user?: Owner): string {
  const folder = workspacePath(workDir, jobId);
  const made = mkdirSync(folder, { recursive: true });
  if (made !== undefined) giveTo(user, folder);
  return realpathSync.native(folder);
}

/**
 * The real path of `workingDirectory` in the workspace. Throws `malformed_request` if it is missing or lies outside.
 */
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

/**
 * The path of a job's workspace. Throws `malformed_request` for an id that is not a plain folder name, since a slash or
 * two dots would lead to another folder.
 */
export function workspacePath(workDir: string, jobId: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(jobId)) {
    throw new MillraceError("malformed_request", `the job id ${JSON.stringify(jobId)} cannot name a workspace`);
  }
  return join(workDir, jobId);
}

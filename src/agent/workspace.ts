/** The workspace of a job: a folder that its steps share, and that nothing of the agent's own lies in. */
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { chmod, lstat, readdir, rm } from "node:fs/promises";
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

/** Removes the workspace; a symbolic link goes itself, never what it names. Nothing happens when there is none. */
export async function removeWorkspace(workDir: string, jobId: string): Promise<void> {
  await removeTree(workspacePath(workDir, jobId));
}

/** Removes whatever a step has left at `path`; a symbolic link goes itself. Nothing happens when there is nothing. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // Package caches like to make their folders read-only.
    await allowRemoval(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Ids come from outside: a name with a slash or two dots must not lead anywhere else. */
function workspacePath(workDir: string, jobId: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(jobId)) {
    throw new MillraceError("malformed_request", `the job id ${JSON.stringify(jobId)} cannot name a workspace`);
  }
  return join(workDir, jobId);
}

async function allowRemoval(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await allowRemoval(join(folder, entry.name));
  }
}

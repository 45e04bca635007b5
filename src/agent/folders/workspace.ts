/** The workspace of a job: a folder that the job's steps share. The agent keeps no files of its own in it. */
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { giveTo, type Owner } from "../process/step-user.ts";
import { isUntouched, type Look, lookAt } from "./look.ts";
import type { Trash } from "./trash.ts";

/** How many folders wait for the next job at most. */
const MAX_SPARE = 64;

export interface WorkspacesOptions {
  readonly workDir: string;
  /** On the same disk: a folder for workspaces that no job has at the moment. */
  readonly spareDir: string;
  readonly trash: Trash;
  /** As whom steps run; undefined: as the agent. */
  readonly user: Owner | undefined;
}

/**
 * The workspaces of all jobs of an agent. The next job gets the workspace in which no step has made anything: a new
 * folder can cost a millisecond where many were removed within the last minutes, because ext4 looks for an inode that was
 * not in use lately.
 */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #realWorkDir: string;
  /** The look at each folder that was made for a job, by the job's id. */
  readonly #made = new Map<string, Look>();
  /** Empty folders that no job has. */
  readonly #spare: Look[] = [];
  #kept = 0;

  /** `workDir` and `spareDir` must exist. */
  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#realWorkDir = realpathSync.native(options.workDir);
  }

  /** Creates the job's folder if it is missing, and returns its real path. Throws as {@link workspacePath}. */
  open(jobId: string): string {
    const path = workspacePath(this.#realWorkDir, jobId);
    if (!this.#made.has(jobId) && (this.#useSpare(path) || this.#make(path))) {
      this.#made.set(jobId, lookAt(path)!);
      return path;
    }
    // An earlier step may have removed the folder, or replaced it by a link.
    if (mkdirSync(path, { recursive: true }) !== undefined) giveTo(this.#options.user, path);
    return realpathSync.native(path);
  }

  /** Removes the job's folder with all that is in it. No effect without one. Throws as {@link Trash.take}. */
  remove(jobId: string): void {
    const path = workspacePath(this.#realWorkDir, jobId);
    const look = this.#made.get(jobId);
    this.#made.delete(jobId);
    if (look === undefined || !this.#keep(look)) this.#options.trash.take(path);
  }

  /** False when the system refuses it, as it does when something is at the path already. */
  #make(path: string): boolean {
    try {
      mkdirSync(path);
    } catch {
      return false;
    }
    giveTo(this.#options.user, path);
    return true;
  }

  /** A process that its step left behind may have found a spare folder, so each folder is looked at again. */
  #useSpare(path: string): boolean {
    for (;;) {
      const folder = this.#spare.pop();
      if (folder === undefined) return false;
      if (isUntouched(folder) && moves(folder.path, path)) return true;
      this.#options.trash.take(folder.path);
    }
  }

  #keep(look: Look): boolean {
    if (this.#spare.length >= MAX_SPARE || !isUntouched(look) || !isEmpty(look.path)) return false;
    const spare = join(this.#options.spareDir, `workspace-${this.#kept++}`);
    if (!moves(look.path, spare)) return false;
    this.#spare.push(lookAt(spare)!);
    return true;
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

/** Moves a folder. False when the system refuses it. */
function moves(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
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
function workspacePath(workDir: string, jobId: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(jobId)) {
    throw new MillraceError("malformed_request", `the job id ${JSON.stringify(jobId)} cannot name a workspace`);
  }
  return join(workDir, jobId);
}

/** Finds programs of this machine. Steps choose their own PATH, so what runs around them is named by its path. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The PATH of this process, for programs that it starts with an environment of their own. */
export function ownPath(): string {
  return process.env["PATH"] ?? "/usr/bin:/bin";
}

/**
 * The path of a program on the PATH of this process; undefined without one. Only absolute folders count: what a relative one names depends on
 * the folder in which the program starts.
 */
export function findOnPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

/** Whether there is a file that this process may execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

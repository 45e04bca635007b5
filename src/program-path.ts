/** Finds programs of this machine. Steps choose their own PATH, so what runs around them is named by its path. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * The path of a program on the PATH of this process; undefined without one. Only absolute folders count: what a relative one
 * names depends on the folder in which the program starts.
 */
export function findOnPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

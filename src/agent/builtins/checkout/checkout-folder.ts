/** The folder of a checkout. It is in the workspace, even if earlier steps have put links there, and it is emptied. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { mountPointsIn } from "../../folders/mount-points.ts";
import { CheckoutProblem } from "./checkout-problem.ts";

/**
 * Creates the folder if it is missing. Throws a {@link CheckoutProblem} when a part of the path is a link or a file.
 */
export function openFolder(workspace: string, folder: string): string {
  let path = workspace;
  for (const name of folder.split("/").filter((each) => each !== "")) {
    path = join(path, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) {
      allowChanges(dirname(path));
      mkdirSync(path);
    } else if (!stats.isDirectory()) {
      throw new CheckoutProblem("files", `\`path\` ${JSON.stringify(folder)}: ${JSON.stringify(name)} is no folder`);
    }
  }
  return path;
}

/**
 * Removes the content of the folder: links themselves, never their targets. Returns whether there was any content. Throws
 * a {@link CheckoutProblem} when an earlier step has mounted something there, since the files behind it are not the job's.
 */
export function emptyFolder(folder: string): boolean {
  allowChanges(folder);
  const names = readdirSync(folder);
  const mounted = names.length === 0 ? undefined : mountPointsIn(folder)[0];
  if (mounted !== undefined) {
    throw new CheckoutProblem("files", `${JSON.stringify(mounted)} is a mount point, and is not emptied: unmount it`);
  }
  for (const name of names) {
    const path = join(folder, name);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Package caches often make their folders read-only.
      allowRemoval(path);
      rmSync(path, { recursive: true, force: true });
    }
  }
  return names.length > 0;
}

/** A step may have made the folder itself read-only. */
function allowChanges(folder: string): void {
  const { mode } = lstatSync(folder);
  if ((mode & 0o700) !== 0o700) chmodSync(folder, (mode & 0o7777) | 0o700);
}

function allowRemoval(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) allowRemoval(join(path, name));
}

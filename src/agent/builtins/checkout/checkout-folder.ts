/** The folder that a checkout goes into: within the workspace, whatever earlier steps have put there, and empty. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CheckoutProblem } from "./checkout-problem.ts";

/** Makes it when it is missing. Throws {@link CheckoutProblem} when a link or a file stands on the way. */
export function openFolder(workspace: string, folder: string): string {
  let path = workspace;
  for (const name of folder.split("/").filter((each) => each !== "")) {
    path = join(path, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) mkdirSync(path);
    else if (!stats.isDirectory()) {
      throw new CheckoutProblem("files", `\`path\` ${JSON.stringify(folder)}: ${JSON.stringify(name)} is no folder`);
    }
  }
  return path;
}

/** Removes what is in it, links themselves and never what they name; answers whether there was anything. */
export function emptyFolder(folder: string): boolean {
  const names = readdirSync(folder);
  for (const name of names) {
    const path = join(folder, name);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Package caches like to make their folders read-only.
      allowRemoval(path);
      rmSync(path, { recursive: true, force: true });
    }
  }
  return names.length > 0;
}

function allowRemoval(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) allowRemoval(join(path, name));
}

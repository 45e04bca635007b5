/** Makes a folder with those above it. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the folder, and the missing ones above it, with the mode. Idempotent. Rejects with the error of the system: that of
 * the library's recursive call is ENOENT on a disk that is read-only, and never comes below `/proc`.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && dirname(path) !== path && !(await isFolder(dirname(path)))) {
      await makeFolder(dirname(path), mode);
      return makeFolder(path, mode);
    }
    // Of a folder that is there, a system may say that it could not be made.
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

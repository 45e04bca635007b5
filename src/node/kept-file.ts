/** Files of a data directory that are made once, by whichever of several processes is first, and never change. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, rm, writeFile } from "node:fs/promises";

/** Makes the file, whole and readable by its owner alone, unless it is there: then nothing happens. */
export async function makeOnce(path: string, text: string): Promise<void> {
  if (existsSync(path)) return;
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  try {
    // A link appears whole or not at all, and only where there is none: the first process wins.
    await link(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(fresh, { force: true });
  }
}

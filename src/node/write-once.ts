/** Files of a data directory that are written once, by the first of several processes, and never change. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, rm, writeFile } from "node:fs/promises";

/**
 * Writes the file, readable by its owner only, unless it exists: then nothing changes. Readers never see a part of it.
 */
export async function writeOnce(path: string, text: string): Promise<void> {
  if (existsSync(path)) return;
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  try {
    // Creating a link is atomic and fails when the name exists: the first process wins.
    await link(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(fresh, { force: true });
  }
}

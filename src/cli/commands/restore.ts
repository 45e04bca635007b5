/** `millrace restore`: creates an embedded installation from a backup, in an empty directory. */
import { existsSync } from "node:fs";
import { chmod, copyFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { unpackBackup } from "../../stores/sqlite/backup.ts";
import { claimDataDir, isFreeDataDir, storeFile } from "../../node/data-dir.ts";
import { embeddedDataDir } from "../embedded-data-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { masterKeyFile } from "../../node/master-key-files.ts";
import { signingKeyFile } from "../../node/signing-key.ts";

export interface RestoreOptions {
  readonly dataDir?: string;
}

/**
 * Fills the data directory from `file` and resolves with the exit status. Rejects with `conflict` for a directory that is in
 * use or not empty, with `not_found` without the file, and with `unavailable` for a file that cannot be restored from. After
 * a rejection the directory holds no store.
 */
export async function restore(file: string, options: RestoreOptions, signal: AbortSignal): Promise<number> {
  const dataDir = embeddedDataDir(options.dataDir);
  const source = resolve(file);
  if (!existsSync(source)) throw new MillraceError("not_found", `there is no file ${source}`);
  if (!(await isFreeDataDir(dataDir))) {
    throw new MillraceError(
      "conflict",
      `${dataDir} is not empty: stop the installation there and move it away, or restore into another directory (--data-dir)`,
    );
  }
  const release = await claimDataDir(dataDir);
  const store = storeFile(dataDir);
  const keys: string[] = [];
  const partial = `${store}.partial`;
  try {
    await copyFile(source, partial);
    await chmod(partial, 0o600);
    const { version, madeAt, signingKey, masterKeys } = unpackBackup(partial);
    signal.throwIfAborted();
    keys.push(...masterKeys.map((_, index) => masterKeyFile(dataDir, index + 1)));
    for (const [index, text] of masterKeys.entries()) await writeKey(keys[index]!, text);
    if (signingKey !== null) await writeKey(signingKeyFile(dataDir), signingKey);
    // This is the last step: a directory that holds a store is a complete installation.
    await rename(partial, store);
    const made = `made by millrace ${version} at ${new Date(madeAt).toISOString()}`;
    process.stdout.write(`${dataDir} is restored from ${source}, ${made}: start it as usual, with --data-dir\n`);
    return EXIT.ok;
  } catch (error) {
    for (const left of [partial, signingKeyFile(dataDir), ...keys]) await rm(left, { force: true });
    throw error;
  } finally {
    release();
  }
}

const writeKey = (path: string, text: string) => writeFile(path, text, { mode: 0o600, flush: true });

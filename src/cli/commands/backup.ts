/** `millrace backup`: copies an embedded installation into one file, also while it runs. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { addMasterKeys, writeBackup } from "../../stores/sqlite/backup.ts";
import { storeFile } from "../../node/data-dir.ts";
import { embeddedDataDir } from "../embedded-data-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { packageVersion } from "../../node/package-root.ts";
import { readMasterKeyFiles } from "../../node/master-key-files.ts";
import { signingKeyFile } from "../../node/signing-key.ts";

export interface BackupOptions {
  readonly dataDir?: string;
}

/**
 * Writes `file`, which only this user can read, and resolves with the exit status. Rejects with `not_found` without a store,
 * with `already_exists` when the file exists, and with `unavailable` when it cannot be written. A rejection leaves no file.
 */
export async function backup(file: string, options: BackupOptions, signal: AbortSignal): Promise<number> {
  const dataDir = embeddedDataDir(options.dataDir);
  const [store, target] = [storeFile(dataDir), resolve(file)];
  if (!existsSync(store)) {
    throw new MillraceError(
      "not_found",
      `there is no store in ${dataDir}: give the data directory of the installation with --data-dir`,
    );
  }
  if (existsSync(target)) {
    throw new MillraceError("already_exists", `${target} exists already: choose another name, or move it away`);
  }
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    await makePrivateFile(partial);
    const note = { version: packageVersion(), madeAt: Date.now(), signingKey: await signingKeyIn(dataDir) };
    writeBackup(store, partial, note);
    addMasterKeys(partial, await readMasterKeyFiles(dataDir));
    signal.throwIfAborted();
    await rename(partial, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  process.stdout.write(
    `${target} holds the whole installation in ${dataDir}, with its signing key, master keys and hashed tokens: keep it secret\n`,
  );
  return EXIT.ok;
}

async function makePrivateFile(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const folder = dirname(path);
    throw new MillraceError("unavailable", `cannot create a file in ${folder} (${code}): choose another folder`, {
      cause: error,
    });
  }
}

/** Null when the key comes from MILLRACE_SIGNING_KEY. */
async function signingKeyIn(dataDir: string): Promise<string | null> {
  return readFile(signingKeyFile(dataDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** Puts the name of the file on disk. SQLite has put its contents there with the last commit. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}

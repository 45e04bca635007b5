/**
 * The master keys of an embedded control plane: a file each in its data directory, numbered, of which the last seals. None is
 * ever changed or removed: a secret may be under any of them, and a process that runs finds a new one by itself.
 */
import { randomBytes } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { type KeyRing, MASTER_KEY_BYTES, type MasterKey, masterKey } from "../secrets/master-keys.ts";
import { makeOnce } from "./kept-file.ts";

const FILE_NAME = /^master-(\d{1,6})\.key$/;

/** The file of the key with that number, from 1; it holds hexadecimal digits. */
export function masterKeyFile(dataDir: string, number: number): string {
  return join(dataDir, `master-${number}.key`);
}

/** The keys as their files hold them, the first made first; empty when there is none. */
export async function readMasterKeyFiles(dataDir: string): Promise<readonly string[]> {
  const numbers = (await readdir(dataDir)).flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).map(Number);
  return Promise.all(
    numbers.toSorted((one, other) => one - other).map((number) => readFile(masterKeyFile(dataDir, number), "utf8")),
  );
}

/**
 * Makes the key that follows `known` others, on disk when this resolves. When somebody else is faster theirs is the one:
 * nothing is made then.
 */
export async function makeMasterKey(dataDir: string, known: number): Promise<void> {
  await makeOnce(masterKeyFile(dataDir, known + 1), randomBytes(MASTER_KEY_BYTES).toString("hex"));
  const folder = await open(dataDir, "r");
  await folder.sync();
  await folder.close();
}

/** The ring of the keys in `dataDir`; the first is made when there is none. */
export async function keptMasterKeys(dataDir: string): Promise<KeyRing> {
  if ((await readMasterKeyFiles(dataDir)).length === 0) await makeMasterKey(dataDir, 0);
  let known = await parsedKeys(dataDir);
  return {
    async newest() {
      known = await parsedKeys(dataDir);
      return known.at(-1)!;
    },
    async find(keyId) {
      const find = (): MasterKey | undefined => known.find(({ id }) => id === keyId);
      if (find() === undefined) known = await parsedKeys(dataDir);
      return find();
    },
  };
}

async function parsedKeys(dataDir: string): Promise<readonly MasterKey[]> {
  const texts = await readMasterKeyFiles(dataDir);
  if (texts.length === 0) throw lost(`the master keys in ${dataDir} are gone`);
  return texts.map((text, index) => {
    const bytes = Buffer.from(text, "hex");
    if (bytes.length !== MASTER_KEY_BYTES) throw lost(`the master key no. ${index + 1} in ${dataDir} is damaged`);
    return masterKey(bytes);
  });
}

function lost(what: string): MillraceError {
  return new MillraceError("unavailable", `${what}: restore it; without it the secrets under it cannot be read`);
}

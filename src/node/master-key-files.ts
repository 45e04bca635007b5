/**
 * The master keys of an embedded control plane: numbered files in its data directory. The newest key seals new values.
 * No file is ever changed or removed, because secrets may be sealed under any of the keys. A running process finds a
 * new key by itself.
 */
import { randomBytes } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { type KeyRing, MASTER_KEY_BYTES, type MasterKey, masterKey } from "../secrets/master-keys.ts";
import { writeOnce } from "./write-once.ts";

const FILE_NAME = /^master-(\d{1,6})\.key$/;

/** The file of the key `number`, from 1. It contains hexadecimal digits. */
export function masterKeyFile(dataDir: string, number: number): string {
  return join(dataDir, `master-${number}.key`);
}

/** The texts of the key files, oldest first; empty when there are none. */
export async function readMasterKeyFiles(dataDir: string): Promise<readonly string[]> {
  const numbers = (await readdir(dataDir)).flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).map(Number);
  return Promise.all(
    numbers.toSorted((one, other) => one - other).map((number) => readFile(masterKeyFile(dataDir, number), "utf8")),
  );
}

/**
 * Makes the key with the number `count` + 1; it is on disk when this resolves. When another process has made the key of
 * that number first, that key stays.
 */
export async function makeMasterKey(dataDir: string, count: number): Promise<void> {
  await writeOnce(masterKeyFile(dataDir, count + 1), randomBytes(MASTER_KEY_BYTES).toString("hex"));
  const folder = await open(dataDir, "r");
  await folder.sync();
  await folder.close();
}

/**
 * The keys in `dataDir`; makes the first one when there is none. Rejects with `unavailable` when a key is missing or
 * damaged.
 */
export async function readOrMakeMasterKeys(dataDir: string): Promise<KeyRing> {
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

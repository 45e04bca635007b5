/** The signing key of an embedded control plane: made at its first start and kept in its data directory. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { makeOnce } from "./kept-file.ts";

const KEY_BYTES = 32;

/** The file that holds the key, in hexadecimal digits. */
export function signingKeyFile(dataDir: string): string {
  return join(dataDir, "signing.key");
}

/** The key in `dataDir`, made when there is none. Several processes may share the directory: all get the same key. */
export async function keptSigningKey(dataDir: string): Promise<Uint8Array> {
  const path = signingKeyFile(dataDir);
  await makeOnce(path, randomBytes(KEY_BYTES).toString("hex"));
  const key = Buffer.from(await readFile(path, "utf8"), "hex");
  if (key.length !== KEY_BYTES) {
    throw new MillraceError(
      "unavailable",
      `${path} is damaged: restore it, or delete it to have a new one made, which ends all logins`,
    );
  }
  return key;
}

/** The signing key of an embedded control plane: made at its first start and stored in its data directory. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import { writeOnce } from "./write-once.ts";

const KEY_BYTES = 32;

/** The file of the key. It contains hexadecimal digits. */
export function signingKeyFile(dataDir: string): string {
  return join(dataDir, "signing.key");
}

/**
 * The key in `dataDir`; makes it when there is none. Several processes may share the directory: all get the same key.
 * Rejects with `unavailable`, and says what to do, when the file is damaged.
 */
export async function readOrMakeSigningKey(dataDir: string): Promise<Uint8Array> {
  const path = signingKeyFile(dataDir);
  await writeOnce(path, randomBytes(KEY_BYTES).toString("hex"));
  const key = Buffer.from(await readFile(path, "utf8"), "hex");
  if (key.length !== KEY_BYTES) {
    throw new MillraceError(
      "unavailable",
      `${path} is damaged: restore it, or delete it to have a new one made, which ends all logins`,
    );
  }
  return key;
}

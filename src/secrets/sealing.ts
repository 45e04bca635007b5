/**
 * Values under a master key: AES-256-GCM with a random 96-bit IV. What they are bound to is authenticated with them, so that
 * a record that is moved or changed does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type SecretKey, secretIdOf, type Seal, type SealedSecret } from "../stores/ports/secrets.ts";
import type { KeyRing, MasterKey } from "./master-keys.ts";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Why a stored secret cannot be read; for people, and without anything of its value. */
export class UnreadableSecretError extends Error {}

/** `sealed` is the IV, the tag and the ciphertext as base64. */
export function seal(key: MasterKey, of: SecretKey, value: string): Seal {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(of));
  const ciphertext = [cipher.update(value, "utf8"), cipher.final()];
  return { keyId: key.id, sealed: Buffer.concat([iv, cipher.getAuthTag(), ...ciphertext]).toString("base64") };
}

/** The value; rejects with an {@link UnreadableSecretError} when its key is not there or the record is not what was sealed. */
export async function unseal(keys: Pick<KeyRing, "find">, secret: SealedSecret): Promise<string> {
  const key = await keys.find(secret.keyId);
  if (key === undefined) {
    throw new UnreadableSecretError(
      `the secret ${secret.name} cannot be read: it is sealed with the master key ${secret.keyId}, which is not here`,
    );
  }
  const bytes = Buffer.from(secret.sealed, "base64");
  try {
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(secret));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch {
    // Without the cause: what the library says of it helps nobody.
    throw new UnreadableSecretError(`the secret ${secret.name} cannot be read: its record is damaged; set it anew`);
  }
}

function boundTo(key: SecretKey): Buffer {
  return Buffer.from(`millrace secret 1\0${secretIdOf(key)}`);
}

/**
 * Seals values with a master key: AES-256-GCM with a random 96-bit IV. The project, pipeline and name of the secret are
 * authenticated with the value, so that a record that was moved or changed cannot be opened.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { asId, type ProjectId } from "../domain/ids.ts";
import { type SecretKey, secretIdOf, type Seal } from "../stores/ports/secrets.ts";
import type { KeyRing, MasterKey } from "./master-keys.ts";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A stored secret cannot be read. The message says why, and contains nothing of the value. */
export class UnreadableSecretError extends Error {}

/** Seals the value of the secret `of`. `sealed` is the IV, the tag and the ciphertext, in this order, as base64. */
export function seal(key: MasterKey, of: SecretKey, value: string): Seal {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(of));
  const ciphertext = [cipher.update(value, "utf8"), cipher.final()];
  return { keyId: key.id, sealed: Buffer.concat([iv, cipher.getAuthTag(), ...ciphertext]).toString("base64") };
}

/** The value of a sealed secret. Rejects with an {@link UnreadableSecretError} when its key is unknown or its record was changed. */
export async function unseal(keys: Pick<KeyRing, "find">, secret: SecretKey & Seal): Promise<string> {
  const key = await keys.find(secret.keyId);
  if (key === undefined) {
    throw new UnreadableSecretError(
      `the secret ${secret.name} cannot be read: it is sealed with the master key ${secret.keyId}, which was not found`,
    );
  }
  const bytes = Buffer.from(secret.sealed, "base64");
  try {
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(secret));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch {
    // Without the cause, since the message of the library helps no user.
    throw new UnreadableSecretError(`the secret ${secret.name} cannot be read: its record is damaged; set it again`);
  }
}

function boundTo(key: SecretKey): Buffer {
  return Buffer.from(`millrace secret 1\0${secretIdOf(key)}`);
}

/** What the seal of a secret of the installation itself is bound to: no project has the empty id. */
export function ownKey(name: string): SecretKey {
  return { projectId: asId<ProjectId>(""), pipelineId: null, name };
}

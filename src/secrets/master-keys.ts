/** Master keys, which seal secrets. The record of a secret has the id of the key that sealed it. */
import { createHash } from "node:crypto";

export const MASTER_KEY_BYTES = 32;

export interface MasterKey {
  /** Distinguishes keys; nothing about the bytes of the key can be learned from it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The master keys of an installation. Both methods reject with `unavailable` when the keys cannot be read. */
export interface KeyRing {
  /** The key that seals new values. */
  newest(): Promise<MasterKey>;
  find(keyId: string): Promise<MasterKey | undefined>;
}

/** A key of `MASTER_KEY_BYTES` random bytes. Its id is a hash of them; there are too many bytes to guess them from the id. */
export function masterKey(bytes: Uint8Array): MasterKey {
  const id = createHash("sha256").update("millrace master key\0").update(bytes).digest("hex").slice(0, 16);
  return { id, bytes };
}

/** A ring of keys that never change while the program runs; the first key seals. */
export function fixedKeys(keys: readonly [MasterKey, ...MasterKey[]]): KeyRing {
  return {
    newest: () => Promise.resolve(keys[0]),
    find: (keyId) => Promise.resolve(keys.find(({ id }) => id === keyId)),
  };
}

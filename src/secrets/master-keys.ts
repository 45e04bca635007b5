/** Master keys: what seals secrets. A record says by its id under which of them it is. */
import { createHash } from "node:crypto";

export const MASTER_KEY_BYTES = 32;

export interface MasterKey {
  /** Tells keys apart and says nothing of them. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The keys of an installation. Rejects with `unavailable` when they cannot be read. */
export interface KeyRing {
  /** The one that seals. */
  newest(): Promise<MasterKey>;
  find(keyId: string): Promise<MasterKey | undefined>;
}

/** Of `MASTER_KEY_BYTES` random bytes, so that the hash cannot be tried out. */
export function masterKey(bytes: Uint8Array): MasterKey {
  const id = createHash("sha256").update("millrace master key\0").update(bytes).digest("hex").slice(0, 16);
  return { id, bytes };
}

/** The ring of keys that never change while the program runs; the first one seals. */
export function fixedKeys(keys: readonly [MasterKey, ...MasterKey[]]): KeyRing {
  return {
    newest: () => Promise.resolve(keys[0]),
    find: (keyId) => Promise.resolve(keys.find(({ id }) => id === keyId)),
  };
}

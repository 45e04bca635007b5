/** Rotation: seals all stored secrets with a new master key, while nodes go on reading and writing secrets. */
import type { SealedSecret, SecretKey, SecretStore } from "../stores/ports/secrets.ts";
import type { KeyRing } from "./master-keys.ts";
import { seal, unseal, UnreadableSecretError } from "./sealing.ts";

const PAGE = 100;

export interface Rotation {
  /** The id of the key with which all readable secrets are sealed now. */
  readonly keyId: string;
  /** How many secrets were sealed again. */
  readonly resealed: number;
  /** The secrets that could not be read and stay as they were. */
  readonly unreadable: readonly { readonly secret: SecretKey; readonly reason: string }[];
}

/**
 * Seals every secret that has an older key with the newest one. It may be interrupted at any moment and repeated: each secret always
 * has one key or the other. A secret that a user changes meanwhile keeps its new value.
 */
export async function resealAll(store: SecretStore, keys: KeyRing): Promise<Rotation> {
  const newest = await keys.newest();
  let resealed = 0;
  for (;;) {
    const unreadable: { secret: SecretKey; reason: string }[] = [];
    let hasChanged = false;
    for await (const secret of secretsNotUnder(store, newest.id)) {
      const value = await valueOrReason(keys, secret);
      if (typeof value === "object") unreadable.push({ secret, reason: value.reason });
      else if (await store.reseal(secret, seal(newest, secret, value))) resealed++;
      else hasChanged = true;
    }
    // A node that does not know the newest key yet may have sealed a changed secret with an older key, so they are read again.
    if (!hasChanged) return { keyId: newest.id, resealed, unreadable };
  }
}

async function* secretsNotUnder(store: SecretStore, keyId: string): AsyncGenerator<SealedSecret> {
  for (let after: SecretKey | null = null; ;) {
    const page: readonly SealedSecret[] = await store.pageNotUnder(keyId, after, PAGE);
    yield* page;
    after = page.at(-1) ?? null;
    if (after === null) return;
  }
}

async function valueOrReason(keys: KeyRing, secret: SealedSecret): Promise<string | { readonly reason: string }> {
  try {
    return await unseal(keys, secret);
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    return { reason: error.message };
  }
}

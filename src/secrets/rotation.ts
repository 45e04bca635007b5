/** A new master key for all that is stored, while nodes go on reading and writing. */
import type { SealedSecret, SecretKey, SecretStore } from "../stores/ports/secrets.ts";
import type { KeyRing } from "./master-keys.ts";
import { seal, unseal, UnreadableSecretError } from "./sealing.ts";

const PAGE = 100;

export interface Rotation {
  /** Of the key under which all readable secrets are now. */
  readonly keyId: string;
  /** How many were sealed anew. */
  readonly resealed: number;
  /** Those that stay as they were, each with why. */
  readonly unreadable: readonly { readonly secret: SecretKey; readonly reason: string }[];
}

/**
 * Seals with the newest key what is under others. It may be cut short at any moment and repeated: each secret is under the
 * one or the other key, and what is given a new value meanwhile keeps that.
 */
export async function resealAll(store: SecretStore, keys: KeyRing): Promise<Rotation> {
  const newest = await keys.newest();
  let resealed = 0;
  for (;;) {
    const unreadable: { secret: SecretKey; reason: string }[] = [];
    let hasChanged = false;
    for await (const secret of notUnder(store, newest.id)) {
      const value = await valueOrReason(keys, secret);
      if (typeof value === "object") unreadable.push({ secret, reason: value.reason });
      else if (await store.reseal(secret, seal(newest, secret, value))) resealed++;
      else hasChanged = true;
    }
    // What was changed meanwhile may be under an older key again: by a node that does not seal with the newest yet.
    if (!hasChanged) return { keyId: newest.id, resealed, unreadable };
  }
}

async function* notUnder(store: SecretStore, keyId: string): AsyncGenerator<SealedSecret> {
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

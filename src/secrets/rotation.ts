/** Rotation: seals all stored secrets with a new master key, while nodes go on reading and writing secrets. */
import type { DocumentStore, TokenKey, Webhook } from "../stores/ports/documents.ts";
import type { Seal, SealedSecret, SecretKey, SecretStore } from "../stores/ports/secrets.ts";
import type { KeyRing } from "./master-keys.ts";
import { ownKey, seal, unseal, UnreadableSecretError } from "./sealing.ts";

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

async function valueOrReason(keys: KeyRing, secret: SecretKey & Seal): Promise<string | { readonly reason: string }> {
  try {
    return await unseal(keys, secret);
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    return { reason: error.message };
  }
}

/**
 * Seals the keys of identity tokens with the newest master key, and answers how many it sealed again. A key that cannot be
 * read stays as it is.
 */
export async function resealTokenKeys(documents: DocumentStore, ring: KeyRing): Promise<number> {
  const newest = await ring.newest();
  for (;;) {
    const [stored] = await documents.find("tokenKeys", ["installation"]);
    if (stored === undefined) return 0;
    let resealed = 0;
    const keys = await Promise.all(
      stored.body.keys.map(async (key): Promise<TokenKey> => {
        if (key.keyId === newest.id) return key;
        const value = await valueOrReason(ring, { ...ownKey(key.kid), ...key });
        if (typeof value === "object") return key;
        resealed++;
        return { ...key, ...seal(newest, ownKey(key.kid), value) };
      }),
    );
    if (resealed === 0) return 0;
    // An edge may have stored a further key meanwhile; then the keys are read again.
    if (await documents.save({ ...stored, version: stored.version + 1, body: { keys } })) return resealed;
  }
}

/** As {@link resealTokenKeys}, for the addresses and secrets of webhooks. */
export async function resealWebhooks(documents: DocumentStore, ring: KeyRing): Promise<number> {
  const newest = await ring.newest();
  let total = 0;
  for (const { owner } of await documents.all("webhooks")) {
    for (;;) {
      const [stored] = await documents.find("webhooks", [owner]);
      if (stored === undefined) break;
      let resealed = 0;
      const webhooks = await Promise.all(
        stored.body.webhooks.map(async (webhook): Promise<Webhook> => {
          if (webhook.keyId === newest.id) return webhook;
          const value = await valueOrReason(ring, { ...ownKey(webhook.webhookId), ...webhook });
          if (typeof value === "object") return webhook;
          resealed++;
          return { ...webhook, ...seal(newest, ownKey(webhook.webhookId), value) };
        }),
      );
      if (resealed === 0) break;
      // Someone may have changed a webhook meanwhile; then they are read again.
      if (!(await documents.save({ ...stored, version: stored.version + 1, body: { webhooks } }))) continue;
      total += resealed;
      break;
    }
  }
  return total;
}

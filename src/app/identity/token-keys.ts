/**
 * The keys that sign identity tokens: RS256, which all clouds take. They are stored with sealed private parts, so that all
 * edges sign with the same key. A key is published some time before it signs and stays published until the last token that
 * it has signed has expired.
 */
import { createPrivateKey, generateKeyPair, type KeyObject, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { MillraceError } from "../../domain/errors.ts";
import type { DocumentStore, OwnedDocument, PublicTokenKey, TokenKey } from "../../stores/ports/documents.ts";
import type { AppContext, WithStores } from "../context.ts";

const HOUR_MS = 3_600_000;
/** How long an identity token is valid. Clouds exchange it at once for a credential of their own. */
export const ID_TOKEN_MS = 10 * 60_000;
/** How long others may remember the published keys. */
export const JWKS_SECONDS = 15 * 60;
/** How long a key signs. */
export const KEY_MS = 30 * 24 * HOUR_MS;
/** How long a key is published before it signs: longer than others remember the keys. */
export const AHEAD_MS = HOUR_MS;
/** How long a key is published after its last signature: longer than a token lives, with clocks that differ. */
export const KEPT_MS = HOUR_MS;
/** How long a node remembers the stored keys. A new key signs only an hour later. */
const REMEMBERED_MS = 30_000;
const TRIES = 5;
const RSA = { modulusLength: 2_048 } as const;

const generate = promisify(generateKeyPair);

export type KeyContext = Pick<AppContext, "clock" | "secrets"> & WithStores<"documents">;

interface Memory {
  known: { readonly readAt: number; readonly keys: readonly TokenKey[] } | undefined;
  readonly opened: Map<string, KeyObject>;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<DocumentStore, Memory>();

/** The key that signs now. Makes the first one, and the successor of an old one. */
export async function currentKey(
  context: KeyContext,
): Promise<{ readonly kid: string; readonly privateKey: KeyObject }> {
  const memory = memoryOf(context);
  const { kid, keyId, sealed } = signingKeyAt(await freshKeys(context, memory), context.clock.now())!;
  let privateKey = memory.opened.get(kid);
  if (privateKey === undefined) {
    privateKey = createPrivateKey(await context.secrets.openOwn(kid, { keyId, sealed }));
    memory.opened.clear();
    memory.opened.set(kid, privateKey);
  }
  return { kid, privateKey };
}

/** The public keys with which tokens are verified, those that do not sign yet and those that signed last among them. */
export async function publishedKeys(context: KeyContext): Promise<readonly PublicTokenKey[]> {
  const keys = await freshKeys(context, memoryOf(context));
  return keptAt(keys, context.clock.now()).map(({ kid, kty, n, e }) => ({ kid, kty, n, e }));
}

/** The newest key that has been published for long enough, else the oldest one. `keys`: by their creation. */
export function signingKeyAt<K extends Pick<TokenKey, "createdAt">>(keys: readonly K[], now: number): K | undefined {
  return keys.findLast(({ createdAt }) => createdAt + AHEAD_MS <= now) ?? keys[0];
}

/** The keys without those whose successors have signed for so long that no token of theirs is left. */
export function keptAt<K extends Pick<TokenKey, "createdAt">>(keys: readonly K[], now: number): readonly K[] {
  return keys.filter((_, at) => {
    const successor = keys[at + 1];
    return successor === undefined || successor.createdAt + AHEAD_MS + KEPT_MS > now;
  });
}

/** True when a key has to be made: there is none, or the newest one is so old that its successor is due. */
export function needsKey(keys: readonly Pick<TokenKey, "createdAt">[], now: number): boolean {
  const newest = keys.at(-1);
  return newest === undefined || newest.createdAt + KEY_MS <= now;
}

/** At least one key. Of several edges that make a key at once, one stores its key, and all of them read that one. */
async function freshKeys(context: KeyContext, memory: Memory): Promise<readonly TokenKey[]> {
  const { clock, stores, secrets } = context;
  const { known } = memory;
  if (known !== undefined && clock.monotonic() - known.readAt < REMEMBERED_MS && !needsKey(known.keys, clock.now())) {
    return known.keys;
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const readAt = clock.monotonic();
    const [stored] = await stores.documents.find("tokenKeys", ["installation"]);
    let keys = stored?.body.keys ?? [];
    const now = clock.now();
    if (needsKey(keys, now)) {
      keys = [...keptAt(keys, now), await newKey(secrets, now)];
      const document: OwnedDocument<"tokenKeys"> = {
        kind: "tokenKeys",
        owner: "installation",
        version: (stored?.version ?? 0) + 1,
        body: { keys },
      };
      if (!(await stores.documents.save(document))) continue;
    }
    memory.known = { readAt, keys };
    return keys;
  }
  throw new MillraceError("unavailable", "other nodes change the keys of identity tokens all the time: try again");
}

async function newKey(secrets: KeyContext["secrets"], now: number): Promise<TokenKey> {
  const { publicKey, privateKey } = await generate("rsa", RSA);
  const { n, e } = publicKey.export({ format: "jwk" });
  const kid = randomUUID();
  const pem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  return { kid, kty: "RSA", n: n!, e: e!, createdAt: now, ...(await secrets.sealOwn(kid, pem)) };
}

function memoryOf({ stores }: WithStores<"documents">): Memory {
  const memory = memories.get(stores.documents) ?? { known: undefined, opened: new Map<string, KeyObject>() };
  memories.set(stores.documents, memory);
  return memory;
}

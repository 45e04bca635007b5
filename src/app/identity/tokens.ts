/**
 * Opaque tokens: `mrt_<tokenId>_<secret>`, stored as the SHA-256 of the secret alone, so that a copy of the store
 * opens nothing. Operators may choose the first tokens themselves; those have any text and an id derived from it.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { asId, newId, type TokenId } from "../../domain/ids.ts";
import type { Token, TokenKind } from "../../stores/ports/identity.ts";
import type { IdentityContext } from "./context.ts";

type TokensContext = Omit<IdentityContext, "signingKey">;

export interface TokenRequest {
  readonly kind: TokenKind;
  /** Id of the user or agent that the token speaks for; for a registration token the user who made it. */
  readonly subject: string;
  /** For people; need not be unique. */
  readonly name: string;
  readonly scopes?: readonly string[];
  /** Milliseconds until it expires; absent for never. */
  readonly expiresInMs?: number;
  /** How many agents may register with it; absent for any number. */
  readonly maxUses?: number;
}

const ISSUED = /^mrt_(tok_[0-9A-Z]{26})_([0-9a-f]{64})$/;

/** Stores a new token and answers its text: the only time that anybody sees it. */
export async function issueToken(context: TokensContext, request: TokenRequest): Promise<string> {
  const text = `mrt_${newId("tok")}_${randomBytes(32).toString("hex")}`;
  await storeToken(context, text, request);
  return text;
}

/** Stores a token whose text somebody chose; a repeat changes nothing. */
export async function adoptToken(context: TokensContext, text: string, request: TokenRequest): Promise<void> {
  const { identity } = context.stores;
  const { tokenId } = takeApart(text);
  if ((await identity.findToken(tokenId)) !== undefined) return;
  try {
    await storeToken(context, text, request);
  } catch (error) {
    // Another node that starts at the same time may have been first.
    if ((await identity.findToken(tokenId)) === undefined) throw error;
  }
}

/** The stored token that `text` proves, or undefined: unknown, wrong secret or expired. */
export async function findProvenToken(context: TokensContext, text: string): Promise<Token | undefined> {
  const { tokenId, secretHash } = takeApart(text);
  const token = await context.stores.identity.findToken(tokenId);
  if (token === undefined || !timingSafeEqual(Buffer.from(token.secretHash, "hex"), secretHash)) return undefined;
  return token.expiresAt !== null && token.expiresAt <= context.clock.now() ? undefined : token;
}

/** The id within a token's text; no secret. */
export function tokenIdOf(text: string): TokenId {
  return takeApart(text).tokenId;
}

async function storeToken(context: TokensContext, text: string, request: TokenRequest): Promise<void> {
  const now = context.clock.now();
  const { tokenId, secretHash } = takeApart(text);
  await context.stores.identity.createToken({
    tokenId,
    kind: request.kind,
    secretHash: secretHash.toString("hex"),
    name: request.name,
    subject: request.subject,
    scopes: request.scopes ?? [],
    createdAt: now,
    expiresAt: request.expiresInMs === undefined ? null : now + request.expiresInMs,
    maxUses: request.maxUses ?? null,
    uses: 0,
  });
}

function takeApart(text: string): { readonly tokenId: TokenId; readonly secretHash: Buffer } {
  const issued = ISSUED.exec(text);
  const secretHash = createHash("sha256")
    .update(issued?.[2] ?? text)
    .digest();
  if (issued !== null) return { tokenId: asId<TokenId>(issued[1]!), secretHash };
  // The id is stored in the open, so it must not be a part of the stored hash's own input space.
  const name = createHash("sha256").update(`token id of ${text}`).digest("hex").slice(0, 26);
  return { tokenId: asId<TokenId>(`tok_${name}`), secretHash };
}

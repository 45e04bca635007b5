/**
 * Opaque tokens: `mrt_<tokenId>_<secret>`. The store keeps only the SHA-256 of the secret, so a copy of the store gives
 * no access. Operators may choose the first tokens themselves: such a token has any text, and an id derived from that
 * text.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { asId, newId, type TokenId } from "../../domain/ids.ts";
import { type Labels, type AgentReach } from "../../domain/labels.ts";
import type { OwnedProject } from "../../domain/roles.ts";
import type { WithStores } from "../context.ts";
import type { Token, TokenKind, TokenWithUser } from "../../stores/ports/identity.ts";
import type { IdentityContext } from "./context.ts";
import { noteUse } from "./recent-uses.ts";

type TokensContext = Pick<IdentityContext, "clock"> & WithStores<"identity">;

export interface TokenRequest {
  readonly kind: TokenKind;
  /** Id of the user or agent that the token speaks for; for a registration token the user who made it. */
  readonly subject: string;
  /** For people; need not be unique. */
  readonly name: string;
  readonly scopes?: readonly string[];
  /** The only projects in which it counts; absent for all. */
  readonly projects?: readonly OwnedProject[];
  /** Milliseconds until it expires; absent for never. */
  readonly expiresInMs?: number;
  /** How many agents may register with it; absent for any number. */
  readonly maxUses?: number;
  /** The trusted labels of the agents that register with it; absent for none. */
  readonly labels?: Labels;
  /** The reach of the agents that register with it; absent for agents of the installation. */
  readonly reach?: AgentReach;
}

const ISSUED = /^mrt_(tok_[0-9A-Z]{26})_([0-9a-f]{64})$/;

/** A token that is not stored yet. */
export interface NewToken {
  readonly tokenId: TokenId;
  /** Cannot be read again once it is stored. */
  readonly text: string;
}

export function newToken(tokenId: TokenId = newId("tok")): NewToken {
  return { tokenId, text: `mrt_${tokenId}_${randomBytes(32).toString("hex")}` };
}

export function storeNewToken(context: TokensContext, { text }: NewToken, request: TokenRequest): Promise<void> {
  return storeToken(context, text, request);
}

/** Stores a new token and answers its text, which cannot be read again later. */
export async function issueToken(context: TokensContext, request: TokenRequest): Promise<string> {
  const made = newToken();
  await storeNewToken(context, made, request);
  return made.text;
}

/** Stores a token whose text the operator chose; a repeat changes nothing. */
export async function adoptToken(context: TokensContext, text: string, request: TokenRequest): Promise<void> {
  const { identity } = context.stores;
  const { tokenId } = parseToken(text);
  if ((await identity.findToken(tokenId)) !== undefined) return;
  try {
    await storeToken(context, text, request);
  } catch (error) {
    // Another node that starts at the same time may have stored the token first.
    if ((await identity.findToken(tokenId)) === undefined) throw error;
  }
}

/**
 * The stored token that `text` proves, with its user. Undefined for an unknown token, a wrong secret or an expired token.
 */
export async function findProvenToken(context: TokensContext, text: string): Promise<TokenWithUser | undefined> {
  const { tokenId, secretHash } = parseToken(text);
  const found = await context.stores.identity.findProof(tokenId);
  if (found === undefined || !timingSafeEqual(Buffer.from(found.token.secretHash, "hex"), secretHash)) return undefined;
  return isCurrent(context, found.token) ? found : undefined;
}

export function isCurrent({ clock }: Pick<TokensContext, "clock">, { expiresAt }: Pick<Token, "expiresAt">): boolean {
  return expiresAt === null || expiresAt > clock.now();
}

/** Notes that a token was used. The call does not wait for it. */
export function noteTokenUse({ stores, clock }: TokensContext, { tokenId, lastUsedAt }: Token): void {
  const at = clock.now();
  noteUse(stores.identity, { id: tokenId, lastUsedAt, at }, () => stores.identity.noteTokenUse(tokenId, at));
}

/** The id within a token's text; the id is not secret. */
export function tokenIdOf(text: string): TokenId {
  return parseToken(text).tokenId;
}

async function storeToken(context: TokensContext, text: string, request: TokenRequest): Promise<void> {
  const now = context.clock.now();
  const { tokenId, secretHash } = parseToken(text);
  await context.stores.identity.createToken({
    tokenId,
    kind: request.kind,
    secretHash: secretHash.toString("hex"),
    name: request.name,
    subject: request.subject,
    scopes: request.scopes ?? [],
    ...(request.projects === undefined ? {} : { projects: request.projects }),
    createdAt: now,
    expiresAt: request.expiresInMs === undefined ? null : now + request.expiresInMs,
    maxUses: request.maxUses ?? null,
    uses: 0,
    ...(request.labels === undefined ? {} : { labels: Object.entries(request.labels) }),
    ...(request.reach === undefined ? {} : { reach: request.reach }),
  });
}

function parseToken(text: string): { readonly tokenId: TokenId; readonly secretHash: Buffer } {
  const issued = ISSUED.exec(text);
  const secretHash = hash("sha256", issued?.[2] ?? text, "buffer");
  if (issued !== null) return { tokenId: asId<TokenId>(issued[1]!), secretHash };
  // The id is public, so it is hashed from another input than `secretHash`: it reveals nothing of the stored hash.
  const name = hash("sha256", `token id of ${text}`).slice(0, 26);
  return { tokenId: asId<TokenId>(`tok_${name}`), secretHash };
}

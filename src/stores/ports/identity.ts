/** Users, their tokens, and agents. Secrets are stored as hashes alone. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId, TokenId, UserId } from "../../domain/ids.ts";
import type { Labels } from "../../domain/labels.ts";
import type { Role } from "../../domain/roles.ts";

export interface User {
  readonly userId: UserId;
  /** Unique. */
  readonly name: string;
  readonly role: Role;
  /** argon2id hash, or empty when the user has no password. */
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly disabled: boolean;
}

export const TOKEN_KINDS = ["personal", "registration", "agent"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

export interface Token {
  readonly tokenId: TokenId;
  readonly kind: TokenKind;
  /** SHA-256 of the secret part, hex. Secrets are random, so a slow hash would protect nothing. */
  readonly secretHash: string;
  readonly name: string;
  /** The user or agent that it speaks for; for a registration token the user who made it. */
  readonly subject: string;
  /** For example `act-as`. */
  readonly scopes: readonly string[];
  readonly createdAt: number;
  /** Unix milliseconds, or null for never. */
  readonly expiresAt: number | null;
  /** How many agents a registration token may register; null for any number, and for other kinds. */
  readonly maxUses: number | null;
  /** How many it has registered. */
  readonly uses: number;
}

/** A token as it was stored, also by a version that did not count uses. */
export type StoredToken = Omit<Token, "maxUses" | "uses"> & Partial<Pick<Token, "maxUses" | "uses">>;

export function tokenOf(stored: StoredToken): Token {
  return { maxUses: null, uses: 0, ...stored };
}

export interface Agent {
  readonly agentId: AgentId;
  /** Unique. */
  readonly name: string;
  readonly labels: Labels;
  /** How many jobs it runs at a time. */
  readonly slots: number;
  readonly version: string;
  readonly createdAt: number;
}

export interface IdentityStore {
  createUser(user: User): Promise<"created" | "nameTaken">;
  findUser(userId: UserId): Promise<User | undefined>;
  findUserByName(name: string): Promise<User | undefined>;
  listUsers(): Promise<readonly User[]>;

  createToken(token: Token): Promise<void>;
  findToken(tokenId: TokenId): Promise<Token | undefined>;
  /** Tokens of one kind that speak for `subject`, oldest first. */
  listTokens(kind: TokenKind, subject: string): Promise<readonly Token[]>;
  /** Every token that lets agents register, in no certain order. */
  listRegistrationTokens(): Promise<readonly Token[]>;
  /** Counts one use, atomically; false, and nothing is counted, when the token has had its uses or is gone. */
  countUse(token: Pick<Token, "tokenId" | "maxUses">): Promise<boolean>;
  /** False when it was not there. */
  deleteToken(tokenId: TokenId): Promise<boolean>;
  /** Removes every token that expired before `before`, Unix milliseconds. */
  forgetExpired(before: number): Promise<void>;

  /** Inserts or replaces; rejects with `already_exists` when another agent has the name. */
  putAgent(agent: Agent): Promise<void>;
  findAgent(agentId: AgentId): Promise<Agent | undefined>;
  findAgentByName(name: string): Promise<Agent | undefined>;
  listAgents(): Promise<readonly Agent[]>;
  /** Removes the agent and its tokens; false when it was not there. */
  deleteAgent(agentId: AgentId): Promise<boolean>;
}

/** What `putAgent` rejects with when another agent has the name, as when two register under it at the same time. */
export function agentNameTaken(name: string): MillraceError {
  return new MillraceError(
    "already_exists",
    `another agent is named ${name}: register again to take it over, or choose another name`,
  );
}

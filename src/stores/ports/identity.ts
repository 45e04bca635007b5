/**
 * The port of users, tokens and agents. Passwords and tokens are stored as hashes only. Times are Unix milliseconds.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId, TokenId, UserId } from "../../domain/ids.ts";
import { type Labels, type AgentReach } from "../../domain/labels.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { Area, OwnedProject, Role, RoleInArea } from "../../domain/roles.ts";
import type { Expected } from "./expected.ts";

export interface User {
  readonly userId: UserId;
  /** Unique. */
  readonly name: string;
  /** The role in the whole installation; null for a user who has only what bindings give. */
  readonly role: Role | null;
  /** argon2id hash, or empty when the user has no password. */
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly disabled: boolean;
  /** Access tokens of earlier logins are refused; absent while none is. Unix milliseconds. */
  readonly loginsFrom?: number;
  /** Small letters; absent without one. It links the user to a provider's user who has verified the same address. */
  readonly email?: string;
  /** The tenant or project that owns a service account; absent for a person. */
  readonly ownedBy?: Area;
}

/**
 * A user as it is stored. Nodes of versions without bound rights would take a user without a role for an almighty one,
 * so they are shown a disabled viewer, whom they refuse.
 */
export type StoredUser = Omit<User, "role"> & {
  readonly role: Role;
  readonly withoutRole?: { readonly disabled: boolean };
};

export function storedUser({ role, ...user }: User): StoredUser {
  if (role !== null) return { ...user, role };
  return { ...user, role: "viewer", disabled: true, withoutRole: { disabled: user.disabled } };
}

export function userOf({ withoutRole, ...user }: StoredUser): User {
  return withoutRole === undefined ? user : { ...user, role: null, disabled: withoutRole.disabled };
}

/** A user, with every role that is bound to the user or to one of the user's teams; absent without one. */
export interface FoundUser extends User {
  readonly bindings?: readonly RoleInArea[];
}

/** New values of some fields of a user. */
export type UserChange = Partial<Pick<User, "name" | "role" | "passwordHash" | "disabled" | "loginsFrom" | "email">>;

/** True for a user who counts as an owner: without one, no user could manage the owners. */
export function isActiveOwner({ role, disabled }: Pick<User, "role" | "disabled">): boolean {
  return role === "owner" && !disabled;
}

export const TOKEN_KINDS = ["personal", "registration", "agent"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

export interface Token {
  readonly tokenId: TokenId;
  readonly kind: TokenKind;
  /**
   * SHA-256 of the secret part of the token, hexadecimal. The secret part is random, so a slow hash would add no
   * protection.
   */
  readonly secretHash: string;
  readonly name: string;
  /** The user or agent that the token authenticates; for a registration token, the user who created it. */
  readonly subject: string;
  /** For example `act-as`. */
  readonly scopes: readonly string[];
  /** The only projects in which a personal token counts; absent for all, and for the other kinds of token. */
  readonly projects?: readonly OwnedProject[];
  readonly createdAt: number;
  /** Null for a token that never expires. */
  readonly expiresAt: number | null;
  /** How many agents a registration token may register; null for any number, and for the other kinds of token. */
  readonly maxUses: number | null;
  /** How many agents the token has registered. */
  readonly uses: number;
  /** When a caller last used it, to a minute; absent for a token that no caller has used. Unix milliseconds. */
  readonly lastUsedAt?: number;
  /** The trusted labels of agents that register with it; absent for none, and for the other kinds of token. */
  readonly labels?: Pairs<string>;
  /** The reach of agents that register with it; absent for agents of the installation, and for the other kinds of token. */
  readonly reach?: AgentReach;
}

/**
 * A token as it is stored. Tokens of versions that do not count uses lack these two fields. Nodes of versions without
 * narrowed tokens would take a narrowed one for one of all projects, so the hash that they compare is that of no secret.
 */
export type StoredToken = Omit<Token, "maxUses" | "uses" | "projects"> &
  Partial<Pick<Token, "maxUses" | "uses">> & {
    readonly narrowed?: Required<Pick<Token, "secretHash" | "projects">>;
  };

const HASH_OF_NO_SECRET = "0".repeat(64);

export function storedToken({ projects, ...token }: Token): StoredToken {
  if (projects === undefined) return token;
  return { ...token, secretHash: HASH_OF_NO_SECRET, narrowed: { secretHash: token.secretHash, projects } };
}

/** Adds the fields that a token of an older version lacks. */
export function tokenOf({ narrowed, ...stored }: StoredToken): Token {
  return { maxUses: null, uses: 0, ...stored, ...narrowed };
}

/** Who has given an agent its trusted labels, and when (Unix milliseconds). */
export interface LabelledBy {
  readonly kind: "user" | "registrationToken";
  /** Of the user or token. */
  readonly name: string;
  readonly at: number;
}

export interface Drain {
  /** Name of the user who drained the agent. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** For people; empty without one. */
  readonly reason: string;
}

export interface Agent {
  readonly agentId: AgentId;
  /** Unique. */
  readonly name: string;
  /** The labels that the agent tells. */
  readonly labels: Labels;
  /**
   * The labels that an operator has given; absent without one. They count before the told ones of the same keys. Only
   * {@link IdentityStore.changeAgent} changes them.
   */
  readonly trustedLabels?: Labels;
  /** Who has given them last; absent without one, and where a node of an older release has stored them. */
  readonly labelledBy?: LabelledBy | null;
  /** Which jobs the agent may get; absent or null for those of every project. Only {@link IdentityStore.changeAgent} changes it. */
  readonly reach?: AgentReach | null;
  /** Set while the agent takes no new job, because an operator says so. Only {@link IdentityStore.changeAgent} changes it. */
  readonly drain?: Drain | null;
  /** How many jobs the agent runs at the same time. */
  readonly slots: number;
  readonly version: string;
  readonly createdAt: number;
  /** The agent's newest process, as it has greeted last; absent for an agent that has greeted no node of this release. */
  readonly bootId?: string;
}

/** True while an operator lets the agent take no new job. */
export function isDrained({ drain }: Pick<Agent, "drain">): boolean {
  return drain !== undefined && drain !== null;
}

/** What operators say of an agent; the agent's own reports change none of it. */
const OPERATOR_FIELDS = ["trustedLabels", "labelledBy", "drain", "reach"] as const;
export type OperatorFields = Pick<Agent, (typeof OPERATOR_FIELDS)[number]>;

/** An agent in two parts: what the agent says, and what operators say of it. */
export function partsOfAgent(agent: Agent): readonly [told: Agent, given: OperatorFields] {
  const isGiven = ([field]: [string, unknown]) => (OPERATOR_FIELDS as readonly string[]).includes(field);
  const fields = Object.entries(agent);
  const told = Object.fromEntries(fields.filter((field) => !isGiven(field))) as unknown as Agent;
  return [told, Object.fromEntries(fields.filter(isGiven))];
}

export interface TokenWithUser {
  readonly token: Token;
  /** Absent for a token of another kind, and for a user who was deleted. */
  readonly user: FoundUser | undefined;
}

export interface IdentityStore {
  /** `nameTaken` when another user has the name. A repeat of the id answers `created` and changes nothing. */
  createUser(user: User): Promise<"created" | "nameTaken">;
  /** The user with the bound roles: one read where the engine can, since every call makes it. */
  findUser(userId: UserId): Promise<FoundUser | undefined>;
  findUserByName(name: string): Promise<User | undefined>;
  listUsers(): Promise<readonly User[]>;
  /** The service accounts of a tenant or project, oldest first. */
  listOwnedBy(area: Area): Promise<readonly User[]>;
  /**
   * Replaces the fields that are given. `lastOwner` when no active owner would be left; of concurrent calls that take the
   * last two owners away, one gets this answer. `moved`, and nothing changes, when the user is not as `expected`.
   */
  changeUser(
    userId: UserId,
    change: UserChange,
    expected?: Expected<User>,
  ): Promise<"changed" | "missing" | "nameTaken" | "lastOwner" | "moved">;
  /**
   * Removes a user with personal tokens, sessions, vouchers, linked identities, memberships and bindings. `lastOwner` as for
   * {@link changeUser}.
   */
  deleteUser(userId: UserId): Promise<"deleted" | "missing" | "lastOwner">;

  /** Stores a new token. A repeat of the id changes nothing. */
  createToken(token: Token): Promise<void>;
  findToken(tokenId: TokenId): Promise<Token | undefined>;
  /** A token, with the user of a personal one as {@link findUser}: one read where the engine can, since every call makes it. */
  findProof(tokenId: TokenId): Promise<TokenWithUser | undefined>;
  /** The tokens of one kind whose subject is `subject`, oldest first. */
  listTokens(kind: TokenKind, subject: string): Promise<readonly Token[]>;
  /** All registration tokens, in no particular order. */
  listRegistrationTokens(): Promise<readonly Token[]>;
  /** Counts one use, atomically. False, and nothing is counted, when the token has reached `maxUses` or is missing. */
  countUse(token: Pick<Token, "tokenId" | "maxUses">): Promise<boolean>;
  /** Notes a use, unless a later one is noted already. Changes nothing when the token is missing. */
  noteTokenUse(tokenId: TokenId, at: number): Promise<void>;
  /** False when the token was missing. */
  deleteToken(tokenId: TokenId): Promise<boolean>;
  /** Removes all tokens that expired before `before`, Unix milliseconds. */
  forgetExpired(before: number): Promise<void>;

  /**
   * Stores a new agent, or replaces what a known one says; what operators say of a known one stays. Rejects with
   * `already_exists` when another agent has the name.
   */
  putAgent(agent: Agent): Promise<void>;
  /**
   * Replaces what operators say of an agent, as far as it is given. False, and nothing changes, when the agent is missing,
   * or has other trusted labels or another reach than `expected`.
   */
  changeAgent(
    agentId: AgentId,
    change: OperatorFields,
    expected?: Expected<Pick<Agent, "trustedLabels" | "reach">>,
  ): Promise<boolean>;
  findAgent(agentId: AgentId): Promise<Agent | undefined>;
  findAgentByName(name: string): Promise<Agent | undefined>;
  listAgents(): Promise<readonly Agent[]>;
  /** Removes the agent and its tokens. False when the agent was missing. */
  deleteAgent(agentId: AgentId): Promise<boolean>;
}

/**
 * The error of `putAgent` when another agent has the name, for example because two agents register under it at the same
 * time.
 */
export function agentNameTaken(name: string): MillraceError {
  return new MillraceError(
    "already_exists",
    `another agent is named ${name}: register again to take it over, or choose another name`,
  );
}

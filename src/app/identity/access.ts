/** The one place where callers are authenticated and authorised, for HTTP, WebSocket and gRPC. */
import { MillraceError } from "../../domain/errors.ts";
import { asId, type AgentId, type SessionId, type TokenId, type UserId } from "../../domain/ids.ts";
import type { Token, User } from "../../stores/ports/identity.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../../domain/names.ts";
import { type Role, ROLES } from "../../domain/roles.ts";
import { OPEN_AFTER_EXPIRY_SECONDS, verifyAccessToken } from "./access-tokens.ts";
import { type Vote, type VotingRule, whyNotVote } from "./voting-rights.ts";
import type { IdentityContext } from "./context.ts";
import { isLive, noteBrowserUse, type Standing, withSession } from "./session-proof.ts";
import { readBrowserSecret } from "./session-secrets.ts";
import { findProvenToken, isCurrent, noteTokenUse } from "./tokens.ts";

/** An authenticated caller. Callers with an agent or registration token may only call the agent operations of gRPC. */
export type Caller = UserCaller | AgentCaller | RegistrationCaller;

export interface UserCaller {
  readonly kind: "user";
  readonly userId: UserId;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  /** What the caller's proof stands on. */
  readonly standing?: Standing;
}

export interface AgentCaller {
  readonly kind: "agent";
  readonly agentId: AgentId;
  readonly tokenId: TokenId;
}

export interface RegistrationCaller {
  readonly kind: "registration";
  readonly tokenId: TokenId;
}

/** The scope that lets a caller name another user in `createdBy`, `editor`, `triggeredBy` and `operator`. */
export const ACT_AS = "act-as";
/**
 * What a token may be narrowed to, the widest first; each contains the ones behind it. A token without one of these is
 * as powerful as its user's role.
 */
export const WIDTHS = ["admin", "write", "trigger", "read"] as const;
export type Width = (typeof WIDTHS)[number];
export const SCOPES = [ACT_AS, ...WIDTHS] as const;

/** Operations of users, each with the lowest role that may call it. */
const USER_OPERATIONS = {
  readPipelines: "viewer",
  validateDefinition: "viewer",
  readRuns: "viewer",
  readLogs: "viewer",
  readArtifacts: "viewer",
  readCaches: "viewer",
  readEvents: "viewer",
  readApprovals: "viewer",
  readPlugins: "viewer",
  readAgents: "viewer",
  readProjects: "viewer",
  manageOwnTokens: "viewer",
  readOwnAccount: "viewer",
  /** The caller's own password and logins. */
  manageOwnAccount: "viewer",
  /** Each approval bounds further who may decide it: {@link authoriseVote}. */
  decideApprovals: "viewer",
  triggerRun: "operator",
  controlRun: "operator",
  /** An ad-hoc step runs what no definition says, so it needs the role that saves definitions. */
  runAdHocSteps: "maintainer",
  deleteArtifacts: "maintainer",
  deleteCaches: "maintainer",
  writePipelines: "maintainer",
  writeDefinitions: "maintainer",
  manageSecrets: "maintainer",
  managePlugins: "admin",
  manageUsers: "admin",
  manageOthersTokens: "admin",
  manageAgents: "admin",
  manageProjects: "admin",
  readCluster: "admin",
  readRetention: "admin",
  writeRetention: "admin",
  readLogLimit: "admin",
  writeLogLimit: "admin",
  readTrustDemand: "admin",
  writeTrustDemand: "admin",
  redriveDeadLetters: "admin",
} as const satisfies Record<string, Role>;

/** The scope that a narrowed token needs, where it does not follow from the operation's role. */
const OTHER_WIDTHS: Partial<Record<UserOperation, Width>> = {
  validateDefinition: "read",
  decideApprovals: "trigger",
  readCluster: "read",
  readRetention: "read",
  readLogLimit: "read",
  readTrustDemand: "read",
  // A narrowed token that could make tokens could make wider ones.
  manageOwnTokens: "admin",
  manageOwnAccount: "admin",
  manageSecrets: "admin",
};
const WIDTH_OF_ROLE: Readonly<Record<Role, Width>> = {
  viewer: "read",
  operator: "trigger",
  maintainer: "write",
  admin: "admin",
  owner: "admin",
};

/** Operations of agents, each with the kind of token that may call it. */
const AGENT_OPERATIONS = { registerAgent: "registration", workAsAgent: "agent" } as const;

export type UserOperation = keyof typeof USER_OPERATIONS;
export const OPERATIONS = Object.keys(USER_OPERATIONS) as readonly UserOperation[];
export type AgentOperation = keyof typeof AGENT_OPERATIONS;

/**
 * The caller that a bearer token proves; the token is an access token or an opaque token. Throws `unauthenticated` for
 * a token that is unknown, wrong, expired or revoked, or whose user is disabled or deleted. Roles and tokens are read
 * on each call, so a change counts from the next call on.
 */
export function authenticate(context: IdentityContext, bearer: string): Promise<Caller> {
  return prove(context, bearer, 0);
}

/**
 * {@link authenticate} for a call that began with this token and is still open. An access token is good for starting
 * calls only for minutes, so that a stolen one is of little use; here it stays good for {@link OPEN_AFTER_EXPIRY_SECONDS},
 * so that a person can watch a long run.
 */
export function reauthenticate(context: IdentityContext, bearer: string): Promise<Caller> {
  const sessionId = readBrowserSecret(context, bearer);
  if (sessionId !== undefined) return proveBrowser(context, sessionId);
  return prove(context, bearer, OPEN_AFTER_EXPIRY_SECONDS);
}

/** {@link authenticate} for the value of a browser's cookie, which is no bearer. */
export async function authenticateCookie(context: IdentityContext, value: string): Promise<UserCaller> {
  const sessionId = readBrowserSecret(context, value);
  if (sessionId === undefined) throw new MillraceError("unauthenticated", "the cookie is wrong: log in again");
  return proveBrowser(context, sessionId, noteBrowserUse);
}

async function prove(context: IdentityContext, bearer: string, lateSeconds: number): Promise<Caller> {
  if (bearer === "")
    throw new MillraceError("unauthenticated", "no token: send the header `Authorization: Bearer <token>`");
  // Three parts with dots are a JWT. A token that an operator chose may look the same, so it is looked up below.
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(bearer)) {
    const verified = await verifyAccessToken(context, bearer, lateSeconds);
    if ("userId" in verified) return loadLogin(context, verified, lateSeconds * 1_000);
    if (verified.refused === "expired") {
      throw new MillraceError("unauthenticated", "the access token has expired: log in again");
    }
  }
  const token = await findProvenToken(context, bearer);
  if (token === undefined) {
    throw new MillraceError(
      "unauthenticated",
      "the token is unknown, wrong or expired: ask an administrator for a new one",
    );
  }
  if (token.kind === "personal") noteTokenUse(context, token);
  return callerOf(context, token);
}

/** Throws `forbidden`, which names the missing role or kind of token, unless the caller may call the operation. */
export function authorise(caller: Caller, operation: UserOperation | AgentOperation): void {
  if (!(operation in AGENT_OPERATIONS)) {
    authoriseUser(caller, operation as UserOperation);
    return;
  }
  const needed = AGENT_OPERATIONS[operation as AgentOperation];
  if (caller.kind !== needed) {
    throw new MillraceError("forbidden", `this operation is for ${needed} tokens; this is a ${caller.kind} token`);
  }
}

/** {@link authorise} for an operation of users. Answers the caller as a user. */
export function authoriseUser(caller: Caller, operation: UserOperation): UserCaller {
  const needed = USER_OPERATIONS[operation];
  if (caller.kind !== "user") {
    throw new MillraceError("forbidden", `this operation is for users; this is a ${caller.kind} token`);
  }
  if (!roleReaches(caller.role, needed)) {
    throw new MillraceError(
      "forbidden",
      `this operation needs the role ${needed}; ${caller.name} has the role ${caller.role}`,
    );
  }
  const width = widthOf(operation);
  if (!isWideEnough(caller.scopes, width)) {
    throw new MillraceError("forbidden", `this operation needs a token with the scope ${width} or a wider one`);
  }
  return caller;
}

/** The operations that a caller with this role and these scopes may call, in the order of the table. */
export function operationsOf({ role, scopes }: Pick<UserCaller, "role" | "scopes">): readonly UserOperation[] {
  return OPERATIONS.filter((one) => roleReaches(role, USER_OPERATIONS[one]) && isWideEnough(scopes, widthOf(one)));
}

/** The narrowest scope with which a token may call the operation. */
export function widthOf(operation: UserOperation): Width {
  return OTHER_WIDTHS[operation] ?? WIDTH_OF_ROLE[USER_OPERATIONS[operation]];
}

/** True when a token with `scopes` may do what needs `width`: without a width among them it may do everything. */
function isWideEnough(scopes: readonly string[], width: Width): boolean {
  const found = WIDTHS.findIndex((one) => scopes.includes(one));
  return found <= WIDTHS.indexOf(width);
}

/** Throws `forbidden`, which names who may vote, unless the approval lets the user vote this way. */
export function authoriseVote(user: UserCaller, vote: Vote, rule: VotingRule): void {
  const refusal = whyNotVote(user, vote, rule);
  if (refusal !== null) throw new MillraceError("forbidden", refusal);
}

/** True when `role` has every right that `needed` has. */
export function roleReaches(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/**
 * The name that an operation is recorded under: the caller's name when `claimed` is empty or absent; `claimed` when it
 * is the caller's id or name, or the caller has the scope `act-as`. Else throws `forbidden`, and `malformed_request` for
 * what no name can hold; `field` is the field of
 * the request that the error names.
 */
export function claimedIdentity(caller: UserCaller, claimed: string | undefined, field: string): string {
  if (claimed === undefined || claimed === "") return caller.name;
  if (!PLAIN_TEXT.test(claimed)) {
    throw new MillraceError("malformed_request", `/${field} ${PLAIN_TEXT_RULE}`, {
      problems: [{ code: "invalid_format", pointer: `/${field}`, message: PLAIN_TEXT_RULE }],
    });
  }
  if (claimed === caller.name || claimed === caller.userId || caller.scopes.includes(ACT_AS)) return claimed;
  throw new MillraceError(
    "forbidden",
    `${field} names another user than the caller ${caller.name}: leave it out, or use a token with the scope ${ACT_AS}`,
  );
}

async function callerOf(context: IdentityContext, token: Token): Promise<Caller> {
  switch (token.kind) {
    case "personal":
      return loadUser(context, asId<UserId>(token.subject), token.scopes, { token: token.tokenId });
    case "registration":
      return { kind: "registration", tokenId: token.tokenId };
    case "agent":
      return { kind: "agent", agentId: asId<AgentId>(token.subject), tokenId: token.tokenId };
  }
}

/** The caller of an access token. The session or token that it stands on must still stand. */
async function loadLogin(
  context: IdentityContext,
  { userId, standing }: { readonly userId: UserId; readonly standing: Standing },
  lateMs: number,
): Promise<Caller> {
  if ("session" in standing) {
    const { user } = await withSession(context, standing.session, lateMs, requireActive(context, userId));
    return userCaller(user, [], standing);
  }
  if ("loggedInAt" in standing) return loadUser(context, userId, [], standing);
  const token = await context.stores.identity.findToken(standing.token);
  if (token?.subject !== userId || !isCurrent(context, token)) {
    throw new MillraceError("unauthenticated", "the token behind the ticket was deleted or has expired");
  }
  return callerOf(context, token);
}

async function proveBrowser(
  context: IdentityContext,
  sessionId: SessionId,
  note?: typeof noteBrowserUse,
): Promise<UserCaller> {
  const session = await context.stores.logins.findSession(sessionId);
  if (session?.kind !== "browser") throw new MillraceError("unauthenticated", "the session has ended: log in again");
  const user = await requireActive(context, session.userId);
  if (!isLive(session, user, context.clock.now())) throw endedLogin();
  note?.(context, session);
  return userCaller(user, [], { session: sessionId });
}

async function loadUser(
  context: IdentityContext,
  userId: UserId,
  scopes: readonly string[],
  standing: Standing,
): Promise<UserCaller> {
  const user = await requireActive(context, userId);
  if ("loggedInAt" in standing && standing.loggedInAt < (user.loginsFrom ?? 0)) throw endedLogin();
  return userCaller(user, scopes, standing);
}

function endedLogin(): MillraceError {
  return new MillraceError("unauthenticated", "the login was ended: log in again");
}

async function requireActive(context: IdentityContext, userId: UserId): Promise<User> {
  const user = await context.stores.identity.findUser(userId);
  if (user === undefined || user.disabled) {
    throw new MillraceError("unauthenticated", "the token's user is disabled or gone: ask an administrator");
  }
  return user;
}

function userCaller({ userId, name, role }: User, scopes: readonly string[], standing: Standing): UserCaller {
  return { kind: "user", userId, name, role, scopes, standing };
}

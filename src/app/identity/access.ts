/** The one place where callers are authenticated and authorised, for HTTP, WebSocket and gRPC. */
import { MillraceError } from "../../domain/errors.ts";
import { asId, type AgentId, type SessionId, type UserId } from "../../domain/ids.ts";
import type { FoundUser, Token } from "../../stores/ports/identity.ts";
import type { LoginSession } from "../../stores/ports/logins.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../../domain/names.ts";
import {
  highestOf,
  highestRole,
  NO_RIGHTS,
  rightsFrom,
  rightsWithin,
  type Role,
  roleReaches,
} from "../../domain/roles.ts";
import { ACT_AS, isWideEnough, type OperationOf, USER_OPERATIONS, type UserOperation, widthOf } from "./operations.ts";
import { OPEN_AFTER_EXPIRY_SECONDS, verifyAccessToken } from "./access-tokens.ts";
import type { ActingUser, Caller, JobCaller, UserCaller } from "./callers.ts";
import { jobCaller } from "./job-tokens.ts";
import { type Vote, type VotingRule, whyNotVote } from "./voting-rights.ts";
import type { IdentityContext } from "./context.ts";
import { isLive, noteBrowserUse, type Standing, withSession } from "./session-proof.ts";
import { readBrowserSecret } from "./session-secrets.ts";
import { findProvenToken, isCurrent, noteTokenUse } from "./tokens.ts";

export type { ActingUser, AgentCaller, Caller, JobCaller, RegistrationCaller, UserCaller } from "./callers.ts";
export { ACT_AS, OPERATIONS, operationsOf, SCOPES, type UserOperation, type Width } from "./operations.ts";

/** Operations of agents, each with the kind of token that may call it. */
const AGENT_OPERATIONS = { registerAgent: "registration", workAsAgent: "agent" } as const;

export type AgentOperation = keyof typeof AGENT_OPERATIONS;

/**
 * The caller that a bearer token proves; the token is an access token or an opaque token. Throws `unauthenticated` for
 * a token that is unknown, wrong, expired or revoked, or whose user is disabled or deleted. Roles, bound rights and tokens are read
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
    const ofJob = await jobCaller(context, bearer);
    if (ofJob !== undefined) return ofJob;
    const workload = await context.workloads?.prove(bearer);
    if (workload !== undefined) return { kind: "registration", proof: { workload } };
  }
  const proven = await findProvenToken(context, bearer);
  if (proven === undefined) {
    throw new MillraceError(
      "unauthenticated",
      "the token is unknown, wrong or expired: ask an administrator for a new one",
    );
  }
  const { token, user } = proven;
  if (token.kind !== "personal") return callerOf(context, token);
  noteTokenUse(context, token);
  return userCaller(active(user), token, { token: token.tokenId });
}

/**
 * A user as a caller without a proof, with all of the user's rights: for what is told to users while they are away. Undefined for
 * a user who is disabled.
 */
export function absentUser({ userId, name, role, disabled, bindings = [] }: FoundUser): UserCaller | undefined {
  if (disabled) return undefined;
  return { kind: "user", userId, name, role, rights: rightsFrom(bindings), scopes: [] };
}

/** Throws `forbidden`, which names the missing role or kind of token, unless the caller may call the operation. */
export function authorise(caller: Caller, operation: UserOperation | AgentOperation): void {
  if (!(operation in AGENT_OPERATIONS)) {
    authoriseBy(caller, operation as UserOperation);
    return;
  }
  const needed = AGENT_OPERATIONS[operation as AgentOperation];
  if (caller.kind !== needed) {
    throw new MillraceError("forbidden", `this operation is for ${needed} tokens; this is a ${caller.kind} token`);
  }
}

/** The job that asks for an identity token. Throws `forbidden` for every other caller. */
export function authoriseJob(caller: Caller): JobCaller {
  if (caller.kind === "job") return caller;
  throw new MillraceError(
    "forbidden",
    "only a running job may ask for identity tokens, with the request token in MILLRACE_ID_TOKEN_REQUEST_TOKEN",
  );
}

/**
 * {@link authorise} for an operation of users on what no project and no tenant owns: the caller's own account, the
 * installation, and what everybody with a role anywhere may see. Answers the caller as a user.
 */
export function authoriseUser(caller: Caller, operation: OperationOf<"own" | "anywhere" | "installation">): UserCaller {
  return authoriseBy(caller, operation);
}

function authoriseBy(caller: Caller, operation: UserOperation): UserCaller {
  const user = requireUser(caller);
  const { reach } = USER_OPERATIONS[operation];
  refuseJob(user, operation);
  refuseNarrowed(user, operation);
  if (reach !== "own") requireRoleFor(user, operation, reach === "anywhere" ? bestRole(user) : user.role);
  requireWidth(user, operation);
  return user;
}

/**
 * The first half of the authorisation on an object that a project or a tenant owns, before the object is looked up. Throws
 * `forbidden` for what the caller may do nowhere. A caller without a role in the installation is told nothing here: what
 * such a caller may not see is answered as missing, in the second half, {@link authoriseAs}.
 */
export function authoriseLookUp(caller: Caller, operation: UserOperation): UserCaller {
  const user = requireUser(caller);
  refuseJob(user, operation);
  if (user.role === null) return user;
  requireRoleFor(user, operation, bestRole(user));
  requireWidth(user, operation);
  return user;
}

/** True when the role in the installation alone lets the user call the operation on every object. */
export function mayEverywhere(user: UserCaller, operation: UserOperation): boolean {
  return roleReaches(user.role, USER_OPERATIONS[operation].role);
}

/**
 * The second half: `role` is the highest role that the user has where the object is. Throws `missing` without a role, and
 * `forbidden` for a role that is too low.
 */
export function authoriseAs(
  user: UserCaller,
  operation: UserOperation,
  role: Role | null,
  missing: () => MillraceError,
): ActingUser {
  if (role === null) throw missing();
  requireRoleFor(user, operation, role);
  requireWidth(user, operation);
  return { ...user, role };
}

/** Whether a user who may call one operation on an object may call this one on it, too. */
export function mayAlso({ role, scopes }: ActingUser, operation: OperationOf<"project">): boolean {
  return roleReaches(role, USER_OPERATIONS[operation].role) && isWideEnough(scopes, widthOf(operation));
}

function requireUser(caller: Caller): UserCaller {
  if (caller.kind === "user") return caller;
  throw new MillraceError("forbidden", `this operation is for users; this is a ${caller.kind} token`);
}

/** A job works in its project, and nowhere else. An approval is the decision of a person. */
function refuseJob({ isJob = false }: UserCaller, operation: UserOperation): void {
  if (!isJob || (USER_OPERATIONS[operation].reach === "project" && operation !== "decideApprovals")) return;
  throw new MillraceError("forbidden", "the token of a job works in the project of the job only, and approves nothing");
}

/** A token that counts in some projects alone could else make one that counts everywhere. */
export function isRefusedToNarrowed({ isNarrowed = false }: UserCaller, operation: UserOperation): boolean {
  const { reach, width } = USER_OPERATIONS[operation];
  return isNarrowed && reach === "own" && width !== "read";
}

function refuseNarrowed(user: UserCaller, operation: UserOperation): void {
  if (!isRefusedToNarrowed(user, operation)) return;
  throw new MillraceError("forbidden", "a token that is narrowed to projects changes nothing of its user's account");
}

function bestRole({ role, rights = NO_RIGHTS }: UserCaller): Role | null {
  return highestRole(role, highestOf(rights));
}

function requireRoleFor({ name }: UserCaller, operation: UserOperation, role: Role | null): void {
  const needed = USER_OPERATIONS[operation].role;
  if (roleReaches(role, needed)) return;
  const has = role === null ? "has no role here" : `has the role ${role}`;
  throw new MillraceError("forbidden", `this operation needs the role ${needed}; ${name} ${has}`);
}

function requireWidth({ scopes }: UserCaller, operation: UserOperation): void {
  const width = widthOf(operation);
  if (isWideEnough(scopes, width)) return;
  throw new MillraceError("forbidden", `this operation needs a token with the scope ${width} or a wider one`);
}

/** Throws `forbidden`, which names who may vote, unless the approval lets the user vote this way. */
export function authoriseVote(user: ActingUser, vote: Vote, rule: VotingRule): void {
  const refusal = whyNotVote(user, vote, rule);
  if (refusal !== null) throw new MillraceError("forbidden", refusal);
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
  if (claimed === caller.name || claimed === caller.userId) return claimed;
  if (caller.scopes.includes(ACT_AS)) {
    caller.trail?.actsFor(claimed);
    return claimed;
  }
  throw new MillraceError(
    "forbidden",
    `${field} names another user than the caller ${caller.name}: leave it out, or use a token with the scope ${ACT_AS}`,
  );
}

async function callerOf(context: IdentityContext, token: Token): Promise<Caller> {
  switch (token.kind) {
    case "personal":
      return loadUser(context, asId<UserId>(token.subject), token, { token: token.tokenId });
    case "registration":
      return { kind: "registration", proof: { tokenId: token.tokenId } };
    case "agent":
      return { kind: "agent", agentId: asId<AgentId>(token.subject), tokenId: token.tokenId };
  }
}

/** What a token lets its user do at most. */
type TokenBounds = Pick<Token, "scopes" | "projects">;

const UNBOUND: TokenBounds = { scopes: [] };

/** The caller of an access token. The session or token that it stands on must still stand. */
async function loadLogin(
  context: IdentityContext,
  { userId, standing }: { readonly userId: UserId; readonly standing: Standing },
  lateMs: number,
): Promise<Caller> {
  if ("session" in standing) {
    const { user, session } = await withSession(context, standing.session, lateMs, requireActive(context, userId));
    return sessionCaller(context, session, user);
  }
  if ("loggedInAt" in standing) return loadUser(context, userId, UNBOUND, standing);
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
  return sessionCaller(context, session, user);
}

/** The caller of a session: its user, within the bounds of the token for which a browser was given the session. */
async function sessionCaller(
  context: IdentityContext,
  { sessionId, token: behind }: LoginSession,
  user: FoundUser,
): Promise<UserCaller> {
  if (behind === undefined) return userCaller(user, UNBOUND, { session: sessionId });
  const token = await context.stores.identity.findToken(behind.tokenId);
  if (token?.subject !== user.userId || !isCurrent(context, token)) {
    throw new MillraceError("unauthenticated", "the token of this session was deleted or has expired: log in again");
  }
  return userCaller(user, token, { session: sessionId, behind: behind.tokenId });
}

async function loadUser(
  context: IdentityContext,
  userId: UserId,
  bounds: TokenBounds,
  standing: Standing,
): Promise<UserCaller> {
  const user = await requireActive(context, userId);
  if ("loggedInAt" in standing && standing.loggedInAt < (user.loginsFrom ?? 0)) throw endedLogin();
  return userCaller(user, bounds, standing);
}

function endedLogin(): MillraceError {
  return new MillraceError("unauthenticated", "the login was ended: log in again");
}

async function requireActive(context: IdentityContext, userId: UserId): Promise<FoundUser> {
  return active(await context.stores.identity.findUser(userId));
}

/** Throws `unauthenticated` for a user who may not log in. */
export function active(user: FoundUser | undefined): FoundUser {
  if (user === undefined || user.disabled) {
    throw new MillraceError("unauthenticated", "the token's user is disabled or gone: ask an administrator");
  }
  return user;
}

function userCaller(
  { userId, name, role, bindings = [] }: FoundUser,
  { scopes, projects }: TokenBounds,
  standing: Standing,
): UserCaller {
  const rights = rightsFrom(bindings);
  if (projects !== undefined) {
    const within = rightsWithin(projects, role, rights);
    return { kind: "user", userId, name, role: null, rights: within, scopes, isNarrowed: true, standing };
  }
  return { kind: "user", userId, name, role, ...(rights === NO_RIGHTS ? {} : { rights }), scopes, standing };
}

/** Personal tokens: users make them for themselves, and administrators make them for other users. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { parseDuration } from "../../domain/durations.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type OwnedProject, roleReaches } from "../../domain/roles.ts";
import { asId, newId, type ProjectId, type TokenId, type UserId } from "../../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../../domain/names.ts";
import type { Token, User } from "../../stores/ports/identity.ts";
import type { WithStores } from "../context.ts";
import { ACT_AS, type Caller, SCOPES, type UserCaller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { id, listOf, shape, time } from "../shapes.ts";
import { noProject } from "../lookups.ts";
import { projectFactsOf } from "../project-facts.ts";
import { actingIn, type RightsContext } from "../reaching.ts";
import { createShownOnce, type WithRequestId } from "../request-ids.ts";
import { rfc3339 } from "../times.ts";
import { newToken, storeNewToken } from "./tokens.ts";
import { reachUser } from "./reaching-users.ts";

const TOKENS = { own: "manageOwnTokens", others: "manageOthersTokens" } as const;

/** How long a token is valid, written as `12h` and parsed to milliseconds. */
export const lifetime = z.string().transform((text, check): number => {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0) {
    check.addIssue("must be a duration such as 12h or 90d");
    return z.NEVER;
  }
  return ms;
});
export const tokenName = z.string().min(1, "must not be empty").max(200).regex(PLAIN_TEXT, PLAIN_TEXT_RULE);

export const createTokenBody = z.strictObject({
  name: tokenName,
  scopes: z.array(z.enum(SCOPES)).default([]),
  /** The ids of the only projects in which the token counts; absent for all. */
  projects: z.array(z.string().min(1).max(64)).min(1).max(50).optional(),
  /** Absent for a token that never expires. */
  expiresIn: lifetime.optional(),
});

export const TokenShape = shape("Token", () => ({
  tokenId: id<TokenId>(),
  name: z.string(),
  scopes: listOf(z.string()),
  /** Absent for a token that counts in all projects. */
  projects: listOf(id<ProjectId>()).exactOptional(),
  createdAt: time,
  expiresAt: time.nullable(),
  /** To a minute; null for a token that was never used. */
  lastUsedAt: time.nullable(),
}));

/** The answer that shows `token`; no later answer does. */
export const NewTokenShape = shape("NewToken", () => ({
  tokenId: id<TokenId>(),
  token: z.string(),
  name: z.string(),
  scopes: listOf(z.string()),
  /** Absent for a token that counts in all projects. */
  projects: listOf(id<ProjectId>()).exactOptional(),
}));

type TokenView = z.infer<typeof TokenShape>;
export type NewTokenView = z.infer<typeof NewTokenShape>;

export type TokenList = WholeListView<TokenView>;

/**
 * Throws `forbidden` when the caller is no administrator and asks for the scope `act-as` or for a token of another
 * user, and when the role of that user is above the caller's own. Throws `not_found` for an unknown user.
 */
export async function createPersonalToken(
  context: IdentityContext & RightsContext,
  caller: Caller,
  input: z.output<typeof createTokenBody> & WithRequestId & { readonly userId: string },
): Promise<NewTokenView> {
  const { user, caller: maker } = await reachUser(context, caller, input.userId, TOKENS);
  if (input.scopes.includes(ACT_AS) && !roleReaches(maker.role, "admin")) {
    throw new MillraceError("forbidden", `only administrators make tokens with the scope ${ACT_AS}`);
  }
  return issuePersonalToken(context, maker, user, input);
}

/**
 * Makes a token for a caller who was authorised already. Throws `malformed_request` for a project that the caller may not
 * see.
 */
export async function issuePersonalToken(
  context: RightsContext & Pick<IdentityContext, "clock"> & WithStores<"identity" | "idempotency">,
  maker: UserCaller,
  subject: Pick<User, "userId" | "name">,
  { name, scopes, projects, expiresIn, requestId }: z.output<typeof createTokenBody> & WithRequestId,
): Promise<NewTokenView> {
  const wanted = {
    name,
    scopes,
    ...(projects !== undefined && { projects: [...new Set(projects)] }),
    ...(expiresIn !== undefined && { expiresIn }),
  };
  const owned = wanted.projects && (await ownedProjects(context, maker, wanted.projects));
  return createShownOnce(context, {
    caller: maker,
    scope: `createToken/${subject.userId}`,
    requestId,
    body: wanted,
    freshId: () => newId("tok"),
    pointer: "/tokenId",
    remedy: "delete the token, and make another one with a new key",
    exists: async (tokenId) => (await context.stores.identity.findToken(tokenId)) !== undefined,
    create: (tokenId) => makePersonalToken(context, maker, subject, { ...wanted, tokenId, owned }),
  });
}

async function ownedProjects(
  context: RightsContext,
  maker: UserCaller,
  projects: readonly string[],
): Promise<readonly OwnedProject[]> {
  return Promise.all(
    projects.map(async (text, at) => {
      const projectId = asId<ProjectId>(text);
      const missing = (): MillraceError => {
        const [pointer, message] = [`/projects/${at}`, noProject(projectId).message];
        return new MillraceError("malformed_request", `${pointer}: ${message}`, {
          problems: [{ code: "unknown", pointer, message }],
        });
      };
      const { tenantId } = await projectFactsOf(context, projectId);
      if (tenantId === null || (await actingIn(context, maker, projectId)) === undefined) throw missing();
      return { projectId, tenantId };
    }),
  );
}

async function makePersonalToken(
  context: Pick<IdentityContext, "clock"> & WithStores<"identity">,
  maker: UserCaller,
  { userId: subject, name: subjectName }: Pick<User, "userId" | "name">,
  {
    tokenId,
    owned,
    name,
    scopes,
    expiresIn,
  }: z.output<typeof createTokenBody> & {
    readonly tokenId: TokenId;
    readonly owned: readonly OwnedProject[] | undefined;
  },
): Promise<NewTokenView> {
  const expiry = expiresIn === undefined ? {} : { expiresInMs: expiresIn };
  const expiresAt = expiresIn === undefined ? null : rfc3339(context.clock.now() + expiresIn);
  const made = newToken(tokenId);
  const within = owned === undefined ? {} : { projects: owned.map(({ projectId }) => projectId) };
  const after = { name, scopes, ...within, expiresAt, subject: `${subjectName} (${subject})` };
  await recorded(maker, { kind: "token", id: made.tokenId, name, after }, () =>
    storeNewToken(context, made, {
      kind: "personal",
      subject,
      name,
      scopes,
      ...expiry,
      ...(owned && { projects: owned }),
    }),
  );
  return { tokenId: made.tokenId, token: made.text, name, scopes, ...within };
}

export async function listPersonalTokens(
  context: IdentityContext,
  caller: Caller,
  { userId, ...request }: { readonly userId: string } & WholeListRequest,
): Promise<TokenList> {
  const { user } = await reachUser(context, caller, userId, TOKENS);
  return personalTokensOf(context, user.userId, request);
}

/** The tokens of a user or service account, for callers who were authorised already. */
export async function personalTokensOf(
  { stores }: WithStores<"identity">,
  subject: UserId,
  request: WholeListRequest = {},
): Promise<TokenList> {
  const list = (await stores.identity.listTokens("personal", subject)).map(tokenView);
  return wholeListView(list, request, ({ createdAt, tokenId }) => ({ at: createdAt, id: tokenId }));
}

/** The token is refused from the next call on. Throws `not_found` for one that is not the user's. */
export async function deletePersonalToken(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string; readonly tokenId: TokenId },
): Promise<void> {
  const { user, caller: maker } = await reachUser(context, caller, input.userId, TOKENS);
  if (!(await dropPersonalToken(context, maker, user, input.tokenId))) {
    throw new MillraceError("not_found", `the user has no token ${JSON.stringify(input.tokenId)}`);
  }
}

/** False for a token that is not one of the user or service account. For callers who were authorised already. */
export async function dropPersonalToken(
  { stores }: WithStores<"identity">,
  remover: UserCaller,
  { userId: subject, name: subjectName }: Pick<User, "userId" | "name">,
  tokenId: TokenId,
): Promise<boolean> {
  const token = await stores.identity.findToken(tokenId);
  if (token?.kind !== "personal" || token.subject !== subject) return false;
  const { name, scopes } = token;
  const before = { name, scopes, subject: `${subjectName} (${subject})` };
  return recorded(remover, { kind: "token", id: tokenId, name, before }, () => stores.identity.deleteToken(tokenId));
}

function tokenView({ tokenId, name, scopes, projects, createdAt, expiresAt, lastUsedAt }: Token): TokenView {
  const times = {
    createdAt: rfc3339(createdAt),
    expiresAt: rfc3339(expiresAt),
    lastUsedAt: rfc3339(lastUsedAt ?? null),
  };
  const within = projects === undefined ? {} : { projects: projects.map(({ projectId }) => projectId) };
  return { tokenId, name, scopes, ...within, ...times };
}

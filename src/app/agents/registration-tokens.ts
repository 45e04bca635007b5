/** Registration tokens, with which agents register. Administrators make, list and revoke them. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { highestRole, NO_RIGHTS } from "../../domain/roles.ts";
import { newId, type TenantId, type TokenId } from "../../domain/ids.ts";
import type { Token } from "../../stores/ports/identity.ts";
import type { AgentReach } from "../../domain/labels.ts";
import { agentLabels } from "../agent-labels.ts";
import { authoriseAs, type Caller, type UserCaller } from "../identity/access.ts";
import { type RightsContext, tenantIdsFor } from "../reaching.ts";
import { givenReach, authoriseManaging, reachBody, reachShape } from "./reaching-agents.ts";
import type { IdentityContext } from "../identity/context.ts";
import { lifetime, tokenName } from "../identity/personal-tokens.ts";
import { id, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { createShownOnce, type WithRequestId } from "../request-ids.ts";
import { rfc3339 } from "../times.ts";
import { newToken, storeNewToken } from "../identity/tokens.ts";

const MAX_USES = 1_000_000;

export const createRegistrationTokenBody = z.strictObject({
  name: tokenName,
  /** Absent for a token that never expires. */
  expiresIn: lifetime.optional(),
  /** Absent for any number. */
  maxUses: z.number().int().min(1).max(MAX_USES).optional(),
  /** Trusted labels of the agents that register with it; absent for none. */
  labels: agentLabels.optional(),
  /** Which jobs the agents that register with it may get; absent for agents of the installation. */
  reach: reachBody.optional(),
});

const registrationFields = () => ({
  tokenId: id<TokenId>(),
  name: z.string(),
  /** Id of the user who made it. */
  createdBy: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  maxUses: wholeNumber.nullable(),
  uses: wholeNumber,
  /** Neither expired nor used up. */
  usable: z.boolean(),
  /** Trusted labels of the agents that register with it. */
  labels: mapOf(z.string()),
  /** Which jobs the agents that register with it may get; null for agents of the installation. */
  reach: reachShape.nullable(),
});

export const RegistrationTokenShape = shape("RegistrationToken", registrationFields);
/** The answer that shows `token`; no later answer does. */
export const NewRegistrationTokenShape = shape("NewRegistrationToken", () => ({
  ...registrationFields(),
  token: z.string(),
}));

/** `reach`: as the store has it. */
type NewRegistration = Omit<z.output<typeof createRegistrationTokenBody>, "reach"> & {
  readonly reach: AgentReach | undefined;
  readonly tokenId: TokenId;
};
type RegistrationTokenView = z.infer<typeof RegistrationTokenShape>;
type NewRegistrationTokenView = z.infer<typeof NewRegistrationTokenShape>;

export async function createRegistrationToken(
  context: IdentityContext & RightsContext,
  caller: Caller,
  { requestId, ...body }: z.output<typeof createRegistrationTokenBody> & WithRequestId,
): Promise<NewRegistrationTokenView> {
  const { user, reach } = await givenReach(context, caller, body.reach);
  return createShownOnce(context, {
    caller: user,
    scope: "createRegistrationToken",
    requestId,
    body,
    freshId: () => newId("tok"),
    pointer: "/tokenId",
    remedy: "delete the token, and make another one with a new key",
    exists: async (tokenId) => (await context.stores.identity.findToken(tokenId)) !== undefined,
    create: (tokenId) => makeRegistrationToken(context, user, { ...body, reach, tokenId }),
  });
}

async function makeRegistrationToken(
  context: IdentityContext,
  user: UserCaller,
  { tokenId, name, expiresIn, maxUses, labels, reach }: NewRegistration,
): Promise<NewRegistrationTokenView> {
  const made = newToken(tokenId);
  const expiresAt = expiresIn === undefined ? null : rfc3339(context.clock.now() + expiresIn);
  const after = { name, expiresAt, maxUses: maxUses ?? null, labels: labels ?? {} };
  await recorded(user, { kind: "registrationToken", id: made.tokenId, name, after }, () =>
    storeNewToken(context, made, {
      kind: "registration",
      subject: user.userId,
      name,
      ...(expiresIn === undefined ? {} : { expiresInMs: expiresIn }),
      ...(maxUses === undefined ? {} : { maxUses }),
      ...(labels === undefined ? {} : { labels }),
      ...(reach === undefined ? {} : { reach }),
    }),
  );
  const stored = await context.stores.identity.findToken(made.tokenId);
  return { ...view(stored!, context.clock.now()), token: made.text };
}

/** Newest first. */
export async function listRegistrationTokens(
  context: IdentityContext,
  caller: Caller,
): Promise<{ readonly list: readonly RegistrationTokenView[]; readonly total: number }> {
  const tenantIds = managedTenants(caller);
  const tokens = (await context.stores.identity.listRegistrationTokens()).filter(
    ({ reach }) => tenantIds === undefined || (reach !== undefined && tenantIds.includes(reach.tenantId)),
  );
  const now = context.clock.now();
  const list = tokens.toSorted((a, b) => b.createdAt - a.createdAt).map((token) => view(token, now));
  return { list, total: list.length };
}

/**
 * No agent can register with the token from the next call on; agents that have registered with it stay registered.
 * Throws `not_found` for an id that is not that of a registration token.
 */
export async function deleteRegistrationToken(
  context: IdentityContext,
  caller: Caller,
  { tokenId }: { readonly tokenId: TokenId },
): Promise<void> {
  const { identity } = context.stores;
  const missing = () => new MillraceError("not_found", `there is no registration token ${JSON.stringify(tokenId)}`);
  const token = await identity.findToken(tokenId);
  authoriseManaging(caller, token ?? {}, missing);
  if (token?.kind !== "registration") throw missing();
  const { name } = token;
  const isDeleted = await recorded(caller, { kind: "registrationToken", id: tokenId, name, before: { name } }, () =>
    identity.deleteToken(tokenId),
  );
  if (!isDeleted) throw missing();
}

/** The tenants whose agents the caller manages; undefined for all. Throws `forbidden` for a role that is too low. */
function managedTenants(caller: Caller): readonly TenantId[] | undefined {
  const tenantIds = tenantIdsFor(caller, "manageAgents");
  if (tenantIds?.length !== 0 || caller.kind !== "user") return tenantIds;
  const role = highestRole(...(caller.rights ?? NO_RIGHTS).tenants.values());
  if (role !== null)
    authoriseAs(
      caller,
      "manageAgents",
      role,
      () => new MillraceError("forbidden", "this operation needs the role admin"),
    );
  return tenantIds;
}

function view(token: Token, now: number): RegistrationTokenView {
  const { tokenId, name, subject, createdAt, expiresAt, maxUses, uses, labels = [], reach = null } = token;
  const isSpent = maxUses !== null && uses >= maxUses;
  const isExpired = expiresAt !== null && expiresAt <= now;
  return {
    tokenId,
    name,
    createdBy: subject,
    createdAt: rfc3339(createdAt),
    expiresAt: rfc3339(expiresAt),
    maxUses,
    uses,
    usable: !isSpent && !isExpired,
    labels: Object.fromEntries(labels),
    reach,
  };
}

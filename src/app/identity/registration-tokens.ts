/** Registration tokens, with which agents register. Administrators make, list and revoke them. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { TokenId } from "../../domain/ids.ts";
import type { Token } from "../../stores/ports/identity.ts";
import { agentLabels } from "../agent-labels.ts";
import { authoriseUser, type Caller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { lifetime, tokenName } from "./personal-tokens.ts";
import { id, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { issueToken, tokenIdOf } from "./tokens.ts";

const MAX_USES = 1_000_000;

export const createRegistrationTokenBody = z.strictObject({
  name: tokenName,
  /** Absent for a token that never expires. */
  expiresIn: lifetime.optional(),
  /** Absent for any number. */
  maxUses: z.number().int().min(1).max(MAX_USES).optional(),
  /** Trusted labels of the agents that register with it; absent for none. */
  labels: agentLabels.optional(),
});

const registrationFields = {
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
};

export const RegistrationTokenShape = shape("RegistrationToken", registrationFields);
/** The answer that shows `token`; no later answer does. */
export const NewRegistrationTokenShape = shape("NewRegistrationToken", { ...registrationFields, token: z.string() });

type RegistrationTokenView = z.infer<typeof RegistrationTokenShape>;
type NewRegistrationTokenView = z.infer<typeof NewRegistrationTokenShape>;

export async function createRegistrationToken(
  context: IdentityContext,
  caller: Caller,
  { name, expiresIn, maxUses, labels }: z.output<typeof createRegistrationTokenBody>,
): Promise<NewRegistrationTokenView> {
  const { userId } = authoriseUser(caller, "manageAgents");
  const token = await issueToken(context, {
    kind: "registration",
    subject: userId,
    name,
    ...(expiresIn === undefined ? {} : { expiresInMs: expiresIn }),
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(labels === undefined ? {} : { labels }),
  });
  const stored = await context.stores.identity.findToken(tokenIdOf(token));
  return { ...view(stored!, context.clock.now()), token };
}

/** Newest first. */
export async function listRegistrationTokens(
  context: IdentityContext,
  caller: Caller,
): Promise<{ readonly list: readonly RegistrationTokenView[]; readonly total: number }> {
  authoriseUser(caller, "manageAgents");
  const tokens = await context.stores.identity.listRegistrationTokens();
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
  authoriseUser(caller, "manageAgents");
  const { identity } = context.stores;
  const isRegistration = (await identity.findToken(tokenId))?.kind === "registration";
  if (isRegistration && (await identity.deleteToken(tokenId))) return;
  throw new MillraceError("not_found", `there is no registration token ${JSON.stringify(tokenId)}`);
}

function view(token: Token, now: number): RegistrationTokenView {
  const { tokenId, name, subject, createdAt, expiresAt, maxUses, uses, labels = [] } = token;
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
  };
}

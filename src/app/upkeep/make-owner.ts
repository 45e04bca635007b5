/** The break-glass of operators: makes a user an owner again, on the machine and without a token. */
import { recorded, type Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { IdentityContext } from "../identity/context.ts";
import { issueToken } from "../identity/tokens.ts";

const TOKEN_MS = 3_600_000;

export interface MadeOwner {
  readonly name: string;
  /** True for a user who was an active owner before. */
  readonly wasOwner: boolean;
  /** The new token, with `reset`; it cannot be read again. */
  readonly token: string | null;
}

/**
 * Makes the user of that name an active owner. With `reset`, the user's password and logins end, and a token for one hour
 * is made, with which the user sets another password. Throws `not_found`, and `conflict` for a service account.
 */
export async function makeOwner(
  context: Pick<IdentityContext, "clock" | "stores">,
  name: string,
  { reset, trail }: { readonly reset: boolean; readonly trail?: Trail },
): Promise<MadeOwner> {
  const { identity } = context.stores;
  const user = await identity.findUserByName(name);
  if (user === undefined) {
    const names = (await identity.listUsers()).flatMap((one) => (one.ownedBy === undefined ? [one.name] : []));
    const known = names.slice(0, 20).join(", ") + (names.length > 20 ? ", ..." : "");
    throw new MillraceError("not_found", `there is no user ${JSON.stringify(name)}; the users are: ${known}`);
  }
  if (user.ownedBy !== undefined) {
    throw new MillraceError("conflict", `${name} is a service account, which cannot be an owner: name a person`);
  }
  const lost = reset ? { passwordHash: "", loginsFrom: context.clock.now() } : {};
  const { userId, role, disabled } = user;
  const sides = { before: { role, disabled }, after: { role: "owner", disabled: false } };
  await recorded({ trail }, { kind: "user", id: userId, name, ...sides }, () =>
    identity.changeUser(userId, { role: "owner", disabled: false, ...lost }),
  );
  const request = { kind: "personal", subject: user.userId, name: "break-glass", expiresInMs: TOKEN_MS } as const;
  return {
    name,
    wasOwner: user.role === "owner" && !user.disabled,
    token: reset ? await issueToken(context, request) : null,
  };
}

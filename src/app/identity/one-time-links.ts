/**
 * Links with which a user sets a password, once: an invitation for a new user, a reset for one who has forgotten it. The
 * link is shown to the administrator who asks for it, and the store keeps its hash alone.
 */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { recorded, type Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type UserId } from "../../domain/ids.ts";
import { type Role, roleReaches, ROLES } from "../../domain/roles.ts";
import type { User } from "../../stores/ports/identity.ts";
import type { Voucher } from "../../stores/ports/logins.ts";
import { shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { Caller } from "./callers.ts";
import type { IdentityContext } from "./context.ts";
import { hashOf } from "./one-time.ts";
import { hashPassword } from "./passwords.ts";
import { highestRoleOf, reachUser, requirePerson } from "./reaching-users.ts";
import { password as passwordShape, UserShape, type UserView, userView } from "./users.ts";

const DAY_MS = 86_400_000;
const MANAGED = { own: "manageUsers", others: "manageUsers" } as const;

export type LinkKind = "invitation" | "reset";

export const resetLinkBody = z.strictObject({ days: z.int().min(1).max(7).default(1) });

/** The answer that shows the link; no later answer does. */
export const LinkShape = shape("OneTimeLink", () => ({ user: UserShape, link: z.string(), expiresAt: time }));

export type LinkView = z.infer<typeof LinkShape>;

/**
 * A link with which a user sets a new password; earlier links of the user are void. Throws `not_found`; and `forbidden`
 * for a user with a higher role, and for the caller's own user, who would get around the current password.
 */
export async function createResetLink(
  context: IdentityContext,
  caller: Caller,
  { userId, days }: z.output<typeof resetLinkBody> & { readonly userId: string },
  publicUrl: string,
): Promise<LinkView> {
  const { user, isOwn } = await reachUser(context, caller, userId, MANAGED);
  if (isOwn) throw new MillraceError("forbidden", "change your own password with PUT /users/me/password");
  requirePerson(user);
  await dropLinks(context, user.userId);
  const link = { kind: "reset", user: userView(user), highest: highestRoleOf(user), days, publicUrl } as const;
  return makeLink(context, caller, link);
}

/** Makes the links of a user void, because what they rest on has changed. */
export async function dropLinks({ stores }: IdentityContext, userId: UserId): Promise<void> {
  await stores.logins.dropVouchers(["invitation", "reset"], userId);
}

/** Makes a link for a caller who was authorised already. Of an invitation, the user who is made is recorded, and not the link. */
export async function makeLink(
  context: IdentityContext,
  maker: Caller,
  link: {
    readonly kind: LinkKind;
    readonly user: UserView;
    /** The highest role that the user has anywhere. */
    readonly highest: Role | null;
    readonly days: number;
    readonly publicUrl: string;
  },
): Promise<LinkView> {
  const { kind, user, highest, days, publicUrl } = link;
  const secret = `mrl_${randomBytes(32).toString("hex")}`;
  const expiresAt = context.clock.now() + days * DAY_MS;
  const voucher = { kind, alias: null, subject: user.userId, expiresAt, state: "", facts: { highest } };
  const after = { purpose: kind, expiresAt: rfc3339(expiresAt) };
  await recorded(maker, { kind: "link", id: user.userId, name: user.name, after }, () =>
    context.stores.logins.putVoucher({ hash: hashOf(secret), ...voucher }),
  );
  return { user, link: `${publicUrl}/${kind}?token=${secret}`, expiresAt: rfc3339(expiresAt) };
}

/** The user whom a link concerns. Throws `not_found` for a link that is unknown, used or expired. */
export async function userOfLink(context: IdentityContext, kind: LinkKind, secret: string): Promise<User> {
  const voucher = await context.stores.logins.findVoucher(kind, hashOf(secret));
  return requireUserOf(context, voucher);
}

/** Uses the link: sets the password and ends all logins. Of concurrent calls with one link, one succeeds. */
export async function setPasswordByLink(
  context: IdentityContext,
  kind: LinkKind,
  { secret, password }: { readonly secret: string; readonly password: string },
  trail?: Trail,
): Promise<User> {
  const shape = passwordShape.safeParse(password);
  if (!shape.success) throw new MillraceError("malformed_request", `the password ${shape.error.issues[0]!.message}`);
  // A hash is dear: it is made only for a link that is good.
  await userOfLink(context, kind, secret);
  const passwordHash = await hashPassword(password);
  const user = await requireUserOf(context, await context.stores.logins.takeVoucher(kind, hashOf(secret), ""));
  const { userId, name } = user;
  trail?.proved({ kind: "user", id: userId, name, proof: null });
  await recorded({ trail }, { kind: "user", id: userId, name }, () =>
    context.stores.identity.changeUser(userId, { passwordHash, loginsFrom: context.clock.now() }),
  );
  await dropLinks(context, user.userId);
  await context.stores.logins.endSessionsOf(user.userId);
  return user;
}

async function requireUserOf(context: IdentityContext, voucher: Voucher | undefined): Promise<User> {
  const isGood = voucher !== undefined && voucher.expiresAt > context.clock.now();
  const user = isGood ? await context.stores.identity.findUser(asId<UserId>(voucher.subject)) : undefined;
  // A link of before was made for a user whom its maker reached then.
  const isRaised = user !== undefined && isAbove(highestRoleOf(user), voucher?.facts["highest"]);
  if (user === undefined || user.disabled || isRaised) {
    throw new MillraceError(
      "not_found",
      "the link is unknown, was used, or has expired: ask an administrator for a new one",
    );
  }
  return user;
}

function isAbove(role: Role | null, before: unknown): boolean {
  return role !== null && !roleReaches(ROLES.find((one) => one === before) ?? null, role);
}

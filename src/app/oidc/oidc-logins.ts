/**
 * Which user a provider has proven. A user is known by issuer and subject, which never change. The first login links a
 * user who has the same verified e-mail address; a name proves nothing, because anyone may choose it at a provider.
 */
import { recorded, type Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { type Role, ROLES } from "../../domain/roles.ts";
import type { User } from "../../stores/ports/identity.ts";
import type { AppContext } from "../context.ts";
import type { IdentityContext } from "../identity/context.ts";
import type { OidcProviderSettings } from "./provider-settings.ts";
import type { ProvenIdentity } from "./providers.ts";

type OidcContext = IdentityContext &
  Pick<AppContext, "log"> & {
    /** What the link or the new role leaves in the audit log; a login without either leaves nothing by it. */
    readonly trail?: Trail;
  };

const MAX_NAME = 100;

/**
 * The user whom the provider has proven, with the role that the user's groups give. Throws `forbidden`, and says what to
 * do, for a user who is not known here and may not be created, who is disabled, or whose groups give no role.
 */
export async function userOfIdentity(
  context: OidcContext,
  settings: OidcProviderSettings,
  identity: ProvenIdentity,
): Promise<User> {
  const role = roleOf(settings, identity);
  const user = (await findLinked(context, identity)) ?? (await linkByEmail(context, identity));
  if (user === undefined) return create(context, settings, identity, role);
  if (user.disabled) throw new MillraceError("forbidden", `the user ${user.name} is disabled: ask an administrator`);
  if (Object.keys(settings.roles).length === 0 || user.role === role) return user;
  const { userId, name } = user;
  const change = { kind: "user", id: userId, name, before: { role: user.role }, after: { role } } as const;
  let outcome = "";
  await recorded(context, change, async () => {
    outcome = await context.stores.identity.changeUser(userId, { role });
    return outcome === "changed";
  });
  if (outcome === "changed") return { ...user, role };
  context.log.warn({ user: user.name, role, outcome }, "the role of the user's groups could not be given");
  return user;
}

/** Throws `forbidden` for a user without a mapped group where there is no role for such users. */
function roleOf({ name, roles, defaultRole }: OidcProviderSettings, { groups }: ProvenIdentity): Role {
  const given = groups.flatMap((group) => (Object.hasOwn(roles, group) ? [roles[group]!] : []));
  const role = ROLES.find((one) => given.includes(one)) ?? defaultRole;
  if (role !== null) return role;
  throw new MillraceError(
    "forbidden",
    `none of your groups at ${name} has a role here: ask an administrator to add one to \`roles\``,
  );
}

async function findLinked({ stores }: OidcContext, { issuer, subject }: ProvenIdentity): Promise<User | undefined> {
  const linked = await stores.logins.findIdentity(issuer, subject);
  return linked && stores.identity.findUser(linked.userId);
}

/** An address that several users have links none of them. */
async function linkByEmail(context: OidcContext, identity: ProvenIdentity): Promise<User | undefined> {
  if (identity.email === null) return undefined;
  const users = await context.stores.identity.listUsers();
  const [user, ...others] = users.filter(({ email }) => email === identity.email);
  if (user === undefined || others.length > 0) return undefined;
  return link(context, identity, user);
}

async function create(
  context: OidcContext,
  { name, autoProvision }: OidcProviderSettings,
  identity: ProvenIdentity,
  role: Role,
): Promise<User> {
  if (!autoProvision) {
    const who = identity.email ?? identity.preferredName;
    throw new MillraceError(
      "forbidden",
      `${name} knows you as ${who || identity.subject}, and there is no user with that verified e-mail address here: ` +
        "ask an administrator to create one, or to set `autoProvision`",
    );
  }
  const base = identity.preferredName
    .replace(/[^A-Za-z0-9._@-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, MAX_NAME);
  for (let attempt = 1; ; attempt++) {
    const user: User = {
      userId: newId("usr"),
      name: (base || "user") + (attempt === 1 ? "" : `-${attempt}`),
      role,
      passwordHash: "",
      createdAt: context.clock.now(),
      disabled: false,
      ...(identity.email === null ? {} : { email: identity.email }),
    };
    // A name that is taken belongs to another user, whatever the provider calls this one.
    if ((await context.stores.identity.createUser(user)) === "nameTaken") continue;
    const linked = await link(context, identity, user);
    // Another login of the same identity was first.
    if (linked.userId !== user.userId) await context.stores.identity.deleteUser(user.userId);
    return linked;
  }
}

/** The user who is linked in the end: another one when another login of the same identity was first. */
async function link(context: OidcContext, identity: ProvenIdentity, user: User): Promise<User> {
  const { issuer, subject } = identity;
  const createdAt = context.clock.now();
  const { userId, name } = user;
  const change = { kind: "user", id: userId, name, after: { ...user } } as const;
  const isLinked = await recorded(context, change, () =>
    context.stores.logins.linkIdentity({ issuer, subject, userId, createdAt }),
  );
  if (isLinked) {
    context.log.info({ user: user.name, issuer }, "a user was linked to an identity of a provider");
    return user;
  }
  return (await findLinked(context, identity)) ?? user;
}

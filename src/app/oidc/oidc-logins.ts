/**
 * Which user a provider has proven. A user is known by issuer and subject, which never change. The first login links a
 * user who has the same verified e-mail address; a name proves nothing, because anyone may choose it at a provider.
 */
import type { RecordedChange } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { User } from "../../stores/ports/identity.ts";
import { requireUser } from "../identity/reaching-users.ts";
import { userView } from "../identity/users.ts";
import { changesOf } from "./group-mapping.ts";
import { applyGroups, type OidcContext } from "./group-places.ts";
import type { OidcProviderSettings } from "./provider-settings.ts";
import type { ProvenIdentity } from "./providers.ts";

const MAX_NAME = 100;

/**
 * The user whom the provider has proven, with the roles that the user's groups give. Throws `forbidden`, and says what to
 * do, for a user who is not known here and may not be created, who is disabled, or who has no role in any place.
 */
export async function userOfIdentity(
  context: OidcContext,
  settings: OidcProviderSettings,
  identity: ProvenIdentity,
): Promise<User> {
  const known = (await findLinked(context, identity)) ?? (await linkByEmail(context, identity));
  const user = known ?? (await create(context, settings, identity));
  if (user.disabled) throw new MillraceError("forbidden", `the user ${user.name} is disabled: ask an administrator`);
  await applyGroups(context, settings, user, identity.groups);
  const { role, bindings, ...found } = await requireUser(context, user.userId);
  if (role === null && bindings === undefined) throw noRole(settings);
  return { ...found, role };
}

function noRole({ name }: OidcProviderSettings): MillraceError {
  return new MillraceError(
    "forbidden",
    `none of your groups at ${name} has a role here: ask an administrator to map one, or to give you a role`,
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

async function create(context: OidcContext, settings: OidcProviderSettings, identity: ProvenIdentity): Promise<User> {
  const { name, autoProvision } = settings;
  if (!autoProvision) {
    const who = identity.email ?? identity.preferredName;
    throw new MillraceError(
      "forbidden",
      `${name} knows you as ${who || identity.subject}, and there is no user with that verified e-mail address here: ` +
        "ask an administrator to create one, or to set `autoProvision`",
    );
  }
  const { role, bound, joined } = changesOf(settings, identity.groups, undefined);
  if (role === null && bound.length + joined.length === 0) throw noRole(settings);
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
    if (!(await createUser(context, user))) continue;
    const linked = await link(context, identity, user);
    // Another login of the same identity was first.
    if (linked.userId !== user.userId) await withdraw(context, user);
    return linked;
  }
}

/** False for a name that is taken. */
function createUser(context: OidcContext, user: User): Promise<boolean> {
  return changing(context, "provisionUser", { user, after: userView(user) }, async () => {
    return (await context.stores.identity.createUser(user)) === "created";
  });
}

async function withdraw(context: OidcContext, user: User): Promise<void> {
  await changing(context, "provisionUser", { user, before: userView(user) }, () =>
    context.stores.identity.deleteUser(user.userId),
  );
}

/** The user who is linked in the end: another one when another login of the same identity was first. */
async function link(context: OidcContext, identity: ProvenIdentity, user: User): Promise<User> {
  const { issuer, subject } = identity;
  const { userId } = user;
  const isLinked = await changing(context, "linkIdentity", { user, after: { issuer, subject } }, () =>
    context.stores.logins.linkIdentity({ issuer, subject, userId, createdAt: context.clock.now() }),
  );
  if (isLinked) {
    context.log.info({ user: user.name, issuer }, "a user was linked to an identity of a provider");
    return user;
  }
  return (await findLinked(context, identity)) ?? user;
}

/** Changes a user on behalf of the user, whom the provider has proven. */
function changing<T>(
  context: OidcContext,
  operation: string,
  { user, ...change }: { readonly user: User } & Pick<RecordedChange, "before" | "after">,
  write: () => Promise<T>,
): Promise<T> {
  const { userId: id, name } = user;
  return context.recording(operation, (trail) => {
    trail.proved({ kind: "user", id, name, proof: null });
    return trail.record({ kind: "user", id, name, ...change }, write);
  });
}

/** Creates what an installation needs at its first start: the default tenant and project, the administrator, and tokens. */
import { newId, type UserId } from "../../domain/ids.ts";
import { isActiveOwner, type User } from "../../stores/ports/identity.ts";
import { ACT_AS } from "../identity/access.ts";
import type { UpkeepContext } from "./context.ts";
import { DEFAULT_PROJECT, DEFAULT_TENANT } from "../../domain/ids.ts";
import { adoptToken, issueToken } from "../identity/tokens.ts";

/** Name of the first user. */
const ADMINISTRATOR = "admin";

export interface BootstrapOptions {
  /** An administrator token that the operator chose, 32 characters or more. */
  readonly token?: string;
  /** A registration token that the operator chose, so that agents can be started together with the control plane. */
  readonly registrationToken?: string;
}

/**
 * Ensures that the tenant and the project `default` exist, and an owner, at first the user `admin`, with the tokens that the operator
 * chose. Idempotent. Several nodes may call it at once.
 */
export async function ensureBootstrap(
  context: UpkeepContext,
  { token, registrationToken }: BootstrapOptions = {},
): Promise<void> {
  const { pipelines, rights } = context.stores;
  await rights.createTenant({
    tenantId: DEFAULT_TENANT,
    name: DEFAULT_TENANT,
    slug: DEFAULT_TENANT,
    createdAt: context.clock.now(),
    archivedAt: null,
  });
  await pipelines.createProject({
    projectId: DEFAULT_PROJECT,
    tenantId: DEFAULT_TENANT,
    name: DEFAULT_PROJECT,
    slug: DEFAULT_PROJECT,
    createdAt: context.clock.now(),
  });
  const { userId: subject } = await ensureAdministrator(context);
  if (registrationToken !== undefined) {
    await adoptToken(context, registrationToken, { kind: "registration", subject, name: "bootstrap" });
  }
  if (token !== undefined) await adoptToken(context, token, bootstrapToken(subject));
}

/**
 * A new token of the owner whom {@link ensureAdministrator} finds, when that owner has no password and no token, so that operators
 * are never locked out; else null. It cannot be read again later: call this when the token can be shown at once.
 * Several nodes may call it at once: at worst each node makes and shows a token of its own.
 */
export async function issueFirstToken(context: UpkeepContext): Promise<string | null> {
  const { userId, passwordHash } = await ensureAdministrator(context);
  const tokens = await context.stores.identity.listTokens("personal", userId);
  const isLockedOut = tokens.length === 0 && passwordHash === "";
  return isLockedOut ? await issueToken(context, bootstrapToken(userId)) : null;
}

const bootstrapToken = (subject: UserId) =>
  ({ kind: "personal", subject, name: "bootstrap", scopes: [ACT_AS] }) as const;

/**
 * The user whom the operator's tokens prove: the active owner `admin`, or else the oldest active owner. Without an active
 * owner, `admin` is made one.
 */
export async function ensureAdministrator({ stores, clock }: Pick<UpkeepContext, "stores" | "clock">): Promise<User> {
  const { identity } = stores;
  const owners = (await identity.listUsers()).filter(isActiveOwner);
  const found = owners.find(({ name }) => name === ADMINISTRATOR) ?? owners[0];
  if (found !== undefined) return found;
  const namesake = await identity.findUserByName(ADMINISTRATOR);
  if (namesake !== undefined) await identity.changeUser(namesake.userId, { role: "owner", disabled: false });
  else {
    const [userId, createdAt] = [newId("usr"), clock.now()];
    await identity.createUser({
      userId,
      name: ADMINISTRATOR,
      role: "owner",
      passwordHash: "",
      createdAt,
      disabled: false,
    });
  }
  // Another node may have done the same at the same moment.
  return ensureAdministrator({ stores, clock });
}

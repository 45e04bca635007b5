/** Creates what an installation needs at its first start: the default project, the administrator, and tokens. */
import { newId, type UserId } from "../../domain/ids.ts";
import { ACT_AS } from "../identity/access.ts";
import type { UpkeepContext } from "./context.ts";
import { DEFAULT_PROJECT } from "../../domain/ids.ts";
import { adoptToken, issueToken } from "../identity/tokens.ts";

/** Name of the first user. */
export const ADMINISTRATOR = "admin";

export interface BootstrapOptions {
  /** An administrator token that the operator chose, 32 characters or more. */
  readonly token?: string;
  /** A registration token that the operator chose, so that agents can be started together with the control plane. */
  readonly registrationToken?: string;
}

/**
 * Ensures that the project `default` exists, and the user `admin` with the role owner and a token. Answers the token
 * when a new one was made; it cannot be read again later. Idempotent. Several nodes may call it at once: at worst each
 * node makes and shows a token of its own. When the last token of the user was deleted, a new one is made, so that
 * operators are never locked out.
 */
export async function ensureBootstrap(
  context: UpkeepContext,
  { token, registrationToken }: BootstrapOptions = {},
): Promise<{ readonly adminToken: string | null }> {
  const { identity, pipelines } = context.stores;
  await pipelines.createProject({
    projectId: DEFAULT_PROJECT,
    name: DEFAULT_PROJECT,
    createdAt: context.clock.now(),
  });
  const subject = await ensureAdministrator(context);
  if (registrationToken !== undefined) {
    await adoptToken(context, registrationToken, { kind: "registration", subject, name: "bootstrap" });
  }
  const request = { kind: "personal", subject, name: "bootstrap", scopes: [ACT_AS] } as const;
  if (token !== undefined) {
    await adoptToken(context, token, request);
    return { adminToken: null };
  }
  const tokens = await identity.listTokens("personal", subject);
  return { adminToken: tokens.length > 0 ? null : await issueToken(context, request) };
}

async function ensureAdministrator(context: UpkeepContext): Promise<UserId> {
  const { identity } = context.stores;
  const known = await identity.findUserByName(ADMINISTRATOR);
  if (known !== undefined) return known.userId;
  const userId = newId("usr");
  const outcome = await identity.createUser({
    userId,
    name: ADMINISTRATOR,
    role: "owner",
    passwordHash: "",
    createdAt: context.clock.now(),
    disabled: false,
  });
  return outcome === "created" ? userId : ensureAdministrator(context);
}

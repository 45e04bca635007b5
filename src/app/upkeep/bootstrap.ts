/** What the first start of a deployment creates. */
import { newId, type UserId } from "../../domain/ids.ts";
import { ACT_AS } from "../identity/access.ts";
import type { UpkeepContext } from "./context.ts";
import { DEFAULT_PROJECT } from "../catalogue/pipelines.ts";
import { adoptToken, issueToken } from "../identity/tokens.ts";

/** Name of the first user. */
export const ADMINISTRATOR = "admin";

export interface BootstrapOptions {
  /** The operator's own administrator token, 32 characters or more. */
  readonly token?: string;
  /** A registration token of the operator's choice, so that agents can be started together with the control plane. */
  readonly registrationToken?: string;
}

/**
 * Makes sure that there are the project `default` and the user `admin` with the role owner and a token. Answers the
 * token when one was made: the only time that it is seen. Idempotent; safe to run on several nodes at once, where at
 * worst each shows a token of its own. An administrator whose last token was deleted gets a new one: the way back in.
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

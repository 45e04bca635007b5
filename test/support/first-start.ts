/** What the first start of an installation leaves in its store. */
import { type BootstrapOptions, ensureBootstrap, issueFirstToken } from "../../src/app/upkeep/bootstrap.ts";
import type { UpkeepContext } from "../../src/app/upkeep/context.ts";

/** Does what a node does at its start. `adminToken` is the token that it shows, if it shows one. */
export async function firstStart(
  context: UpkeepContext,
  options?: BootstrapOptions,
): Promise<{ readonly adminToken: string | null }> {
  await ensureBootstrap(context, options);
  return { adminToken: await issueFirstToken(context) };
}

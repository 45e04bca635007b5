/** The permissions of a planned job: the identity that its steps have. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import type { JobSpec } from "../domain/plan.ts";
import type { TextResolver } from "./text-resolver.ts";

/**
 * Nothing for a job without permissions. Others decide by the environment in an identity token what a job may do, so the
 * environment is a text that stands in the definition, and not one that a trigger can choose.
 */
export function planPermissions(
  { permissions, target, path }: Pick<DefinedJob, "permissions" | "target" | "path">,
  resolver: Pick<TextResolver, "refuse">,
): Pick<JobSpec, "permissions"> {
  const { idToken = false, api = null } = permissions ?? {};
  if (!idToken && (api === null || api === "none")) return {};
  const environment = target?.environment ?? null;
  if (idToken && environment?.includes("${{") === true) {
    const message = "a job with `permissions: { idToken: true }` needs a `target.environment` without expressions";
    resolver.refuse("invalid-value", [...path, "target", "environment"], message);
  }
  return { permissions: { idToken, api, environment } };
}

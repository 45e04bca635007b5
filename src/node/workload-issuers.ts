/** The issuers whose identity tokens let agents register, as the settings of this node name them. */
import { WorkloadIdentities } from "../app/oidc/workload-identities.ts";
import { SELF, workloadFile } from "../app/oidc/workload-settings.ts";
import type { AppContext } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import { readSettingsFile } from "./settings-file.ts";

const VARIABLE = "MILLRACE_WORKLOAD_ISSUERS_FILE";

/** Nothing for null. Rejects with `malformed_request` when the file cannot be read or does not have the documented form. */
export async function readWorkloadIssuers(
  path: string | null,
  context: ConstructorParameters<typeof WorkloadIdentities>[1],
): Promise<Pick<AppContext, "workloads">> {
  if (path === null) return {};
  const { issuers } = await readSettingsFile(path, VARIABLE, workloadFile);
  if (context.publicUrl === undefined && issuers.some(({ issuer }) => issuer === SELF)) {
    throw new MillraceError(
      "malformed_request",
      `${path}, named by ${VARIABLE}, trusts the tokens of this installation: set MILLRACE_PUBLIC_URL, their issuer`,
    );
  }
  return { workloads: new WorkloadIdentities(issuers, context) };
}

/** Whose something is: a project or a tenant that the options `--project` and `--tenant` name. */
import type { MillraceClient } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../command-line.ts";
import { findProject, findTenantId } from "./find.ts";
import type { RemoteOptions } from "./session.ts";

export interface OwnerOptions extends RemoteOptions {
  readonly project?: string;
  readonly tenant?: string;
}

export type Owner = { readonly projectId: string } | { readonly tenantId: string };

/** Undefined without an option. */
export async function ownerOf(client: MillraceClient, { project, tenant }: OwnerOptions): Promise<Owner | undefined> {
  if (project !== undefined && tenant !== undefined) throw new UsageError("--project and --tenant exclude each other");
  if (project !== undefined) return { projectId: (await findProject(client, project)).projectId };
  if (tenant === undefined) return undefined;
  return { tenantId: await findTenantId(client, tenant) };
}

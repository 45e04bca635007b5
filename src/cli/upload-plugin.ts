/** The push of a package to the registry of a server. */
import type { MillraceClient, Schemas } from "../../clients/typescript/src/index.ts";

/** The time in which a server accepts a body. */
const UPLOAD_TIMEOUT_MS = 60_000;

/** A project or a tenant that has plugins of its own. */
export type PluginOwner = { readonly projectId: string } | { readonly tenantId: string };

/** Without an owner, the plugin is for the installation. `sha256` is that of the package, in hexadecimal digits. */
export function uploadPlugin(
  client: MillraceClient,
  packed: Uint8Array,
  sha256: string,
  owner: PluginOwner | undefined,
): Promise<Schemas["PluginRelease"]> {
  const body = new Blob([new Uint8Array(packed)]);
  const call = { type: "application/gzip", body, query: { sha256 }, timeoutMs: UPLOAD_TIMEOUT_MS };
  if (owner === undefined) return client.upload("/plugins", call);
  return "projectId" in owner
    ? client.upload("/projects/{projectId}/plugins", { ...call, path: owner })
    : client.upload("/tenants/{tenantId}/plugins", { ...call, path: owner });
}

/** `millrace plugin list`, `show` and `delete`: the plugins of the installation, a tenant or a project. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { ownerOf, type OwnerOptions } from "../../remote/owner-option.ts";
import { withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";

export interface ListPluginsOptions extends OwnerOptions {
  readonly inherited?: boolean;
  readonly name?: string;
  readonly limit: number;
}

export function listPlugins(options: ListPluginsOptions, signal: AbortSignal): Promise<number> {
  const { name, inherited = false, limit } = options;
  return withServer(options, signal, async ({ client, report }) => {
    if (inherited && options.project === undefined) throw new UsageError("--inherited goes with --project");
    const owner = await ownerOf(client, options);
    const query = { name, pageSize: Math.min(limit, 100) };
    const plugins: AsyncIterable<Schemas["PluginInList"]> =
      owner === undefined
        ? client.items("/plugins", { query, signal })
        : "projectId" in owner
          ? client.items("/projects/{projectId}/plugins", {
              path: owner,
              query: { ...query, ...(inherited && { inherited: "true" as const }) },
              signal,
            })
          : client.items("/tenants/{tenantId}/plugins", { path: owner, query, signal });
    report.list(
      await takeItems(plugins, limit),
      [
        { title: "name", text: (plugin) => plugin.name },
        { title: "newest", text: ({ newest }) => newest },
        { title: "versions", text: ({ versions }) => `${versions}` },
        { title: "of", text: ofText },
      ],
      "no plugins; `millrace plugin push FOLDER` registers one",
    );
  });
}

export function showPlugin(name: string, options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const owner = await ownerOf(client, options);
    const plugin =
      owner === undefined
        ? await client.get("/plugins/{name}", { path: { name }, signal })
        : "projectId" in owner
          ? await client.get("/projects/{projectId}/plugins/{name}", { path: { ...owner, name }, signal })
          : await client.get("/tenants/{tenantId}/plugins/{name}", { path: { ...owner, name }, signal });
    if (report.isJson) return report.json(plugin);
    report.object(plugin, `${plugin.name} of ${ofText(plugin)}: ${plugin.manifest.description}`);
    report.list(
      plugin.versions,
      [
        { title: "version", text: ({ version }) => version },
        { title: "bytes", text: ({ size }) => `${size}` },
        { title: "registered", text: ({ createdAt }) => createdAt },
        { title: "by", text: ({ createdBy }) => createdBy },
        { title: "sha-256", text: ({ sha256 }) => sha256 },
      ],
      "no versions",
    );
  });
}

/** Deletes one version. The whole version is asked for, so that no other one is deleted than the user has in mind. */
export function deletePlugin(named: string, options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = parseRelease(named);
    const { name, version } = path;
    const owner = await ownerOf(client, options);
    if (owner === undefined) {
      await client.delete("/plugins/{name}/versions/{version}", { path, signal });
    } else if ("projectId" in owner) {
      await client.delete("/projects/{projectId}/plugins/{name}/versions/{version}", {
        path: { ...owner, ...path },
        signal,
      });
    } else {
      await client.delete("/tenants/{tenantId}/plugins/{name}/versions/{version}", {
        path: { ...owner, ...path },
        signal,
      });
    }
    report.object({ name, version, deleted: true }, `deleted ${name}@${version}`);
  });
}

function parseRelease(named: string): { readonly name: string; readonly version: string } {
  const at = named.lastIndexOf("@");
  const [name, version] = [named.slice(0, Math.max(at, 0)), named.slice(at + 1)];
  if (name !== "" && version !== "") return { name, version };
  throw new UsageError(
    `${named}: must be NAME@VERSION, such as util/json-patch@1.2.0; \`millrace plugin show NAME\` lists the versions`,
  );
}

/** Whose plugin it is. */
function ofText({ scope, tenantId, projectId }: Pick<Schemas["PluginInList"], "scope" | "tenantId" | "projectId">) {
  const id = projectId ?? tenantId;
  return id === null ? scope : `${scope} ${id}`;
}

/** `millrace plugin`: packs the folder of a plugin into a file, or pushes it to the registry of a control plane. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import type { PluginManifest } from "../../domain/plugins.ts";
import { readPluginFolder } from "../../plugins/folder.ts";
import { readPackage, writePackage } from "../../plugins/package.ts";
import { ApiClient } from "../api-client.ts";
import { UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { ownerOf, type OwnerOptions } from "../remote/owner-option.ts";
import { Report } from "../remote/report.ts";
import { withServer } from "../remote/session.ts";
import { uploadPlugin } from "../upload-plugin.ts";

export interface PackOptions {
  readonly output?: string;
}

/** Without an owner, the plugin is for the installation. */
export interface PushOptions extends OwnerOptions {
  /** With the token in MILLRACE_TOKEN; without it, the server of the context. */
  readonly server?: string;
}

/** Writes the package and prints its checksum. Rejects with every problem of the plugin. */
export async function packPlugin(folder: string, { output }: PackOptions): Promise<number> {
  const { packed, sha256, manifest } = await packageOf(folder);
  const file = output ?? `${manifest.name.replaceAll("/", "-")}-${manifest.version}.tar.gz`;
  try {
    await writeFile(file, packed);
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  process.stdout.write(`${file}: ${manifest.name}@${manifest.version}, ${packed.length} bytes, SHA-256 ${sha256}\n`);
  return EXIT.ok;
}

/** Registers the plugin. Rejects with every problem of the plugin, or with the server's error. */
export async function pushPlugin(folder: string, options: PushOptions, signal: AbortSignal): Promise<number> {
  const { server } = options;
  if (server !== undefined) return pushWithToken(folder, server, options);
  return withServer(options, signal, async ({ client, report }) => {
    const { packed, sha256 } = await packageOf(folder);
    const pushed = await uploadPlugin(client, packed, sha256, await ownerOf(client, options));
    report.object(pushed, registered(pushed));
  });
}

async function pushWithToken(folder: string, server: string, options: PushOptions): Promise<number> {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new UsageError(`--server ${server}: must be a URL such as http://127.0.0.1:8080`);
  }
  const token = process.env["MILLRACE_TOKEN"] ?? "";
  if (token === "") throw new UsageError("--server needs a token of the control plane in MILLRACE_TOKEN");
  const { packed, sha256 } = await packageOf(folder);
  const api = new ApiClient({ baseUrl: server.replace(/\/+$/, ""), token: () => Promise.resolve(token) });
  const pushed = await api.pushPlugin(packed, sha256, (client) => ownerOf(client, options));
  new Report(options).object(pushed, registered(pushed));
  return EXIT.ok;
}

function registered({ name, version, sha256, projectId, tenantId }: Schemas["PluginRelease"]): string {
  const owner = projectId !== null ? ` for project ${projectId}` : tenantId !== null ? ` for tenant ${tenantId}` : "";
  return `${name}@${version} is registered${owner}, SHA-256 ${sha256}`;
}

async function packageOf(
  folder: string,
): Promise<{ readonly packed: Uint8Array; readonly sha256: string; readonly manifest: PluginManifest }> {
  const packed = await writePackage(await readPluginFolder(folder));
  const manifest = await readPackage(packed, async () => {});
  return { packed, sha256: createHash("sha256").update(packed).digest("hex"), manifest };
}

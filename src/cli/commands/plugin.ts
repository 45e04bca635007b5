/** `millrace plugin`: packs the folder of a plugin into a file, or pushes it to the registry of a control plane. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { PluginManifest } from "../../domain/plugins.ts";
import { readPluginFolder } from "../../plugins/folder.ts";
import { readPackage, writePackage } from "../../plugins/package.ts";
import { ApiClient } from "../api-client.ts";
import { UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { ownerOf } from "../remote/owner-option.ts";

export interface PackOptions {
  readonly output?: string;
}

export interface PushOptions {
  readonly server: string;
  /** Name or id of the owner; without both, the installation. */
  readonly project?: string;
  readonly tenant?: string;
}

/** Writes the package and prints its checksum. Rejects with every problem of the plugin. */
export async function packPlugin(folder: string, { output }: PackOptions): Promise<number> {
  const { packed, manifest } = await packageOf(folder);
  const file = output ?? `${manifest.name.replaceAll("/", "-")}-${manifest.version}.tar.gz`;
  try {
    await writeFile(file, packed);
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  const sha256 = createHash("sha256").update(packed).digest("hex");
  process.stdout.write(`${file}: ${manifest.name}@${manifest.version}, ${packed.length} bytes, SHA-256 ${sha256}\n`);
  return EXIT.ok;
}

/** Registers the plugin with the token in MILLRACE_TOKEN. Rejects with every problem of the plugin, or with the server's error. */
export async function pushPlugin(folder: string, { server, ...of }: PushOptions): Promise<number> {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new UsageError(`--server ${server}: must be a URL such as http://127.0.0.1:8080`);
  }
  const token = process.env["MILLRACE_TOKEN"] ?? "";
  if (token === "") throw new UsageError("--server needs a token of the control plane in MILLRACE_TOKEN");
  const { packed } = await packageOf(folder);
  const api = new ApiClient({ baseUrl: server.replace(/\/+$/, ""), token: () => Promise.resolve(token) });
  const digest = createHash("sha256").update(packed).digest("hex");
  const pushed = await api.pushPlugin(packed, digest, (client) => ownerOf(client, of));
  const { name, version, sha256, projectId, tenantId } = pushed;
  const owner = projectId !== null ? ` for project ${projectId}` : tenantId !== null ? ` for tenant ${tenantId}` : "";
  process.stdout.write(`${name}@${version} is registered${owner}, SHA-256 ${sha256}\n`);
  return EXIT.ok;
}

async function packageOf(folder: string): Promise<{ readonly packed: Uint8Array; readonly manifest: PluginManifest }> {
  const packed = await writePackage(await readPluginFolder(folder));
  return { packed, manifest: await readPackage(packed, async () => {}) };
}

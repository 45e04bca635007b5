/** The plugin registry: versions of plugins are pushed, listed, read and deleted. A stored version never changes. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { builtinOf } from "../../definition/checks/uses.ts";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { compareVersions, newest } from "../../domain/plugin-versions.ts";
import { PLUGIN_BOUNDS, type PluginManifest } from "../../domain/plugins.ts";
import { readPackage } from "../../plugins/package.ts";
import type { PluginRecord, PluginSummary } from "../../stores/ports/plugins.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { CatalogueContext } from "./context.ts";
import { listFields, type ListView } from "../lists.ts";
import { fields, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

/** A push that takes longer counts as abandoned: another push of the same version replaces it. */
const PUSH_MS = 10 * 60_000;

export const pushPluginQuery = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "must be 64 lower-case hexadecimal digits" })
    .optional(),
});
export const listPluginsQuery = z.strictObject({
  ...listFields,
  name: z.string().max(PLUGIN_BOUNDS.nameChars).optional(),
});

const versionFields = {
  version: z.string(),
  /** Of the package, hexadecimal. */
  sha256: z.string(),
  size: wholeNumber,
  createdAt: time,
  createdBy: z.string(),
};
const PluginVersionShape = shape("PluginVersion", versionFields);

const PluginManifestShape = shape("PluginManifest", {
  name: z.string(),
  version: z.string(),
  description: z.string(),
  /** By name. */
  actions: mapOf(
    fields({
      description: z.string(),
      /** JSON Schema (2020-12) of the arguments; null accepts all arguments. */
      args: z.union([z.boolean(), mapOf(z.unknown())]).nullable(),
      /** Names of the outputs that the action writes. */
      outputs: listOf(z.string()),
      /** A program and its arguments; a word that begins with `./` is a file of the plugin. */
      command: listOf(z.string()),
    }),
  ),
  /** The action of a step that names none; null when a step must name one. */
  defaultAction: z.string().nullable(),
  /** `linux` or `linux/x64`; empty for all platforms. */
  platforms: listOf(z.string()),
});

export const PluginReleaseShape = shape("PluginRelease", {
  ...versionFields,
  name: z.string(),
  manifest: PluginManifestShape,
});
export const PluginInListShape = shape("PluginInList", {
  name: z.string(),
  newest: z.string(),
  versions: wholeNumber,
});
export const PluginShape = shape("Plugin", {
  name: z.string(),
  /** Of the newest version. */
  manifest: PluginManifestShape,
  /** Newest first. */
  versions: listOf(PluginVersionShape),
});

type PluginVersionView = z.infer<typeof PluginVersionShape>;
export type PluginReleaseView = z.infer<typeof PluginReleaseShape>;
type PluginListView = z.infer<typeof PluginInListShape>;
type PluginView = z.infer<typeof PluginShape>;

/**
 * Stores a version of a plugin; the manifest in the package names plugin and version. `read` answers the package and is
 * called only for callers that may push. A repeat changes nothing. Throws `already_exists` when the version is stored
 * with another package; `malformed_request` with every problem of the package, or when `sha256` is not its checksum;
 * `too_large`; `conflict` while another push or a deletion of the version goes on; and what `read` rejects with.
 */
export async function pushPlugin(
  context: CatalogueContext,
  caller: Caller,
  { read, sha256: expected }: { readonly read: () => Promise<Uint8Array>; readonly sha256?: string | undefined },
): Promise<PluginReleaseView> {
  const user = authoriseUser(caller, "managePlugins");
  const packed = await read();
  const sha256 = createHash("sha256").update(packed).digest("hex");
  if (expected !== undefined && expected !== sha256) {
    throw new MillraceError(
      "malformed_request",
      `the package came with the checksum ${sha256}, not ${expected}: send it again`,
    );
  }
  const manifest = await readPackage(packed, async () => {});
  const { name, version } = manifest;
  if (builtinOf(name) !== undefined) {
    throw new MillraceError(
      "malformed_request",
      `a plugin cannot have the name of the builtin ${JSON.stringify(name)}`,
    );
  }
  const record = await beginPush(context, {
    name,
    version,
    packageId: newId("pkg"),
    sha256,
    sizeBytes: packed.length,
    state: "storing",
    createdAt: context.clock.now(),
    createdBy: user.name,
    manifest: JSON.stringify(manifest),
  });
  if (record.state === "stored") {
    user.trail?.changedNothing();
    return releaseView(record);
  }
  const { blobs, plugins } = context.stores;
  for (let offset = 0; offset < packed.length; offset += PIECE_BYTES) {
    const piece = packed.subarray(offset, offset + PIECE_BYTES);
    // A gap: another push of the same package has completed it meanwhile.
    if ((await blobs.put(record.packageId, offset, piece)) === "gap") break;
  }
  if ((await blobs.complete(record.packageId, packed.length)) === "incomplete") throw interrupted();
  const change = { kind: "plugin", id: `${name}@${version}`, name, after: { version, sha256 } } as const;
  if (!(await recorded(user, change, () => plugins.store(record.packageId)))) throw interrupted();
  context.log.info({ plugin: name, version, sha256, by: user.name }, "a plugin is registered");
  return releaseView(record);
}

/** Plugins in the order of their names; with `name` those whose name contains it. */
export async function listPlugins(
  { stores }: CatalogueContext,
  caller: Caller,
  { page, pageSize, name = "" }: z.output<typeof listPluginsQuery>,
): Promise<ListView<PluginListView>> {
  authoriseUser(caller, "readPlugins");
  const names = (await stores.plugins.names()).filter((known) => known.includes(name));
  const shown = names.slice((page - 1) * pageSize, page * pageSize);
  const list = await Promise.all(
    shown.map(async (shownName) => {
      const versions = (await stores.plugins.versionsOf(shownName)).map(({ version }) => version);
      return { name: shownName, newest: newest(versions) ?? "", versions: versions.length };
    }),
  );
  return { list, total: names.length, page, pageSize };
}

/** Throws `not_found`. */
export async function getPlugin(
  { stores }: CatalogueContext,
  caller: Caller,
  { name }: { readonly name: string },
): Promise<PluginView> {
  authoriseUser(caller, "readPlugins");
  const versions = (await stores.plugins.versionsOf(name)).toSorted((a, b) => compareVersions(b.version, a.version));
  const record = versions[0] && (await stores.plugins.find(name, versions[0].version));
  if (record === undefined) throw noPlugin(name);
  return { name, manifest: manifestOf(record), versions: versions.map(versionView) };
}

/** Throws `not_found`. */
export async function getPluginRelease(
  { stores }: CatalogueContext,
  caller: Caller,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<PluginReleaseView> {
  authoriseUser(caller, "readPlugins");
  const record = await stores.plugins.find(name, version);
  if (record?.state !== "stored") throw noPlugin(name, version);
  return releaseView(record);
}

/**
 * Deletes a version with its package, even when runs use it: a step that was planned with the version then fails with
 * that reason, unless its agent has the package already. Throws `not_found`.
 */
export async function deletePluginRelease(
  context: CatalogueContext,
  caller: Caller,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<void> {
  const user = authoriseUser(caller, "managePlugins");
  const record = await context.stores.plugins.find(name, version);
  if (record === undefined) throw noPlugin(name, version);
  const change = {
    kind: "plugin",
    id: `${name}@${version}`,
    name,
    before: { version, sha256: record.sha256 },
  } as const;
  await recorded(user, change, () => deleteNow(context, record));
  context.log.info({ plugin: name, version, by: user.name }, "a version of a plugin is deleted");
}

/** The manifest that a record holds as JSON. */
export function manifestOf({ manifest }: PluginRecord): PluginManifest {
  return JSON.parse(manifest) as PluginManifest;
}

/**
 * The record that a push works on: its own, or that of another push of the same package, which may be stored already.
 */
async function beginPush(context: CatalogueContext, record: PluginRecord): Promise<PluginRecord> {
  const { plugins } = context.stores;
  const { name, version } = record;
  const known = await plugins.find(name, version);
  if (known === undefined && (await plugins.versionsOf(name)).length >= PLUGIN_BOUNDS.versions) {
    const text = `${name} has ${PLUGIN_BOUNDS.versions} versions, which is as many as a plugin may have: delete some`;
    throw new MillraceError("too_large", text);
  }
  // The remains of an abandoned push or deletion are deleted before the version is taken again.
  const isAbandoned =
    known?.state === "deleting" || (known?.state === "storing" && known.createdAt + PUSH_MS < record.createdAt);
  if (known !== undefined && isAbandoned) await deleteNow(context, known);
  const begun = await plugins.begin(record);
  if (begun.sha256 === record.sha256 && begun.state !== "deleting") return begun;
  if (begun.state === "stored") {
    const text = `${name}@${version} is there with another package (SHA-256 ${begun.sha256}): a version does not change, so give this one another`;
    throw new MillraceError("already_exists", text);
  }
  throw new MillraceError("conflict", `another push or a deletion of ${name}@${version} goes on: try again`);
}

/** A node may die after each step: the next push or deletion of the version finishes the deletion. */
async function deleteNow({ stores }: CatalogueContext, { packageId }: PluginSummary): Promise<void> {
  await stores.plugins.markDeleting(packageId);
  await stores.blobs.delete(packageId);
  await stores.plugins.remove(packageId);
}

function releaseView(record: PluginRecord): PluginReleaseView {
  return { name: record.name, ...versionView(record), manifest: manifestOf(record) };
}

function versionView({ version, sha256, sizeBytes, createdAt, createdBy }: PluginSummary): PluginVersionView {
  return { version, sha256, size: sizeBytes, createdAt: rfc3339(createdAt), createdBy };
}

function noPlugin(name: string, version?: string): MillraceError {
  const what =
    version === undefined
      ? JSON.stringify(name)
      : `${JSON.stringify(name)} with the version ${JSON.stringify(version)}`;
  return new MillraceError("not_found", `there is no plugin ${what} in the registry`);
}

function interrupted(): MillraceError {
  return new MillraceError(
    "unavailable",
    "the version was deleted, or what was stored of it is gone, during the push: push it again",
  );
}

/**
 * The plugin registry: versions of plugins are pushed, listed, read and deleted. A plugin belongs to the installation, to a
 * tenant or to a project. A stored version never changes.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { builtinOf } from "../../domain/builtins.ts";
import { PIECE_BYTES } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { compareVersions, newest } from "../../domain/plugin-versions.ts";
import { PLUGIN_BOUNDS } from "../../domain/plugins.ts";
import type { Area, Owner } from "../../domain/roles.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { PluginKey, PluginRecord, PluginSummary } from "../../stores/ports/plugins.ts";
import type { WithStores } from "../context.ts";
import { authoriseUser, type Caller, type UserCaller } from "../identity/access.ts";
import type { CatalogueContext } from "./context.ts";
import { placedListFields, placedPartOf, type PlacedListView } from "../lists.ts";
import { projectFactsOf } from "../project-facts.ts";
import { reachProject, reachTenant } from "../reaching.ts";
import { namesOf, pluginOwners } from "./plugin-lookup.ts";
import {
  manifestOf,
  ownerView,
  type PluginListView,
  type PluginReleaseView,
  type PluginView,
  releaseView,
  versionView,
} from "./plugin-views.ts";

/** A push that takes longer counts as abandoned: another push of the same version replaces it. */
const PUSH_MS = 10 * 60_000;
/** Records that {@link deletePluginsOf} reads at once. */
const AT_ONCE = 100;

export const pushPluginQuery = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "must be 64 lower-case hexadecimal digits" })
    .optional(),
});
const nameField = z.string().max(PLUGIN_BOUNDS.nameChars).optional();
export const listPluginsQuery = z.strictObject({ ...placedListFields, name: nameField });
export const listProjectPluginsQuery = z.strictObject({
  ...placedListFields,
  name: nameField,
  /** `true`: also the plugins of the tenant and the installation that definitions of the project can use. */
  inherited: z.enum(["true", "false"]).optional(),
});

/** Whose plugins: those of a tenant or a project; null for those of the installation. */
export interface OfArea {
  readonly area: Area | null;
}

/**
 * Stores a version of a plugin; the manifest in the package names plugin and version. `read` answers the package and is
 * called only for callers that may push. A repeat changes nothing. Throws `already_exists` when the version is stored
 * with another package; `malformed_request` with every problem of the package, or when `sha256` is not its checksum;
 * `too_large`; `conflict` while another push or a deletion of the version goes on, and for an owner that is archived;
 * `not_found` for an unknown owner; and what `read` rejects with.
 */
export async function pushPlugin(
  context: CatalogueContext,
  caller: Caller,
  {
    area,
    read,
    sha256: expected,
  }: OfArea & { readonly read: () => Promise<Uint8Array>; readonly sha256?: string | undefined },
): Promise<PluginReleaseView> {
  await reachPlugins(context, caller, "push", area);
  const packed = await read();
  const sha256 = createHash("sha256").update(packed).digest("hex");
  if (expected !== undefined && expected !== sha256) {
    throw new MillraceError(
      "malformed_request",
      `the package came with the checksum ${sha256}, not ${expected}: send it again`,
    );
  }
  const { readPackage } = await import("../../plugins/package.ts");
  const manifest = await readPackage(packed, async () => {});
  const { name, version } = manifest;
  if (builtinOf(name) !== undefined) {
    throw new MillraceError(
      "malformed_request",
      `a plugin cannot have the name of the builtin ${JSON.stringify(name)}`,
    );
  }
  // The package may have come slowly: the owner may be gone meanwhile.
  const user = await reachPlugins(context, caller, "push", area);
  const owner = ownerFor(area);
  const record = await beginPush(context, {
    owner,
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
  if (!(await recorded(user, change, () => plugins.store(record)))) throw interrupted();
  context.log.info({ plugin: name, version, owner, sha256, by: user.name }, "a plugin is registered");
  return releaseView(record);
}

/**
 * Plugins in the order of their names; with `name` those whose name contains it. With `inherited` all that definitions of the
 * project can use, each as the project finds it.
 */
export async function listPlugins(
  context: CatalogueContext,
  caller: Caller,
  { area, name = "", inherited = "false", ...request }: OfArea & z.output<typeof listProjectPluginsQuery>,
): Promise<PlacedListView<PluginListView>> {
  await reachPlugins(context, caller, "read", area);
  const { plugins } = context.stores;
  const owners =
    inherited === "true" && area !== null && "projectId" in area
      ? await pluginOwners(context, area.projectId)
      : [ownerFor(area)];
  const names = (await namesOf(plugins, owners)).filter((known) => known.includes(name));
  const placeOf = (known: string) => ({ at: known, id: known });
  const shown = placedPartOf(names, { ...request, sort: "name" }, placeOf, (known) => known);
  const list = await Promise.all(shown.list.map((known) => describe(plugins, owners, known)));
  return { ...shown, list };
}

async function describe(
  plugins: CatalogueContext["stores"]["plugins"],
  owners: readonly Owner[],
  name: string,
): Promise<PluginListView> {
  for (const owner of owners) {
    const versions = (await plugins.versionsOf({ owner, name })).map(({ version }) => version);
    if (versions.length === 0) continue;
    return { name, ...ownerView(owner), newest: newest(versions) ?? "", versions: versions.length };
  }
  // The last version was deleted since the names were read.
  return { name, ...ownerView(owners[0]!), newest: "", versions: 0 };
}

/** Throws `not_found`. */
export async function getPlugin(
  context: CatalogueContext,
  caller: Caller,
  { area, name }: OfArea & { readonly name: string },
): Promise<PluginView> {
  await reachPlugins(context, caller, "read", area);
  const { plugins } = context.stores;
  const owner = ownerFor(area);
  const stored = await plugins.versionsOf({ owner, name });
  const versions = stored.toSorted((a, b) => compareVersions(b.version, a.version));
  const record = versions[0] && (await plugins.find(versions[0]));
  if (record === undefined) throw noPlugin({ owner, name });
  return { name, ...ownerView(owner), manifest: manifestOf(record), versions: versions.map(versionView) };
}

/** Throws `not_found`. */
export async function getPluginRelease(
  context: CatalogueContext,
  caller: Caller,
  { area, name, version }: OfArea & { readonly name: string; readonly version: string },
): Promise<PluginReleaseView> {
  await reachPlugins(context, caller, "read", area);
  const key = { owner: ownerFor(area), name, version };
  const record = await context.stores.plugins.find(key);
  if (record?.state !== "stored") throw noPlugin(key);
  return releaseView(record);
}

/**
 * Deletes a version with its package, even when runs use it: a step that was planned with the version then fails with
 * that reason, unless its agent has the package already. Throws `not_found`.
 */
export async function deletePluginRelease(
  context: CatalogueContext,
  caller: Caller,
  { area, name, version }: OfArea & { readonly name: string; readonly version: string },
): Promise<void> {
  const user = await reachPlugins(context, caller, "delete", area);
  const key = { owner: ownerFor(area), name, version };
  const record = await context.stores.plugins.find(key);
  if (record === undefined) throw noPlugin(key);
  const change = {
    kind: "plugin",
    id: `${name}@${version}`,
    name,
    before: { version, sha256: record.sha256 },
  } as const;
  await recorded(user, change, () => deleteNow(context, record));
  context.log.info({ plugin: name, version, owner: key.owner, by: user.name }, "a version of a plugin is deleted");
}

/** Deletes all plugins of a tenant or a project that is being deleted. Safe to repeat after a crash. */
export async function deletePluginsOf(context: WithStores<"plugins" | "blobs">, area: Area): Promise<void> {
  const { plugins } = context.stores;
  const owner = ownerOf(area);
  for (;;) {
    const found = await plugins.listOf(owner, AT_ONCE);
    for (const one of found) await deleteNow(context, one);
    if (found.length < AT_ONCE) return;
  }
}

/** The caller, who may do this with the plugins there. Throws as {@link reachProject}, and `conflict` for a push to what is archived. */
async function reachPlugins(
  context: CatalogueContext,
  caller: Caller,
  what: "read" | "push" | "delete",
  area: Area | null,
): Promise<UserCaller> {
  const isRead = what === "read";
  if (area === null) return authoriseUser(caller, isRead ? "readPlugins" : "managePlugins");
  if ("tenantId" in area) {
    const operation = isRead ? "readTenantPlugins" : "manageTenantPlugins";
    const { user, found } = await reachTenant(context, caller, operation, area.tenantId);
    if (what === "push" && found.archivedAt !== null) throw archived("tenant", found.name);
    return user;
  }
  const operation = isRead ? "readProjectPlugins" : "manageProjectPlugins";
  const { user, found } = await reachProject(context, caller, operation, area.projectId);
  if (what === "push" && (await projectFactsOf(context, area.projectId)).archived)
    throw archived("project", found.name);
  return user;
}

function archived(what: "tenant" | "project", name: string): MillraceError {
  return new MillraceError("conflict", `the ${what} ${JSON.stringify(name)} is archived: it takes no plugins`);
}

function ownerFor(area: Area | null): Owner {
  return area === null ? "installation" : ownerOf(area);
}

/**
 * The record that a push works on: its own, or that of another push of the same package, which may be stored already.
 */
async function beginPush(context: CatalogueContext, record: PluginRecord): Promise<PluginRecord> {
  const { plugins } = context.stores;
  const { owner, name, version } = record;
  const known = await plugins.find(record);
  if (known === undefined && (await plugins.versionsOf(record)).length >= PLUGIN_BOUNDS.versions) {
    const text = `${name} has ${PLUGIN_BOUNDS.versions} versions, which is as many as a plugin may have: delete some`;
    throw new MillraceError("too_large", text);
  }
  if (known === undefined && owner !== "installation") {
    const bytes = (await plugins.bytesOf(owner)) + record.sizeBytes;
    if (bytes > PLUGIN_BOUNDS.ownedBytes) {
      const text = `with this package the plugins of ${whose(owner)} would have ${bytes} bytes, and they may have ${PLUGIN_BOUNDS.ownedBytes}: delete some`;
      throw new MillraceError("too_large", text);
    }
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
async function deleteNow({ stores }: WithStores<"plugins" | "blobs">, plugin: PluginSummary): Promise<void> {
  await stores.plugins.markDeleting(plugin);
  await stores.blobs.delete(plugin.packageId);
  await stores.plugins.remove(plugin);
}

function noPlugin({ owner, name, version }: Omit<PluginKey, "version"> & { readonly version?: string }): MillraceError {
  const what =
    version === undefined
      ? JSON.stringify(name)
      : `${JSON.stringify(name)} with the version ${JSON.stringify(version)}`;
  const where = owner === "installation" ? "in the registry" : `of ${whose(owner)}`;
  return new MillraceError("not_found", `there is no plugin ${what} ${where}`);
}

/** An owner in a message: `project prj_1`. */
function whose(owner: Owner): string {
  return owner.replace("/", " ");
}

function interrupted(): MillraceError {
  return new MillraceError(
    "unavailable",
    "the version was deleted, or what was stored of it is gone, during the push: push it again",
  );
}

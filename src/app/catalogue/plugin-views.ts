/** Plugins as answers show them. */
import { z } from "zod";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import type { PluginManifest } from "../../domain/plugins.ts";
import type { Owner } from "../../domain/roles.ts";
import type { PluginRecord, PluginSummary } from "../../stores/ports/plugins.ts";
import { fields, id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

const ownerFields = {
  /** Whose plugin it is. */
  scope: z.enum(["installation", "tenant", "project"]),
  /** Null unless the scope is `tenant`. */
  tenantId: id<TenantId>().nullable(),
  /** Null unless the scope is `project`. */
  projectId: id<ProjectId>().nullable(),
};

const versionFields = () => ({
  version: z.string(),
  /** Of the package, hexadecimal. */
  sha256: z.string(),
  size: wholeNumber,
  createdAt: time,
  createdBy: z.string(),
});
const PluginVersionShape = shape("PluginVersion", versionFields);

const PluginManifestShape = shape("PluginManifest", () => ({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  /** By name. */
  actions: mapOf(
    fields(() => ({
      description: z.string(),
      /** JSON Schema (2020-12) of the arguments; null accepts all arguments. */
      args: z.union([z.boolean(), mapOf(z.unknown())]).nullable(),
      /** Names of the outputs that the action writes. */
      outputs: listOf(z.string()),
      /** A program and its arguments; a word that begins with `./` is a file of the plugin. */
      command: listOf(z.string()),
    })),
  ),
  /** The action of a step that names none; null when a step must name one. */
  defaultAction: z.string().nullable(),
  /** `linux` or `linux/x64`; empty for all platforms. */
  platforms: listOf(z.string()),
  /** The image in whose container the actions run; absent for a plugin that runs where its step does. */
  image: z.string().optional(),
}));

export const PluginReleaseShape = shape("PluginRelease", () => ({
  ...versionFields(),
  name: z.string(),
  ...ownerFields,
  manifest: PluginManifestShape,
}));
export const PluginInListShape = shape("PluginInList", () => ({
  name: z.string(),
  ...ownerFields,
  newest: z.string(),
  versions: wholeNumber,
}));
export const PluginShape = shape("Plugin", () => ({
  name: z.string(),
  ...ownerFields,
  /** Of the newest version. */
  manifest: PluginManifestShape,
  /** Newest first. */
  versions: listOf(PluginVersionShape),
}));

type PluginVersionView = z.infer<typeof PluginVersionShape>;
export type PluginReleaseView = z.infer<typeof PluginReleaseShape>;
export type PluginListView = z.infer<typeof PluginInListShape>;
export type PluginView = z.infer<typeof PluginShape>;

/** The manifest that a record holds as JSON. */
export function manifestOf({ manifest }: PluginRecord): PluginManifest {
  return JSON.parse(manifest) as PluginManifest;
}

export function releaseView(record: PluginRecord): PluginReleaseView {
  const { owner, name } = record;
  return { name, ...ownerView(owner), ...versionView(record), manifest: manifestOf(record) };
}

export function versionView({ version, sha256, sizeBytes, createdAt, createdBy }: PluginSummary): PluginVersionView {
  return { version, sha256, size: sizeBytes, createdAt: rfc3339(createdAt), createdBy };
}

/** The fields that say whose a plugin is. */
export function ownerView(owner: Owner): Pick<PluginListView, keyof typeof ownerFields> {
  if (owner === "installation") return { scope: owner, tenantId: null, projectId: null };
  const areaId = owner.slice(owner.indexOf("/") + 1);
  return owner.startsWith("tenant/")
    ? { scope: "tenant", tenantId: asId(areaId), projectId: null }
    : { scope: "project", tenantId: null, projectId: asId(areaId) };
}

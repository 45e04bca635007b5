/** Plugins: their manifests, the references in definitions, and what the registry knows about them. */

import type { Owner } from "./roles.ts";

/** Bounds of a plugin and its package. */
export const PLUGIN_BOUNDS = {
  manifestBytes: 65_536,
  /** The package as it is sent. */
  packedBytes: 32 * 1024 * 1024,
  /** All files of the package together. */
  unpackedBytes: 128 * 1024 * 1024,
  files: 2_000,
  /** Characters of a name. */
  nameChars: 200,
  /** Versions of one plugin in the registry. */
  versions: 1_000,
  /** All packages of one tenant or one project together. The plugins of the installation are bounded by its disk. */
  ownedBytes: 1024 * 1024 * 1024,
} as const;

/** Name of the manifest at the root of a plugin's folder. */
export const MANIFEST_FILE = "plugin.yaml";

export interface PluginAction {
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments; null accepts all arguments. */
  readonly args: JsonSchema | null;
  /** Names of the outputs that the action writes, for people. */
  readonly outputs: readonly string[];
  /** A program and its arguments; a word that begins with `./` is a file of the plugin. */
  readonly command: readonly string[];
}

export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The actions by name; at least one. */
  readonly actions: Readonly<Record<string, PluginAction>>;
  /** The action of a step that names none; null when a step must name one. */
  readonly defaultAction: string | null;
  /** `linux` or `linux/x64`, as Node names platforms; empty for all platforms. */
  readonly platforms: readonly string[];
  /** The image in whose container its actions run; absent for a plugin that runs where its step does. */
  readonly image?: string;
}

/** A version of a plugin in the registry, with the digest and size of its package. */
export interface PluginRelease {
  readonly manifest: PluginManifest;
  /** Digest of the package, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whose plugin it is. */
  readonly owner: Owner;
}

/** Which package a step runs: found when its run was planned, and the same for all of its attempts. */
export interface PluginPin {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whose plugin it is; absent for a plugin of the installation. */
  readonly owner?: Exclude<Owner, "installation">;
}

/** What the registry knows about a plugin that a definition names. */
export type FoundPlugin =
  | {
      readonly found: "release";
      readonly release: PluginRelease;
      /**
       * Problems of the arguments under the action's schema. `isDeferred`: true for a place whose value is known only
       * during the run.
       */
      checkArgs(action: PluginAction, args: unknown, isDeferred: (path: ArgsPath) => boolean): readonly ArgsProblem[];
    }
  /** The registry has other versions of the plugin; newest first. */
  | { readonly found: "otherVersions"; readonly versions: readonly string[] }
  /** The registry has no plugin of that name; `names` are the names of its plugins. */
  | { readonly found: "nothing"; readonly names: readonly string[] };

/** Looks up a reference as it is written in `uses`. */
export type PluginLookup = (uses: string) => FoundPlugin;

export type ArgsPath = readonly (string | number)[];

export interface ArgsProblem {
  readonly path: ArgsPath;
  /** For people, without the value that was given: `must be string`. */
  readonly message: string;
}

const BUILTINS: readonly string[] = ["shell", "checkout", "artifact", "upload", "cache", "http"];

/**
 * Names that may be no part of a plugin's path, as the source of a regular expression: those that every object of
 * JavaScript has, since code could take such a name for that part of an object, and those of dots alone, which would
 * lead to another folder.
 */
export const RESERVED_PART = [...Object.getOwnPropertyNames(Object.prototype), "\\.+"].join("|");

const IS_RESERVED = new RegExp(`^(?:${RESERVED_PART})$`);

/** The first part of a path, between slashes, that is reserved; undefined when there is none. */
export function reservedPart(path: string): string | undefined {
  return path.split("/").find((part) => IS_RESERVED.test(part));
}

/** True for `<plugin_path>@<version>`; false for a builtin with its version, such as `checkout@v1`. */
export function isPluginReference(uses: string): boolean {
  const { name, version } = splitReference(uses);
  return name !== "" && version !== "" && !(version === "v1" && BUILTINS.includes(name));
}

/** True for a step that fetches an upload of the trigger. */
export function isUploadStep({ uses }: { readonly uses: string }): boolean {
  return uses === "upload" || uses === "upload@v1";
}

/** The two parts of `<plugin_path>@<version>`; a missing part is empty. */
export function splitReference(uses: string): { readonly name: string; readonly version: string } {
  const at = uses.lastIndexOf("@");
  return at === -1 ? { name: uses, version: "" } : { name: uses.slice(0, at), version: uses.slice(at + 1) };
}

/**
 * The action of a step: the one with the given name, or the default action for an empty name; undefined when the plugin
 * has none such.
 */
export function actionOf(manifest: PluginManifest, named: string): readonly [name: string, PluginAction] | undefined {
  const name = named === "" ? manifest.defaultAction : named;
  if (name === null || !Object.hasOwn(manifest.actions, name)) return undefined;
  return [name, manifest.actions[name]!];
}

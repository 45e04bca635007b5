/** Plugins: what one says of itself, how definitions name it, and what is known of those that the registry has. */

/** Bounds of a plugin and its package. */
export const PLUGIN_BOUNDS = {
  manifestBytes: 65_536,
  /** Of the package as it travels. */
  packedBytes: 32 * 1024 * 1024,
  /** Of all of its files. */
  unpackedBytes: 128 * 1024 * 1024,
  files: 2_000,
  /** Characters of a name. */
  nameChars: 200,
  /** Of one plugin, in the registry. */
  versions: 1_000,
} as const;

/** Name of the manifest at the root of a plugin's folder. */
export const MANIFEST_FILE = "plugin.yaml";

export interface PluginAction {
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments; null takes any. */
  readonly args: JsonSchema | null;
  /** Names of the outputs that it writes, for people. */
  readonly outputs: readonly string[];
  /** A program and its arguments; what begins with `./` is a file of the plugin. */
  readonly command: readonly string[];
}

export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** At least one. */
  readonly actions: Readonly<Record<string, PluginAction>>;
  /** What a step does that names no action; null when it has to name one. */
  readonly defaultAction: string | null;
  /** `linux` or `linux/x64`, in the words of Node; empty for all. */
  readonly platforms: readonly string[];
}

/** A version of a plugin that can be had, and what its bytes have to be. */
export interface PluginRelease {
  readonly manifest: PluginManifest;
  /** Of the package, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Which package a step runs: found when its run was planned, and the same for all of its attempts. */
export interface PluginPin {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** What is known of a plugin that a definition names. */
export type FoundPlugin =
  | {
      readonly found: "release";
      readonly release: PluginRelease;
      /** What breaks the schema of an action; `isLate` tells of places whose values are not known yet. */
      checkArgs(action: PluginAction, args: unknown, isLate: (path: ArgsPath) => boolean): readonly ArgsProblem[];
    }
  /** The registry has others; newest first. */
  | { readonly found: "otherVersions"; readonly versions: readonly string[] }
  /** The registry has no plugin of that name; `names` are those that it has. */
  | { readonly found: "nothing"; readonly names: readonly string[] };

/** Of a reference as it stands in `uses`. */
export type PluginLookup = (uses: string) => FoundPlugin;

export type ArgsPath = readonly (string | number)[];

export interface ArgsProblem {
  readonly path: ArgsPath;
  /** For people, and without a value: `must be string`. */
  readonly message: string;
}

const BUILTINS: readonly string[] = ["shell", "checkout", "artifact", "cache", "http"];

/** True for `<plugin_path>@<version>`, unless it is a builtin with its version. */
export function isPluginReference(uses: string): boolean {
  const { name, version } = splitReference(uses);
  return name !== "" && version !== "" && !(version === "v1" && BUILTINS.includes(name));
}

/** The two parts of `<plugin_path>@<version>`; one that is missing is empty. */
export function splitReference(uses: string): { readonly name: string; readonly version: string } {
  const at = uses.lastIndexOf("@");
  return at === -1 ? { name: uses, version: "" } : { name: uses.slice(0, at), version: uses.slice(at + 1) };
}

/** What a step does: the action that it names, else the plugin's default. Undefined when there is none such. */
export function actionOf(manifest: PluginManifest, named: string): readonly [name: string, PluginAction] | undefined {
  const name = named === "" ? manifest.defaultAction : named;
  if (name === null || !Object.hasOwn(manifest.actions, name)) return undefined;
  return [name, manifest.actions[name]!];
}

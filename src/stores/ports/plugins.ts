/** The plugin registry: one record for each version of a plugin, whose package lies in the {@link BlobStore}. */
import type { PackageId } from "../../domain/ids.ts";

/** `storing` until the package is complete; `deleting` from when it is given up on until nothing of it is left. */
export type PluginState = "storing" | "stored" | "deleting";

/** Without the manifest, which may be long. */
export interface PluginSummary {
  readonly name: string;
  readonly version: string;
  /** Of the package among the blobs; each push has its own. */
  readonly packageId: PackageId;
  /** Of the package, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly state: PluginState;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly createdBy: string;
}

export interface PluginRecord extends PluginSummary {
  /** As JSON. */
  readonly manifest: string;
}

export interface PluginStore {
  /** Stores the record of a push and answers it, or the one that has its name and version already, whatever its state. */
  begin(record: PluginRecord): Promise<PluginRecord>;
  /** From `storing` to `stored`; true when it is in that state now. */
  store(packageId: PackageId): Promise<boolean>;
  /** To `deleting`, from whatever state. */
  condemn(packageId: PackageId): Promise<void>;
  /** Forgets one that is being deleted; call when its package is gone. */
  remove(packageId: PackageId): Promise<void>;
  /** In whatever state. */
  find(name: string, version: string): Promise<PluginRecord | undefined>;
  /** Of one plugin those that are stored, by the time of their making. */
  versionsOf(name: string): Promise<readonly PluginSummary[]>;
  /** Of all plugins of which a version is stored, in the order of the alphabet. */
  names(): Promise<readonly string[]>;
}

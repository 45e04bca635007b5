/**
 * The port of the plugin registry: one record for each version of a plugin. The package itself is stored in the {@link
 * BlobStore}.
 */
import type { PackageId } from "../../domain/ids.ts";

/**
 * `storing` until the package is complete; then `stored`. `deleting` from the decision to remove it until its package
 * is gone.
 */
export type PluginState = "storing" | "stored" | "deleting";

/** A version of a plugin without its manifest, which may be long. */
export interface PluginSummary {
  readonly name: string;
  readonly version: string;
  /** The id of the package in the blob store; each push has its own. */
  readonly packageId: PackageId;
  /** SHA-256 of the package, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly state: PluginState;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly createdBy: string;
}

export interface PluginRecord extends PluginSummary {
  /** The manifest of the plugin as JSON text. */
  readonly manifest: string;
}

export interface PluginStore {
  /**
   * Stores the record of a push and answers it. When the name and version are taken, answers the stored record, in any
   * state.
   */
  begin(record: PluginRecord): Promise<PluginRecord>;
  /** Moves the record from `storing` to `stored`. True when it is `stored` now, so a repeat answers true. */
  store(packageId: PackageId): Promise<boolean>;
  /** Moves the record to `deleting`, from any state. Changes nothing when there is none. */
  markDeleting(packageId: PackageId): Promise<void>;
  /** Removes a record that is `deleting`, and no other. The caller deletes the package before. */
  remove(packageId: PackageId): Promise<void>;
  /** The record in any state; undefined when there is none. */
  find(name: string, version: string): Promise<PluginRecord | undefined>;
  /** The `stored` versions of a plugin, oldest push first. */
  versionsOf(name: string): Promise<readonly PluginSummary[]>;
  /** The names of all plugins that have a `stored` version, in alphabetical order. */
  names(): Promise<readonly string[]>;
}

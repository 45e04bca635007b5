/**
 * The port of the plugin registry: one record for each version of a plugin. Names are unique within their owner. The
 * package itself is stored in the {@link BlobStore}.
 */
import type { PackageId } from "../../domain/ids.ts";
import type { Owner } from "../../domain/roles.ts";

/**
 * `storing` until the package is complete; then `stored`. `deleting` from the decision to remove it until its package
 * is gone.
 */
export type PluginState = "storing" | "stored" | "deleting";

/** The key of a version. */
export interface PluginKey {
  readonly owner: Owner;
  readonly name: string;
  readonly version: string;
}

/** A version of a plugin without its manifest, which may be long. */
export interface PluginSummary extends PluginKey {
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

/** One push: the owner says where its record is. */
export type PluginPush = Pick<PluginSummary, "owner" | "packageId">;

export interface PluginStore {
  /**
   * Stores the record of a push and answers it. When the owner has a record of this name and version, answers that one, in
   * any state.
   */
  begin(record: PluginRecord): Promise<PluginRecord>;
  /** Moves the record from `storing` to `stored`. True when it is `stored` now, so a repeat answers true. */
  store(push: PluginPush): Promise<boolean>;
  /** Moves the record to `deleting`, from any state. Changes nothing when there is none. */
  markDeleting(push: PluginPush): Promise<void>;
  /** Removes a record that is `deleting`, and no other. The caller deletes the package before. */
  remove(push: PluginPush): Promise<void>;
  /** The record in any state; undefined when there is none. */
  find(key: PluginKey): Promise<PluginRecord | undefined>;
  /** The `stored` versions of a plugin, oldest push first. */
  versionsOf(of: Omit<PluginKey, "version">): Promise<readonly PluginSummary[]>;
  /** The names of the owner's plugins that have a `stored` version, in alphabetical order. */
  names(owner: Owner): Promise<readonly string[]>;
  /** Records of the owner in any state, at most `limit`. */
  listOf(owner: Owner, limit: number): Promise<readonly PluginSummary[]>;
  /** The size of all packages of the owner, in any state. */
  bytesOf(owner: Owner): Promise<number>;
}

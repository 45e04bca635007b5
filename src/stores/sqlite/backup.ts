/**
 * Backups of the embedded store: one SQLite file with all that a restore needs. Besides the tables of the store it has
 * two of its own: one says which version made the backup and when, and holds the signing key; the other holds the
 * master keys.
 */
import { MillraceError } from "../../domain/errors.ts";
import { SqliteConnection } from "../../sqlite/connection.ts";
import { isDamaged, isFull, translateFault } from "./faults.ts";
import { refuseNewer, storedVersion } from "./migrations/migrate.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";

export interface BackupNote {
  /** The version of the program that made the backup. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
  /** The text of the signing key's file; null when the installation takes its key from the environment. */
  readonly signingKey: string | null;
}

/**
 * The texts of the master keys' files, oldest first; empty when the installation takes its keys from the environment.
 */
export type MasterKeyTexts = readonly string[];

/**
 * The identity of no existing Redis. The next owner of a shard sees that its Redis is another one, and writes
 * everything to it again.
 */
const NO_REDIS = JSON.stringify({ generation: "restored", redisRunId: "" });
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies the store at `path`, as it is at one moment, into the empty file `to`. Other processes may write to the store
 * meanwhile. Throws `unavailable`, and says what to do.
 */
export function writeBackup(path: string, to: string, note: BackupNote): void {
  using(path, (store) => {
    store.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (storedVersion(store) === 0) throw new MillraceError("unavailable", `${path} holds nothing yet to back up`);
    try {
      store.prepare("VACUUM INTO ?").run(to);
    } catch (error) {
      if (!isFull(error)) throw error;
      throw new MillraceError("unavailable", `no room for the backup ${to}: free disk space there`, { cause: error });
    }
  });
  using(to, (copy) => {
    copy.exec("CREATE TABLE backup (version TEXT NOT NULL, made_at INTEGER NOT NULL, signing_key TEXT)");
    copy.prepare("INSERT INTO backup VALUES (?, ?, ?)").run(note.version, note.madeAt, note.signingKey);
  });
}

/**
 * Adds the master keys to a backup. The caller reads the keys after the copy was made, because secrets in the copy may
 * be sealed under the newest key.
 */
export function addMasterKeys(to: string, keys: MasterKeyTexts): void {
  using(to, (copy) => {
    copy.exec("CREATE TABLE backup_master_keys (number INTEGER PRIMARY KEY, key TEXT NOT NULL)");
    const insert = copy.prepare("INSERT INTO backup_master_keys VALUES (?, ?)");
    for (const [index, key] of keys.entries()) insert.run(index + 1, key);
  });
}

/**
 * Turns a copy of a backup into a store, and answers what the backup noted. Throws `unavailable` for a file that is not
 * a backup, is damaged, or was made by a newer version; then the copy is unusable.
 */
export function unpackBackup(copy: string): BackupNote & { readonly masterKeys: MasterKeyTexts } {
  return using(copy, (store) => {
    if (!isIntact(store))
      throw new MillraceError("unavailable", "the backup is damaged, or the file is not a backup: restore another one");
    const has = (table: string) => store.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined;
    if (!has("backup")) {
      throw new MillraceError(
        "unavailable",
        "this file is not a backup: restore takes a file that `millrace backup` made",
      );
    }
    refuseNewer("the backup", storedVersion(store), MIGRATIONS.length);
    const row = store.prepare("SELECT version, made_at, signing_key FROM backup").get();
    const { version, made_at: madeAt, signing_key: signingKey } = row as Record<string, never>;
    // Backups of versions without secrets have no master keys.
    const keys = has("backup_master_keys")
      ? store.prepare("SELECT key FROM backup_master_keys ORDER BY number").all()
      : [];
    // The keys go into files of their own: `secure_delete` overwrites them in the pages that become free.
    store.pragma("secure_delete = ON");
    store.exec("BEGIN");
    store.exec("DROP TABLE backup");
    store.exec("DROP TABLE IF EXISTS backup_master_keys");
    store.prepare("UPDATE shards SET redis_identity = ?").run(NO_REDIS);
    store.exec("COMMIT");
    const masterKeys = (keys as { key: string }[]).map(({ key }) => key);
    return { version: version!, madeAt: madeAt!, signingKey: signingKey!, masterKeys };
  });
}

function isIntact(store: SqliteConnection): boolean {
  try {
    const found = store.prepare("PRAGMA integrity_check(1)").get() as { integrity_check: string };
    return found.integrity_check === "ok";
  } catch (error) {
    if (isDamaged(error)) return false;
    throw error;
  }
}

function using<T>(path: string, body: (connection: SqliteConnection) => T): T {
  let connection: SqliteConnection | undefined;
  try {
    connection = new SqliteConnection(path);
    return body(connection);
  } catch (error) {
    throw translateFault(error, path);
  } finally {
    connection?.close();
  }
}

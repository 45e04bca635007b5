/**
 * Backups of the embedded store: one SQLite file with everything that an installation is restored from. Besides the
 * tables of the store it has one of its own, which says what made it and holds the signing key.
 */
import Libsql from "libsql";
import { MillraceError } from "../../domain/errors.ts";
import { isDamaged, isFull, translateFault } from "./faults.ts";
import { refuseNewer, storedVersion } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

export interface BackupNote {
  /** Version of the program that made it. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
  /** As it stands in its file; null when the installation is given its key by the environment. */
  readonly signingKey: string | null;
}

/** As they stand in their files, the first made first; none when the installation is given them by the environment. */
export type MasterKeyTexts = readonly string[];

/** Of no Redis: whoever owns a shard next finds that the Redis it knows is another, and tells it everything. */
const NO_REDIS = JSON.stringify({ generation: "restored", redisRunId: "" });
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies the store at `path` into `to`, an empty file, as it is at one moment; others may write meanwhile. Throws
 * `unavailable` with what to do.
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

/** Adds the master keys to a backup: those of a moment after it was made, since its secrets may be under the last one. */
export function addMasterKeys(to: string, keys: MasterKeyTexts): void {
  using(to, (copy) => {
    copy.exec("CREATE TABLE backup_master_keys (number INTEGER PRIMARY KEY, key TEXT NOT NULL)");
    const insert = copy.prepare("INSERT INTO backup_master_keys VALUES (?, ?)");
    for (const [index, key] of keys.entries()) insert.run(index + 1, key);
  });
}

/**
 * Makes a store of a copy of a backup, and answers what was noted in it. Throws `unavailable` for a file that is no
 * backup, that is damaged, or that a newer version has made; then the copy is of no use.
 */
export function unpackBackup(copy: string): BackupNote & { readonly masterKeys: MasterKeyTexts } {
  return using(copy, (store) => {
    if (!isIntact(store))
      throw new MillraceError("unavailable", "the backup is damaged, or is none: restore another one");
    const has = (table: string) => store.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined;
    if (!has("backup")) {
      throw new MillraceError("unavailable", "this is no backup: restore takes what `millrace backup` has made");
    }
    refuseNewer("the backup", storedVersion(store), MIGRATIONS.length);
    const row = store.prepare("SELECT version, made_at, signing_key FROM backup").get();
    const { version, made_at: madeAt, signing_key: signingKey } = row as Record<string, never>;
    // Those of before there were secrets have none.
    const keys = has("backup_master_keys")
      ? store.prepare("SELECT key FROM backup_master_keys ORDER BY number").all()
      : [];
    // Keys are kept in files of their own: nothing of them stays in the pages that become free.
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

function isIntact(store: Libsql.Database): boolean {
  try {
    const found = store.prepare("PRAGMA integrity_check(1)").get() as { integrity_check: string };
    return found.integrity_check === "ok";
  } catch (error) {
    if (isDamaged(error)) return false;
    throw error;
  }
}

function using<T>(path: string, body: (connection: Libsql.Database) => T): T {
  let connection: Libsql.Database | undefined;
  try {
    connection = new Libsql(path);
    return body(connection);
  } catch (error) {
    throw translateFault(error, path);
  } finally {
    connection?.close();
  }
}

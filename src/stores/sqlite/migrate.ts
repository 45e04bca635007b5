/**
 * Brings the tables of a file up to date. All that is missing is one transaction, so that a failure or a kill leaves the
 * file as it was; and it holds the writer's lock, so that of several processes that start at once one migrates and the
 * others find it done.
 */
import type Libsql from "libsql";
import { MillraceError } from "../../domain/errors.ts";

/**
 * Applies those of `migrations` that the file has not seen; its `user_version` counts them and never falls. Throws
 * `unavailable` and leaves the file alone when it has seen more than there are.
 */
export function migrate(connection: Libsql.Database, path: string, migrations: readonly string[]): void {
  connection.exec("BEGIN IMMEDIATE");
  try {
    const version = storedVersion(connection);
    refuseNewer(path, version, migrations.length);
    for (let next = version; next < migrations.length; next++) connection.exec(migrations[next]!);
    connection.exec(`PRAGMA user_version = ${migrations.length}`);
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.inTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

/** How many migrations a file has seen; 0 for an empty one. */
export function storedVersion(connection: Libsql.Database): number {
  return (connection.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** Throws `unavailable`, naming both versions, when a file has seen more migrations than this program knows. */
export function refuseNewer(path: string, version: number, known: number): void {
  if (version <= known) return;
  throw new MillraceError(
    "unavailable",
    `${path} was written by a newer version of millrace (its tables have version ${version}, this one knows up to ` +
      `${known}, and there is no way back): start that version or a newer one, or restore a backup from before the upgrade`,
  );
}

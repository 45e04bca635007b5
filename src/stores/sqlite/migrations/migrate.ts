/**
 * Migrates the tables of an SQLite file. All missing migrations are one transaction, so that a failure or a kill leaves
 * the file as it was. The transaction holds the writer's lock: when several processes start at once, one migrates and
 * the others find the work done.
 */
import { MillraceError } from "../../../domain/errors.ts";
import type { SqliteConnection } from "../../../sqlite/connection.ts";

/**
 * Applies the `migrations` that the file lacks. Its `user_version` counts the applied ones and never falls. Throws
 * `unavailable`, and does not change the file, when the file has more migrations than this program knows.
 */
export function migrate(connection: SqliteConnection, path: string, migrations: readonly string[]): void {
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

/** How many migrations were applied to a file; 0 for an empty one. */
export function storedVersion(connection: SqliteConnection): number {
  return (connection.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** Throws `unavailable`, naming both versions, when a file has more migrations than this program knows. */
export function refuseNewer(path: string, version: number, known: number): void {
  if (version <= known) return;
  throw new MillraceError(
    "unavailable",
    `${path} was written by a newer version of millrace (its tables have version ${version}, this one knows up to ` +
      `${known}, and there is no way back): start that version or a newer one, or restore a backup from before the upgrade`,
  );
}

/** Throws `unavailable` when a file, which is only read, does not have exactly the migrations that this program knows. */
export function refuseOther(path: string, version: number, known: number): void {
  refuseNewer(path, version, known);
  if (version === known) return;
  throw new MillraceError(
    "unavailable",
    `${path} was written by an older version of millrace (its tables have version ${version}, this one reads ${known}): ` +
      "use the program of that version, or start this one first",
  );
}

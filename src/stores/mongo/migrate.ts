/**
 * Migrates a database, one migration at a time: a node runs the migration, and then counts it by a compare-and-set on
 * the document that holds the version. When several nodes start at once, each may run the migration, and one counts it.
 */
import type { Collection } from "mongodb";
import { MillraceError } from "../../domain/errors.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";
import type { Migration } from "./schema.ts";

interface Setting {
  readonly _id: string;
  readonly value: string;
}

const VERSION = "STORE_SCHEMA";

/**
 * Applies the `migrations` that the database lacks. Its version counts the applied ones and never falls. Rejects with
 * `unavailable`, and changes nothing, when the database has more migrations than this program knows. `openPatient` opens a
 * connection whose calls may take any time; absent for a small database.
 */
export async function migrate(
  connection: Connection,
  migrations: readonly Migration[],
  openPatient?: () => Promise<Connection>,
): Promise<void> {
  const settings = connection.collection<Setting>("settings");
  const isNew = await insertIfAbsent(settings, { _id: VERSION, value: "0" });
  let patient: Connection | undefined;
  try {
    for (;;) {
      const version = await storedVersion(settings);
      refuseNewer(version, migrations.length);
      if (version === migrations.length) return;
      if (!isNew) patient ??= await openPatient?.();
      await migrations[version]!(patient ?? connection);
      await settings.updateOne({ _id: VERSION, value: String(version) }, { $set: { value: String(version + 1) } });
    }
  } finally {
    await patient?.close();
  }
}

/** Rejects with `unavailable` when the database, which is only read, does not have exactly `known` migrations. */
export async function refuseOther(connection: Connection, known: number): Promise<void> {
  const found = await connection.collection<Setting>("settings").findOne({ _id: VERSION });
  const version = Number(found?.value ?? 0);
  refuseNewer(version, known);
  if (version === known) return;
  throw new MillraceError(
    "unavailable",
    version === 0
      ? "the database holds nothing of millrace: check MONGODB_URL and MONGODB_DATABASE"
      : `the database was written by an older version of millrace (its shape has version ${version}, this one reads ` +
          `${known}): use the program of that version, or start this one first`,
  );
}

async function storedVersion(settings: Collection<Setting>): Promise<number> {
  return Number((await settings.findOne({ _id: VERSION }))!.value);
}

function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new MillraceError(
    "unavailable",
    `the database was written by a newer version of millrace (its shape has version ${version}, this one knows up to ` +
      `${known}, and there is no way back): start that version or a newer one, or restore a backup from before the upgrade`,
  );
}

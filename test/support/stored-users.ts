/** Changes of users in a store that runs, as an operator makes them: no operation of the API changes a user. */
import type { User } from "../../src/stores/ports/identity.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

/** Writes these fields of a user into the store's file. */
export function changeStoredUser(path: string, name: string, changes: Partial<Pick<User, "disabled" | "role">>): void {
  const db = new SqliteConnection(path);
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    const row = db.prepare("SELECT body FROM users WHERE name = ?").get(name) as { readonly body: string };
    const body = JSON.stringify({ ...(JSON.parse(row.body) as User), ...changes });
    db.prepare("UPDATE users SET body = ? WHERE name = ?").run(body, name);
  } finally {
    db.close();
  }
}

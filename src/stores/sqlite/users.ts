/** The users of the identity store in SQLite. */
import type { UserId } from "../../domain/ids.ts";
import { type IdentityStore, isActiveOwner, type User } from "../ports/identity.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import type { Database } from "./database.ts";

export type UserStore = Pick<
  IdentityStore,
  "createUser" | "findUser" | "findUserByName" | "listUsers" | "changeUser" | "deleteUser"
>;

const OTHER_OWNER = `SELECT 1 AS found FROM users WHERE user_id <> ?
  AND json_extract(body, '$.role') = 'owner' AND NOT json_extract(body, '$.disabled') LIMIT 1`;

export function userStore(db: Database): UserStore {
  const find = (userId: UserId): User | undefined =>
    bodyOf<User>(db.getNow("SELECT body FROM users WHERE user_id = ?", userId));
  const isNameTaken = ({ userId, name }: Pick<User, "userId" | "name">): boolean =>
    db.getNow("SELECT 1 AS taken FROM users WHERE name = ? AND user_id <> ?", name, userId) !== undefined;
  const isLastOwner = (user: User): boolean => isActiveOwner(user) && db.getNow(OTHER_OWNER, user.userId) === undefined;

  return {
    createUser: (user) =>
      db.transaction(() => {
        if (isNameTaken(user)) return "nameTaken";
        db.runNow(
          "INSERT INTO users VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
          user.userId,
          user.name,
          user.createdAt,
          JSON.stringify(user),
        );
        return "created";
      }),
    findUser: async (userId) => bodyOf<User>(await db.get("SELECT body FROM users WHERE user_id = ?", userId)),
    findUserByName: async (name) => bodyOf<User>(await db.get("SELECT body FROM users WHERE name = ?", name)),
    listUsers: async () => bodiesOf<User>(await db.all("SELECT body FROM users ORDER BY created_at, user_id")),

    changeUser: (userId, change) =>
      db.transaction(() => {
        const stored = find(userId);
        if (stored === undefined) return "missing";
        const user: User = { ...stored, ...change };
        if (isNameTaken(user)) return "nameTaken";
        if (!isActiveOwner(user) && isLastOwner(stored)) return "lastOwner";
        db.runNow("UPDATE users SET name = ?, body = ? WHERE user_id = ?", user.name, JSON.stringify(user), userId);
        return "changed";
      }),
    deleteUser: (userId) =>
      db.transaction(() => {
        const stored = find(userId);
        if (stored === undefined) return "missing";
        if (isLastOwner(stored)) return "lastOwner";
        db.runNow("DELETE FROM tokens WHERE kind = 'personal' AND subject = ?", userId);
        for (const table of ["sessions", "identities"]) db.runNow(`DELETE FROM ${table} WHERE user_id = ?`, userId);
        db.runNow("DELETE FROM vouchers WHERE subject = ?", userId);
        db.runNow("DELETE FROM users WHERE user_id = ?", userId);
        return "deleted";
      }),
  };
}

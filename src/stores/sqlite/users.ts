/** The users of the identity store in SQLite. */
import type { UserId } from "../../domain/ids.ts";
import type { RoleInArea } from "../../domain/roles.ts";
import {
  type IdentityStore,
  isActiveOwner,
  storedUser,
  type FoundUser,
  type StoredToken,
  type StoredUser,
  type TokenWithUser,
  tokenOf,
  type User,
  userOf,
} from "../ports/identity.ts";
import { isAsExpected } from "../ports/expected.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import type { Database, Row } from "./database.ts";
import { ReadMemory } from "./read-memory.ts";

export type UserStore = Pick<
  IdentityStore,
  "createUser" | "findUser" | "findProof" | "findUserByName" | "listUsers" | "listOwnedBy" | "changeUser" | "deleteUser"
>;

const OTHER_OWNER = `SELECT 1 AS found FROM users WHERE user_id <> ?
  AND json_extract(body, '$.role') = 'owner' AND NOT json_extract(body, '$.disabled') LIMIT 1`;

const WITH_USER = `SELECT tokens.body AS token, users.body AS body, (
    SELECT json_group_array(json(bindings.body)) FROM bindings WHERE subject_id IN
      (SELECT users.user_id UNION ALL SELECT team_id FROM team_members WHERE team_members.user_id = users.user_id)
  ) AS bindings
  FROM tokens LEFT JOIN users ON users.user_id = tokens.subject AND tokens.kind = 'personal' WHERE token_id = ?`;

const WITH_RIGHTS = `SELECT body, (
    SELECT json_group_array(json(bindings.body)) FROM bindings
    WHERE subject_id IN (SELECT ?1 UNION ALL SELECT team_id FROM team_members WHERE user_id = ?1)
  ) AS bindings FROM users WHERE user_id = ?1`;

export function userStore(db: Database): UserStore {
  const proofs = new ReadMemory<TokenWithUser | undefined>(db, ["tokens", "users", "bindings", "team_members"]);
  const find = (userId: UserId): User | undefined =>
    toUser(db.getNow("SELECT body FROM users WHERE user_id = ?", userId));
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
          JSON.stringify(storedUser(user)),
        );
        return "created";
      }),
    async findUser(userId) {
      return foundUser(await db.get(WITH_RIGHTS, userId));
    },
    findProof: (tokenId) => proofs.get(tokenId, () => proofOf(db.getNow(WITH_USER, tokenId))),
    findUserByName: async (name) => toUser(await db.get("SELECT body FROM users WHERE name = ?", name)),
    listUsers: async () => toUsers(await db.all("SELECT body FROM users ORDER BY created_at, user_id")),
    listOwnedBy: async (area) =>
      toUsers(
        await db.all(
          "SELECT body FROM users WHERE json_extract(body, '$.ownedBy') = ? ORDER BY created_at, user_id",
          JSON.stringify(area),
        ),
      ),

    changeUser: (userId, change, expected = {}) =>
      db.transaction(() => {
        const stored = find(userId);
        if (stored === undefined) return "missing";
        if (!isAsExpected(stored, expected)) return "moved";
        const user: User = { ...stored, ...change };
        if (isNameTaken(user)) return "nameTaken";
        if (!isActiveOwner(user) && isLastOwner(stored)) return "lastOwner";
        const body = JSON.stringify(storedUser(user));
        db.runNow("UPDATE users SET name = ?, body = ? WHERE user_id = ?", user.name, body, userId);
        return "changed";
      }),
    deleteUser: (userId) =>
      db.transaction(() => {
        const stored = find(userId);
        if (stored === undefined) return "missing";
        if (isLastOwner(stored)) return "lastOwner";
        db.runNow("DELETE FROM tokens WHERE kind = 'personal' AND subject = ?", userId);
        db.runNow("DELETE FROM bindings WHERE subject_id = ?", userId);
        db.runNow("DELETE FROM team_members WHERE user_id = ?", userId);
        for (const table of ["sessions", "identities"]) db.runNow(`DELETE FROM ${table} WHERE user_id = ?`, userId);
        db.runNow("DELETE FROM vouchers WHERE subject = ?", userId);
        db.runNow("DELETE FROM users WHERE user_id = ?", userId);
        return "deleted";
      }),
  };
}

function proofOf(row: Row | undefined): TokenWithUser | undefined {
  if (row === undefined) return undefined;
  const token = tokenOf(JSON.parse(row["token"] as string) as StoredToken);
  return { token, user: row["body"] === null ? undefined : foundUser(row) };
}

function foundUser(row: Row | undefined): FoundUser | undefined {
  const user = toUser(row);
  const bindings = JSON.parse((row?.["bindings"] as string | undefined) ?? "[]") as readonly RoleInArea[];
  return user && bindings.length > 0 ? { ...user, bindings } : user;
}

function toUser(row: Row | undefined): User | undefined {
  const stored = bodyOf<StoredUser>(row);
  return stored && userOf(stored);
}

function toUsers(rows: readonly Row[]): readonly User[] {
  return bodiesOf<StoredUser>(rows).map(userOf);
}

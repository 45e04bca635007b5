/**
 * The users of the identity store in MongoDB.
 *
 * One document counts the active owners, because no update of one user can look at the others. A user is counted after
 * becoming an owner, and is no longer counted before ceasing to be one. So a node that dies in between leaves too few
 * owners counted and never too many: at worst an owner cannot be removed until another user becomes an owner.
 */
import type { Collection } from "mongodb";
import type { UserId } from "../../domain/ids.ts";
import type { RoleInArea } from "../../domain/roles.ts";
import {
  type IdentityStore,
  isActiveOwner,
  storedUser,
  type StoredUser,
  type User,
  userOf,
} from "../ports/identity.ts";
import { isAsExpected } from "../ports/expected.ts";
import { bodiesOf, bodyAsExpected, bodyOf } from "./bodies.ts";
import { type Connection, insertIfAbsent, isDuplicateKey, type Keyed } from "./connection.ts";

export type UserStore = Pick<
  IdentityStore,
  "createUser" | "findUser" | "findUserByName" | "listUsers" | "listOwnedBy" | "changeUser" | "deleteUser"
>;

/** The collection of the document that counts the active owners. Without it, they are counted from the users. */
export const USER_COUNTS = "user_counts";

interface OwnersDocument {
  readonly _id: "owners";
  readonly userIds: readonly UserId[];
}

export function userStore(connection: Connection): UserStore {
  const users = connection.collection("users");
  const tokens = connection.collection("tokens");
  const members = connection.collection("team_members");
  const bindings = connection.collection("bindings");
  const find = async (userId: UserId): Promise<User | undefined> => toUser(await users.findOne({ _id: userId }));
  const list = async (filter: object): Promise<readonly User[]> =>
    bodiesOf<StoredUser>(await users.find(filter).sort({ createdAt: 1, _id: 1 }).toArray()).map(userOf);
  const listUsers = (): Promise<readonly User[]> => list({});
  const owners = new Owners(connection, find, listUsers);

  async function update(filter: object, stored: User, user: User): Promise<"changed" | "raced" | "nameTaken"> {
    try {
      return (await users.updateOne(filter, changes(stored, user))).matchedCount > 0 ? "changed" : "raced";
    } catch (error) {
      if (isDuplicateKey(error)) return "nameTaken";
      throw error;
    }
  }

  return {
    async createUser(user) {
      const { userId, name, createdAt } = user;
      const inserted = await insertIfAbsent(users, { _id: userId, name, createdAt, body: storedUser(user) });
      if (!inserted && (await users.findOne({ _id: userId })) === null) return "nameTaken";
      if (isActiveOwner(user)) await owners.recount(userId);
      return "created";
    },
    async findUser(userId) {
      const [user, own, teams] = await Promise.all([
        find(userId),
        bindings.find({ subjectId: userId }).toArray(),
        members.find({ userId }).toArray(),
      ]);
      const teamIds = teams.map(({ teamId }) => teamId as string);
      const ofTeams = teamIds.length === 0 ? [] : await bindings.find({ subjectId: { $in: teamIds } }).toArray();
      const all = bodiesOf<RoleInArea>([...own, ...ofTeams]);
      return user && all.length > 0 ? { ...user, bindings: all } : user;
    },
    findUserByName: async (name) => toUser(await users.findOne({ name })),
    listUsers,
    listOwnedBy: (area) => list({ "body.ownedBy": area }),

    async changeUser(userId, change, expected = {}) {
      for (;;) {
        const stored = await find(userId);
        if (stored === undefined) return "missing";
        if (!isAsExpected(stored, expected)) return "moved";
        const user = { ...stored, ...change };
        const ceases = isActiveOwner(stored) && !isActiveOwner(user);
        if (ceases && !(await owners.remove(userId))) return "lastOwner";
        // Another call may have made the user an owner, or no owner, since the user was read.
        const { role, disabled, withoutRole = null } = storedUser(stored);
        const { role: _r, disabled: _d, ...others } = expected;
        const unchanged = {
          _id: userId,
          ...bodyAsExpected(others),
          "body.role": role,
          "body.disabled": disabled,
          "body.withoutRole": withoutRole,
        };
        const outcome = await update(unchanged, stored, user);
        if (ceases && outcome !== "changed") await owners.recount(userId);
        if (outcome === "raced") continue;
        if (outcome === "changed" && isActiveOwner(user)) await owners.recount(userId);
        return outcome;
      }
    },
    async deleteUser(userId) {
      const stored = await find(userId);
      if (stored === undefined) return "missing";
      if (isActiveOwner(stored) && !(await owners.remove(userId))) return "lastOwner";
      await tokens.deleteMany({ kind: "personal", subject: userId });
      await bindings.deleteMany({ subjectId: userId });
      await members.deleteMany({ userId });
      for (const name of ["sessions", "identities"] as const) await connection.collection(name).deleteMany({ userId });
      await connection.collection("vouchers").deleteMany({ subject: userId });
      await users.deleteOne({ _id: userId });
      return "deleted";
    },
  };
}

function toUser(document: Keyed | null): User | undefined {
  const stored = bodyOf<StoredUser>(document);
  return stored && userOf(stored);
}

/** The fields that differ: another call may change the other ones at the same time. */
function changes(before: User, after: User): object {
  const [old, fresh] = [storedUser(before), storedUser(after)];
  const differing = Object.entries(fresh).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(old[field as keyof StoredUser]),
  );
  const set = Object.fromEntries(differing.map(([field, value]) => [`body.${field}`, value]));
  const isGone = old.withoutRole !== undefined && fresh.withoutRole === undefined;
  return { $set: { name: fresh.name, ...set }, ...(isGone ? { $unset: { "body.withoutRole": "" } } : {}) };
}

class Owners {
  readonly #counted: Collection<OwnersDocument>;
  readonly #find: (userId: UserId) => Promise<User | undefined>;
  readonly #listUsers: () => Promise<readonly User[]>;

  constructor(
    connection: Connection,
    find: (userId: UserId) => Promise<User | undefined>,
    listUsers: () => Promise<readonly User[]>,
  ) {
    this.#counted = connection.collection<OwnersDocument>(USER_COUNTS);
    this.#find = find;
    this.#listUsers = listUsers;
  }

  /** Counts the user if the user is an active owner. Another call may have changed that since the caller looked. */
  async recount(userId: UserId): Promise<void> {
    await this.#begin();
    await this.#counted.updateOne({ _id: "owners" }, { $addToSet: { userIds: userId } });
    const user = await this.#find(userId);
    if (user !== undefined && isActiveOwner(user)) return;
    await this.#counted.updateOne({ _id: "owners" }, { $pull: { userIds: userId } });
  }

  /** False when the user is the last owner that is counted, or when only the user could be counted. */
  async remove(userId: UserId): Promise<boolean> {
    await this.#begin();
    const amongOthers = { _id: "owners", userIds: userId, "userIds.1": { $exists: true } } as const;
    if ((await this.#counted.updateOne(amongOthers, { $pull: { userIds: userId } })).matchedCount > 0) return true;
    const { userIds } = (await this.#counted.findOne({ _id: "owners" }))!;
    return userIds.some((counted) => counted !== userId);
  }

  /** Counts the owners of an installation that has not counted them before. */
  async #begin(): Promise<void> {
    if ((await this.#counted.findOne({ _id: "owners" })) !== null) return;
    const userIds = (await this.#listUsers()).filter(isActiveOwner).map(({ userId }) => userId);
    await insertIfAbsent(this.#counted, { _id: "owners", userIds });
  }
}

/**
 * The users of the identity store in MongoDB.
 *
 * One document counts the active owners, because no update of one user can look at the others. A user is counted after
 * becoming an owner, and is no longer counted before ceasing to be one. So a node that dies in between leaves too few
 * owners counted and never too many: at worst an owner cannot be removed until another user becomes an owner.
 */
import type { Collection } from "mongodb";
import type { UserId } from "../../domain/ids.ts";
import { type IdentityStore, isActiveOwner, type User, type UserChange } from "../ports/identity.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import { type Connection, insertIfAbsent, isDuplicateKey } from "./connection.ts";

export type UserStore = Pick<
  IdentityStore,
  "createUser" | "findUser" | "findUserByName" | "listUsers" | "changeUser" | "deleteUser"
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
  const find = async (userId: UserId): Promise<User | undefined> => bodyOf<User>(await users.findOne({ _id: userId }));
  const listUsers = async (): Promise<readonly User[]> =>
    bodiesOf<User>(await users.find().sort({ createdAt: 1, _id: 1 }).toArray());
  const owners = new Owners(connection, find, listUsers);

  async function update(filter: object, change: UserChange): Promise<"changed" | "raced" | "nameTaken"> {
    try {
      return (await users.updateOne(filter, { $set: fieldsOf(change) })).matchedCount > 0 ? "changed" : "raced";
    } catch (error) {
      if (isDuplicateKey(error)) return "nameTaken";
      throw error;
    }
  }

  return {
    async createUser(user) {
      const { userId, name, createdAt } = user;
      const inserted = await insertIfAbsent(users, { _id: userId, name, createdAt, body: user });
      if (!inserted && (await users.findOne({ _id: userId })) === null) return "nameTaken";
      if (isActiveOwner(user)) await owners.recount(userId);
      return "created";
    },
    findUser: find,
    findUserByName: async (name) => bodyOf<User>(await users.findOne({ name })),
    listUsers,

    async changeUser(userId, change) {
      for (;;) {
        const stored = await find(userId);
        if (stored === undefined) return "missing";
        const ceases = isActiveOwner(stored) && !isActiveOwner({ ...stored, ...change });
        if (ceases && !(await owners.remove(userId))) return "lastOwner";
        // Another call may have made the user an owner, or no owner, since the user was read.
        const unchanged = { _id: userId, "body.role": stored.role, "body.disabled": stored.disabled };
        const outcome = await update(unchanged, change);
        if (ceases && outcome !== "changed") await owners.recount(userId);
        if (outcome === "raced") continue;
        if (outcome === "changed" && isActiveOwner({ ...stored, ...change })) await owners.recount(userId);
        return outcome;
      }
    },
    async deleteUser(userId) {
      const stored = await find(userId);
      if (stored === undefined) return "missing";
      if (isActiveOwner(stored) && !(await owners.remove(userId))) return "lastOwner";
      await tokens.deleteMany({ kind: "personal", subject: userId });
      for (const name of ["sessions", "identities"]) await connection.collection(name).deleteMany({ userId });
      await connection.collection("vouchers").deleteMany({ subject: userId });
      await users.deleteOne({ _id: userId });
      return "deleted";
    },
  };
}

function fieldsOf(change: UserChange): Readonly<Record<string, unknown>> {
  const body = Object.entries(change).map(([field, value]) => [`body.${field}`, value] as const);
  return { ...Object.fromEntries(body), ...(change.name === undefined ? {} : { name: change.name }) };
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

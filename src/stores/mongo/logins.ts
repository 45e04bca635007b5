/** The store of logins in MongoDB. */
import { hash } from "node:crypto";
import type { Collection, Filter } from "mongodb";
import type { SessionId } from "../../domain/ids.ts";
import type { Voucher, LinkedIdentity, LoginSession, LoginStore } from "../ports/logins.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

interface SessionDocument extends LoginSession {
  readonly _id: SessionId;
}

/** Each document has an alias, because its index is unique: the hash stands for none. */
interface VoucherDocument extends Omit<Voucher, "hash"> {
  readonly _id: string;
  readonly alias: string;
}

interface IdentityDocument extends LinkedIdentity {
  readonly _id: string;
}

const WITHOUT_ID = { _id: 0 } as const;

export function loginStore(connection: Connection): LoginStore {
  const sessions = connection.collection<SessionDocument>("sessions");
  const vouchers = connection.collection<VoucherDocument>("vouchers");
  const identities = connection.collection<IdentityDocument>("identities");
  const findVoucher = async (filter: Filter<VoucherDocument>): Promise<Voucher | undefined> =>
    voucherOf(await vouchers.findOne(filter));

  return {
    async createSession(session) {
      await insertIfAbsent(sessions, { _id: session.sessionId, ...session });
    },
    findSession: async (sessionId) =>
      (await sessions.findOne<LoginSession>({ _id: sessionId }, { projection: WITHOUT_ID })) ?? undefined,
    listSessions: (userId) =>
      sessions.find<LoginSession>({ userId }, { projection: WITHOUT_ID }).sort({ createdAt: 1, _id: 1 }).toArray(),
    async rotateSession(sessionId, generation, { at, expiresAt }) {
      const next = { generation: generation + 1, rotatedAt: at, lastUsedAt: at, expiresAt };
      return (await sessions.updateOne({ _id: sessionId, generation }, { $set: next })).matchedCount > 0;
    },
    async noteSessionUse(sessionId, { at, expiresAt }) {
      await sessions.updateOne({ _id: sessionId }, { $set: { lastUsedAt: at, expiresAt } });
    },
    endSession: async (sessionId) => (await sessions.deleteOne({ _id: sessionId })).deletedCount > 0,
    endSessionsOf: async (userId) => void (await sessions.deleteMany({ userId })),
    forgetSessions: (before, limit) => forgetExpired(sessions, before, limit),

    putVoucher({ hash: _id, alias, ...others }) {
      return insertIfAbsent(vouchers, { _id, alias: alias ?? _id, ...others });
    },
    findVoucher: (kind, _id) => findVoucher({ _id, kind }),
    findVoucherByAlias: (kind, alias) => findVoucher({ alias, kind }),
    moveVoucher: async (_id, from, { state, subject }) =>
      (await vouchers.updateOne({ _id, state: from }, { $set: { state, subject } })).matchedCount > 0,
    takeVoucher: async (kind, _id, state) => voucherOf(await vouchers.findOneAndDelete({ _id, kind, state })),
    dropVouchers: async (kinds, subject) => void (await vouchers.deleteMany({ subject, kind: { $in: kinds } })),
    countVouchers: (kind, now, most) => vouchers.countDocuments({ kind, expiresAt: { $gt: now } }, { limit: most }),
    forgetVouchers: (before, limit) => forgetExpired(vouchers, before, limit),

    linkIdentity: (identity) => insertIfAbsent(identities, { _id: identityId(identity), ...identity }),
    findIdentity: async (issuer, subject) =>
      (await identities.findOne<LinkedIdentity>(
        { _id: identityId({ issuer, subject }) },
        { projection: WITHOUT_ID },
      )) ?? undefined,
    listIdentities: (userId) =>
      identities.find<LinkedIdentity>({ userId }, { projection: WITHOUT_ID }).sort({ issuer: 1, subject: 1 }).toArray(),
    unlinkIdentities: async (userId) => void (await identities.deleteMany({ userId })),
  };
}

async function forgetExpired<T extends { _id: string; expiresAt: number }>(
  collection: Collection<T>,
  before: number,
  limit: number,
): Promise<number> {
  const old = { expiresAt: { $lt: before } } as Filter<T>;
  const found = await collection
    .find(old, { projection: { _id: 1 } })
    .limit(limit)
    .toArray();
  if (found.length === 0) return 0;
  return (await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } } as Filter<T>)).deletedCount;
}

function voucherOf(document: VoucherDocument | null): Voucher | undefined {
  if (document === null) return undefined;
  const { _id, alias, ...others } = document;
  return { hash: _id, alias: alias === _id ? null : alias, ...others };
}

/** A digest, because a subject may be longer than an index key. */
function identityId({ issuer, subject }: Pick<LinkedIdentity, "issuer" | "subject">): string {
  return hash("sha256", JSON.stringify([issuer, subject]), "hex");
}

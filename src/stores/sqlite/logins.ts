/** The store of logins in SQLite. */
import type { Voucher, LinkedIdentity, LoginSession, LoginStore } from "../ports/logins.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import type { Database } from "./database.ts";

export function loginStore(db: Database): LoginStore {
  return {
    async createSession(session) {
      const { sessionId, userId, createdAt, expiresAt } = session;
      await db.run(
        "INSERT INTO sessions VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        sessionId,
        userId,
        createdAt,
        expiresAt,
        JSON.stringify(session),
      );
    },
    findSession: async (sessionId) =>
      bodyOf<LoginSession>(await db.get("SELECT body FROM sessions WHERE session_id = ?", sessionId)),
    listSessions: async (userId) =>
      bodiesOf<LoginSession>(
        await db.all("SELECT body FROM sessions WHERE user_id = ? ORDER BY created_at, session_id", userId),
      ),
    rotateSession: async (sessionId, generation, { at, expiresAt }) =>
      (await db.run(
        `UPDATE sessions SET expires_at = ?1, body = json_set(body, '$.generation', ?2, '$.rotatedAt', ?3,
           '$.lastUsedAt', ?3, '$.expiresAt', ?1)
         WHERE session_id = ?4 AND body ->> '$.generation' = ?5`,
        expiresAt,
        generation + 1,
        at,
        sessionId,
        generation,
      )) > 0,
    async noteSessionUse(sessionId, { at, expiresAt }) {
      await db.run(
        `UPDATE sessions SET expires_at = ?1, body = json_set(body, '$.lastUsedAt', ?2, '$.expiresAt', ?1)
         WHERE session_id = ?3`,
        expiresAt,
        at,
        sessionId,
      );
    },
    endSession: async (sessionId) => (await db.run("DELETE FROM sessions WHERE session_id = ?", sessionId)) > 0,
    endSessionsOf: async (userId) => void (await db.run("DELETE FROM sessions WHERE user_id = ?", userId)),
    forgetSessions: (before, limit) =>
      db.run(
        `DELETE FROM sessions WHERE session_id IN
           (SELECT session_id FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
        before,
        limit,
      ),

    putVoucher: async (voucher) => {
      const { hash, alias, kind, subject, state, expiresAt, facts } = voucher;
      const sql = "INSERT INTO vouchers VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
      return (await db.run(sql, hash, alias, kind, subject, state, expiresAt, JSON.stringify(facts))) > 0;
    },
    findVoucher: async (kind, hash) =>
      voucherOf(await db.get("SELECT * FROM vouchers WHERE voucher_hash = ? AND kind = ?", hash, kind)),
    findVoucherByAlias: async (kind, alias) =>
      voucherOf(await db.get("SELECT * FROM vouchers WHERE alias = ? AND kind = ?", alias, kind)),
    moveVoucher: async (hash, from, { state, subject }) =>
      (await db.run(
        "UPDATE vouchers SET state = ?, subject = ? WHERE voucher_hash = ? AND state = ?",
        state,
        subject,
        hash,
        from,
      )) > 0,
    takeVoucher: (kind, hash, state) =>
      db.transaction(() => {
        const found = db.getNow(
          "SELECT * FROM vouchers WHERE voucher_hash = ? AND kind = ? AND state = ?",
          hash,
          kind,
          state,
        );
        if (found !== undefined) db.runNow("DELETE FROM vouchers WHERE voucher_hash = ?", hash);
        return voucherOf(found);
      }),
    dropVouchers: (kinds, subject) =>
      db.transaction(() => {
        for (const kind of kinds) db.runNow("DELETE FROM vouchers WHERE subject = ? AND kind = ?", subject, kind);
      }),
    async countVouchers(kind, now, most) {
      const sql = "SELECT count(*) AS n FROM (SELECT 1 FROM vouchers WHERE kind = ? AND expires_at > ? LIMIT ?)";
      return (await db.get(sql, kind, now, most))!["n"] as number;
    },
    forgetVouchers: (before, limit) =>
      db.run(
        `DELETE FROM vouchers WHERE voucher_hash IN
           (SELECT voucher_hash FROM vouchers WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
        before,
        limit,
      ),

    linkIdentity: async (identity) => {
      const { issuer, subject, userId } = identity;
      const sql = "INSERT INTO identities VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
      return (await db.run(sql, issuer, subject, userId, JSON.stringify(identity))) > 0;
    },
    findIdentity: async (issuer, subject) =>
      bodyOf<LinkedIdentity>(
        await db.get("SELECT body FROM identities WHERE issuer = ? AND subject = ?", issuer, subject),
      ),
    listIdentities: async (userId) =>
      bodiesOf<LinkedIdentity>(
        await db.all("SELECT body FROM identities WHERE user_id = ? ORDER BY issuer, subject", userId),
      ),
    unlinkIdentities: async (userId) => void (await db.run("DELETE FROM identities WHERE user_id = ?", userId)),
  };
}

function voucherOf(row: Awaited<ReturnType<Database["get"]>>): Voucher | undefined {
  return (
    row && {
      hash: row["voucher_hash"] as string,
      alias: row["alias"] as string | null,
      kind: row["kind"] as Voucher["kind"],
      subject: row["subject"] as string,
      state: row["state"] as string,
      expiresAt: row["expires_at"] as number,
      facts: JSON.parse(row["facts"] as string) as Voucher["facts"],
    }
  );
}

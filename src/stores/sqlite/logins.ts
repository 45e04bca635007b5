/** The store of logins in SQLite. */
import type { Grant, LinkedIdentity, LoginSession, LoginStore } from "../ports/logins.ts";
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

    putGrant: async (grant) => {
      const { hash, alias, kind, subject, state, expiresAt, facts } = grant;
      const sql = "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
      return (await db.run(sql, hash, alias, kind, subject, state, expiresAt, JSON.stringify(facts))) > 0;
    },
    findGrant: async (kind, hash) =>
      grantOf(await db.get("SELECT * FROM grants WHERE grant_hash = ? AND kind = ?", hash, kind)),
    findGrantByAlias: async (kind, alias) =>
      grantOf(await db.get("SELECT * FROM grants WHERE alias = ? AND kind = ?", alias, kind)),
    moveGrant: async (hash, from, { state, subject }) =>
      (await db.run(
        "UPDATE grants SET state = ?, subject = ? WHERE grant_hash = ? AND state = ?",
        state,
        subject,
        hash,
        from,
      )) > 0,
    takeGrant: (kind, hash, state) =>
      db.transaction(() => {
        const found = db.getNow(
          "SELECT * FROM grants WHERE grant_hash = ? AND kind = ? AND state = ?",
          hash,
          kind,
          state,
        );
        if (found !== undefined) db.runNow("DELETE FROM grants WHERE grant_hash = ?", hash);
        return grantOf(found);
      }),
    dropGrants: (kinds, subject) =>
      db.transaction(() => {
        for (const kind of kinds) db.runNow("DELETE FROM grants WHERE subject = ? AND kind = ?", subject, kind);
      }),
    async countGrants(kind, now, most) {
      const sql = "SELECT count(*) AS n FROM (SELECT 1 FROM grants WHERE kind = ? AND expires_at > ? LIMIT ?)";
      return (await db.get(sql, kind, now, most))!["n"] as number;
    },
    forgetGrants: (before, limit) =>
      db.run(
        `DELETE FROM grants WHERE grant_hash IN
           (SELECT grant_hash FROM grants WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
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

function grantOf(row: Awaited<ReturnType<Database["get"]>>): Grant | undefined {
  return (
    row && {
      hash: row["grant_hash"] as string,
      alias: row["alias"] as string | null,
      kind: row["kind"] as Grant["kind"],
      subject: row["subject"] as string,
      state: row["state"] as string,
      expiresAt: row["expires_at"] as number,
      facts: JSON.parse(row["facts"] as string) as Grant["facts"],
    }
  );
}

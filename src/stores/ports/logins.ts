/**
 * The port of logins: sessions, one-time vouchers, and the identities that users have at other providers. No secret is
 * stored: a session's secrets follow from its id and generation, and a voucher is found by the hash of its text. Times are
 * Unix milliseconds.
 */
import type { SessionId, TokenId, UserId } from "../../domain/ids.ts";

export const SESSION_KINDS = ["api", "browser", "device"] as const;
/** `api`: a login by password over the API. `browser`: a cookie. `device`: a program that a user admitted. */
export type SessionKind = (typeof SESSION_KINDS)[number];

/** The personal token for which a browser was given a session. */
export interface TokenBehindSession {
  readonly tokenId: TokenId;
  /** Null for a token that never expires. */
  readonly expiresAt: number | null;
}

/** What one login keeps open. An ended session is removed. */
export interface LoginSession {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  readonly kind: SessionKind;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  /** The network of the caller who logged in. */
  readonly address: string;
  /** The program of the caller, as it names itself, in a bounded form. */
  readonly userAgent: string;
  /** Counts the refreshes. The refresh token of an earlier generation is spent. */
  readonly generation: number;
  /** The last refresh; the creation when there was none. */
  readonly rotatedAt: number;
  /** The session ends with this token and has no more rights than the token. Absent for the login of a user. */
  readonly token?: TokenBehindSession;
}

/** A refresh or a use of a session. */
export interface SessionUse {
  readonly at: number;
  readonly expiresAt: number;
}

export const VOUCHER_KINDS = ["ticket", "invitation", "reset", "device"] as const;
export type VoucherKind = (typeof VOUCHER_KINDS)[number];

/** Something that is used once: a ticket, a link, the code of a device. */
export interface Voucher {
  /** SHA-256 of the secret text, hexadecimal; unique. */
  readonly hash: string;
  readonly kind: VoucherKind;
  /** A second unique name: the hash of a device's user code. Null for the other kinds. */
  readonly alias: string | null;
  /** The user whom it concerns; empty for a device that no user has admitted. */
  readonly subject: string;
  readonly expiresAt: number;
  /** For a device: `pending`, `approved` or `denied`. Empty for the other kinds. */
  readonly state: string;
  /** What the kind needs besides. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

/** A user of another provider who is a user here. */
export interface LinkedIdentity {
  readonly issuer: string;
  /** The user's id at the issuer. */
  readonly subject: string;
  readonly userId: UserId;
  readonly createdAt: number;
}

export interface LoginStore {
  /** Stores a new session. A repeat of the id changes nothing. */
  createSession(session: LoginSession): Promise<void>;
  findSession(sessionId: SessionId): Promise<LoginSession | undefined>;
  /** The sessions of a user, oldest first. */
  listSessions(userId: UserId): Promise<readonly LoginSession[]>;
  /** Begins the next generation. False, and nothing changes, when the session is gone or no longer in `generation`. */
  rotateSession(sessionId: SessionId, generation: number, use: SessionUse): Promise<boolean>;
  /** Notes a use that begins no generation. Changes nothing when the session is gone. */
  noteSessionUse(sessionId: SessionId, use: SessionUse): Promise<void>;
  /** False when the session was gone. */
  endSession(sessionId: SessionId): Promise<boolean>;
  endSessionsOf(userId: UserId): Promise<void>;
  /** Removes up to `limit` sessions that expired before `before`; answers how many. */
  forgetSessions(before: number, limit: number): Promise<number>;

  /** Stores a new voucher. False when its hash or alias is taken. */
  putVoucher(voucher: Voucher): Promise<boolean>;
  findVoucher(kind: VoucherKind, hash: string): Promise<Voucher | undefined>;
  findVoucherByAlias(kind: VoucherKind, alias: string): Promise<Voucher | undefined>;
  /** Moves a voucher to another state, with its subject. False when it is gone or not in the state `from`. */
  moveVoucher(hash: string, from: string, to: Pick<Voucher, "state" | "subject">): Promise<boolean>;
  /** Removes a voucher that is in `state`, and answers it. Of concurrent calls one gets it. */
  takeVoucher(kind: VoucherKind, hash: string, state: string): Promise<Voucher | undefined>;
  /** Removes all vouchers of these kinds that concern the user. */
  dropVouchers(kinds: readonly VoucherKind[], subject: UserId): Promise<void>;
  /** The number of vouchers of a kind that expire after `now`; counts no further than `most`. */
  countVouchers(kind: VoucherKind, now: number, most: number): Promise<number>;
  /** Removes up to `limit` vouchers that expired before `before`; answers how many. */
  forgetVouchers(before: number, limit: number): Promise<number>;

  /** False when the issuer's user is linked already. */
  linkIdentity(identity: LinkedIdentity): Promise<boolean>;
  findIdentity(issuer: string, subject: string): Promise<LinkedIdentity | undefined>;
  listIdentities(userId: UserId): Promise<readonly LinkedIdentity[]>;
  unlinkIdentities(userId: UserId): Promise<void>;
}

/**
 * Logins of programs that have no browser (RFC 8628): the program asks for a code, a user who is logged in confirms it in
 * a browser, and the program, which asks again and again, gets a session of that user.
 */
import { randomBytes, randomInt } from "node:crypto";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type UserId } from "../../domain/ids.ts";
import type { Voucher } from "../../stores/ports/logins.ts";
import { shape, wholeNumber } from "../shapes.ts";
import { authoriseUser, type UserCaller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { accessOf, beginSession, boundedAgent, type LoginPlace } from "./login-sessions.ts";
import { hashOf } from "./one-time.ts";
import { refreshTokenOf } from "./session-secrets.ts";
import { tooMany, Tries } from "./tries.ts";

const LIFE_SECONDS = 900;
const INTERVAL_SECONDS = 5;
/** Codes that wait for a user. Anyone may ask for one, and each is a row of the store. */
const MAX_WAITING = 1_000;
/** No vowels, so that a code is no word, and nothing that looks like something else: RFC 8628, section 6.1. */
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_CHARACTERS = 8;
/** Devices whose last question is remembered. */
const MAX_PACES = 2 * MAX_WAITING;

/** The answer of RFC 8628, section 3.2. */
export const DeviceCodeShape = shape("DeviceCode", () => ({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: wholeNumber,
  interval: wholeNumber,
}));
export type DeviceCodeView = z.infer<typeof DeviceCodeShape>;

/** The answer of RFC 6749, section 5.1. */
export const DeviceTokensShape = shape("DeviceTokens", () => ({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  expires_in: wholeNumber,
  refresh_token: z.string(),
}));
export type DeviceTokenView = z.infer<typeof DeviceTokensShape>;

/** The words of RFC 8628, section 3.5, and of RFC 6749, section 5.2. */
export const DeviceRefusalShape = shape("DeviceRefusal", () => ({
  error: z.enum([
    "authorization_pending",
    "slow_down",
    "access_denied",
    "expired_token",
    "invalid_grant",
    "invalid_request",
    "unsupported_grant_type",
  ]),
  error_description: z.string(),
}));
export type DeviceRefusal = z.infer<typeof DeviceRefusalShape>["error"];

/** A device that asks for a login, for the user who confirms it. */
export interface WaitingDevice {
  readonly userCode: string;
  /** As the program names itself. */
  readonly client: string;
  readonly address: string;
}

/** Throws `too_many` while too many devices wait. */
export async function requestDeviceCode(
  context: IdentityContext,
  { client, address, userAgent }: LoginPlace & { readonly client: string },
  publicUrl: string,
): Promise<DeviceCodeView> {
  const { logins } = context.stores;
  const now = context.clock.now();
  if ((await logins.countVouchers("device", now, MAX_WAITING)) >= MAX_WAITING) {
    throw new MillraceError("too_many", "too many devices wait for a login: try again", { retryAfterSeconds: 60 });
  }
  const deviceCode = `mrd_${randomBytes(32).toString("hex")}`;
  const facts = { client: boundedAgent(client), address, userAgent: boundedAgent(userAgent) };
  const voucher = {
    kind: "device",
    subject: "",
    state: "pending",
    expiresAt: now + LIFE_SECONDS * 1_000,
    facts,
  } as const;
  for (;;) {
    const code = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    // Another device may have the same code.
    if (!(await logins.putVoucher({ ...voucher, hash: hashOf(deviceCode), alias: hashOf(code) }))) continue;
    const userCode = `${code.slice(0, 4)}-${code.slice(4)}`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${publicUrl}/device`,
      verification_uri_complete: `${publicUrl}/device?user_code=${userCode}`,
      expires_in: LIFE_SECONDS,
      interval: INTERVAL_SECONDS,
    };
  }
}

/** How fast addresses and devices ask. Each edge counts for itself, in bounded memory. */
export class DevicePaces {
  readonly #addresses = new Tries({ tries: 20, perTryMs: 6_000 });
  readonly #paces = new Map<string, { readonly askedAt: number; readonly intervalMs: number }>();

  /** Counts a request for a code. Throws `too_many` for an address that asks too often. */
  takeCode(address: string, now: number): void {
    const waitMs = this.#addresses.waitMs(address, now);
    if (waitMs > 0) throw tooMany("devices from this address", waitMs);
    this.#addresses.take(address, now);
  }

  /** True when the device asks too fast; then it has to wait 5 s longer between all later questions. */
  isTooFast(hash: string, now: number): boolean {
    const known = this.#paces.get(hash) ?? { askedAt: Number.NEGATIVE_INFINITY, intervalMs: INTERVAL_SECONDS * 1_000 };
    // Clocks and networks are not exact.
    const isTooFast = now - known.askedAt < known.intervalMs - 500;
    const intervalMs = known.intervalMs + (isTooFast ? INTERVAL_SECONDS * 1_000 : 0);
    this.#paces.delete(hash);
    this.#paces.set(hash, { askedAt: now, intervalMs });
    if (this.#paces.size > MAX_PACES) this.#paces.delete(this.#paces.keys().next().value!);
    return isTooFast;
  }
}

/** The tokens of a device whose user has agreed, or why there are none. */
export async function takeDeviceTokens(
  context: IdentityContext,
  deviceCode: string,
  paces: DevicePaces,
  trail?: LoginPlace["trail"],
): Promise<DeviceTokenView | { readonly refused: DeviceRefusal }> {
  const { logins, identity } = context.stores;
  const hash = hashOf(deviceCode);
  const voucher = await logins.findVoucher("device", hash);
  if (voucher === undefined) return { refused: "invalid_grant" };
  if (voucher.expiresAt <= context.clock.now()) return { refused: "expired_token" };
  if (voucher.state === "pending") {
    return { refused: paces.isTooFast(hash, context.clock.monotonic()) ? "slow_down" : "authorization_pending" };
  }
  const taken = await logins.takeVoucher("device", hash, voucher.state);
  if (taken === undefined) return { refused: "invalid_grant" };
  const user = taken.state === "approved" ? await identity.findUser(asId<UserId>(taken.subject)) : undefined;
  if (user === undefined || user.disabled) return { refused: "access_denied" };
  const { address, userAgent, client } = placeOf(taken);
  const place = { address, userAgent: client === "" ? userAgent : `${client} (${userAgent})` };
  const session = await beginSession(context, user, { kind: "device", isRenewed: true, ...place, trail });
  const { accessToken, expiresIn } = await accessOf(context, session);
  const refreshToken = refreshTokenOf(context, session.sessionId, session.generation);
  return { access_token: accessToken, token_type: "Bearer", expires_in: expiresIn, refresh_token: refreshToken };
}

/** Guesses at user codes: a user has ten, and then one each 30 s. A right code gives its try back. */
export class CodeThrottle {
  readonly #users = new Tries({ tries: 10, perTryMs: 30_000 });

  async guard<T>(userId: UserId, now: number, find: () => Promise<T | undefined>): Promise<T | undefined> {
    const waitMs = this.#users.waitMs(userId, now);
    if (waitMs > 0) throw tooMany("wrong codes", waitMs);
    const giveBack = this.#users.take(userId, now);
    const found = await find();
    if (found !== undefined) giveBack();
    return found;
  }
}

/** The device that waits under a code as a person types it; undefined for a code that is unknown, used or expired. */
export async function findWaitingDevice(
  context: IdentityContext,
  user: Pick<UserCaller, "userId">,
  typed: string,
  throttle: CodeThrottle,
): Promise<WaitingDevice | undefined> {
  const code = readCode(typed);
  return throttle.guard(user.userId, context.clock.monotonic(), async () => {
    const voucher = await findPending(context, code);
    if (voucher === undefined) return undefined;
    const { client, address } = placeOf(voucher);
    return { userCode: `${code.slice(0, 4)}-${code.slice(4)}`, client, address };
  });
}

/**
 * Admits the device as the user, or refuses it. False when the code is no longer waiting. An admitted device has all the
 * rights of the user: throws `forbidden` for the session of a token that has fewer.
 */
export async function decideDevice(
  context: IdentityContext,
  caller: UserCaller,
  { userCode, isAdmitted }: { readonly userCode: string; readonly isAdmitted: boolean },
  throttle: CodeThrottle,
): Promise<boolean> {
  const { userId, trail } = authoriseUser(caller, "manageOwnAccount");
  const find = () => findPending(context, readCode(userCode));
  const voucher = await throttle.guard(userId, context.clock.monotonic(), find);
  if (voucher === undefined) return false;
  const state = isAdmitted ? "approved" : "denied";
  return recorded({ trail }, { kind: "session", id: "device", after: { kind: state } }, () =>
    context.stores.logins.moveVoucher(voucher.hash, "pending", { state, subject: userId }),
  );
}

async function findPending({ stores, clock }: IdentityContext, code: string): Promise<Voucher | undefined> {
  const voucher = await stores.logins.findVoucherByAlias("device", hashOf(code));
  return voucher?.state === "pending" && voucher.expiresAt > clock.now() ? voucher : undefined;
}

/** People type small letters, spaces and other dashes. */
function readCode(typed: string): string {
  return typed
    .toUpperCase()
    .replace(/[^A-Z]/g, "")
    .slice(0, CODE_CHARACTERS);
}

function placeOf({ facts }: Voucher): LoginPlace & { readonly client: string } {
  const { client = "", address = "", userAgent = "" } = facts;
  return { client: String(client), address: String(address), userAgent: String(userAgent) };
}

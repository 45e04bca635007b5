/**
 * Tickets: a program that cannot send a header, such as a page that opens a WebSocket or a download, sends a ticket in the
 * address instead. An address is written down in many places, so a ticket is good once and for {@link TICKET_SECONDS}.
 */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type SessionId, type TokenId, type UserId } from "../../domain/ids.ts";
import type { Voucher } from "../../stores/ports/logins.ts";
import { shape, wholeNumber } from "../shapes.ts";
import { signAccessToken } from "./access-tokens.ts";
import { authenticate, authoriseUser, type Caller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { hashOf } from "./one-time.ts";
import type { Standing } from "./session-proof.ts";
import type { Proof } from "./sessions.ts";

const TICKET_SECONDS = 60;

export const TicketShape = shape("Ticket", () => ({
  ticket: z.string(),
  /** Seconds. */
  expiresIn: wholeNumber,
}));

type TicketView = z.infer<typeof TicketShape>;

/** A ticket with the rights of the caller. It ends with what the caller's own proof stands on. */
export async function createTicket(context: IdentityContext, caller: Caller): Promise<TicketView> {
  const { userId, standing } = authoriseUser(caller, "readOwnAccount");
  const ticket = `mrk_${randomBytes(32).toString("hex")}`;
  await context.stores.logins.putVoucher({
    hash: hashOf(ticket),
    kind: "ticket",
    alias: null,
    subject: userId,
    expiresAt: context.clock.now() + TICKET_SECONDS * 1_000,
    state: "",
    facts: factsOf(standing),
  });
  return { ticket, expiresIn: TICKET_SECONDS };
}

/** Takes the ticket. Throws `unauthenticated` for one that is unknown, used or expired. */
export async function redeemTicket(context: IdentityContext, ticket: string): Promise<Proof> {
  const voucher = await context.stores.logins.takeVoucher("ticket", hashOf(ticket), "");
  if (voucher === undefined || voucher.expiresAt <= context.clock.now()) {
    throw new MillraceError("unauthenticated", "the ticket is unknown, was used, or has expired: ask for a new one");
  }
  // What the ticket opens is checked again as long as it is open, as if this token had opened it.
  const bearer = await signAccessToken(context, asId<UserId>(voucher.subject), standingOf(voucher));
  return { bearer, caller: await authenticate(context, bearer) };
}

/** A node of a release that knows no token behind a session takes such a ticket for one of the token. */
function factsOf(standing: Standing | undefined): Voucher["facts"] {
  if (standing === undefined || !("session" in standing) || standing.behind === undefined) return { ...standing };
  return { token: standing.behind, through: standing.session };
}

function standingOf({ facts }: Voucher): Standing {
  const { token, loggedInAt, through, session = through } = facts;
  if (typeof session === "string") return { session: asId<SessionId>(session) };
  if (typeof token === "string") return { token: asId<TokenId>(token) };
  return { loggedInAt: Number(loggedInAt) };
}

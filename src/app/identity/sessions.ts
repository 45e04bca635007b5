/**
 * Open streams, sockets and downloads, each with the token that opened it. A call is authenticated once, when it begins;
 * what stays open for longer is entered here, and its token is checked again as long as it is open. So whatever is taken
 * from a caller ends what the caller has open: a deleted or expired token, a disabled or deleted user, a removed agent, a
 * lower role, a missing scope.
 */
import { MillraceError } from "../../domain/errors.ts";
import { highestRole, NO_RIGHTS, type Role, roleReaches } from "../../domain/roles.ts";
import type { AppContext } from "../context.ts";
import { type Caller, reauthenticate, type UserCaller } from "./access.ts";
import type { IdentityContext } from "./context.ts";

/** Between two checks. A check may fail twice, because the store cannot be reached, before 60 s have passed. */
const CHECK_MS = 20_000;
/** Tokens that are checked at the same time. */
const CHECKS_AT_ONCE = 16;

/** The token of a call, and the caller that it proved when the call began. */
export interface Proof {
  readonly bearer: string;
  readonly caller: Caller;
}

interface Session {
  readonly caller: Caller;
  readonly end: (reason: MillraceError) => void;
}

export class OpenSessions {
  readonly #context: IdentityContext & Pick<AppContext, "log">;
  readonly #checkMs: number;
  /** By token, so that each token is read once, however much it has open. */
  readonly #sessions = new Map<string, Set<Session>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(context: IdentityContext & Pick<AppContext, "log">, checkMs: number = CHECK_MS) {
    this.#context = context;
    this.#checkMs = checkMs;
  }

  /**
   * Enters a session; the answer removes it, and may be called twice. `end` is called at most once: with
   * `unauthenticated` when the token proves nothing any more, and with `forbidden` when it proves less than it did. While
   * the store cannot be read, no session ends.
   */
  enter({ bearer, caller }: Proof, end: (reason: MillraceError) => void): () => void {
    const session: Session = { caller, end };
    const known = this.#sessions.get(bearer) ?? new Set();
    this.#sessions.set(bearer, known.add(session));
    if (this.#timer === undefined) this.#timer = this.#schedule();
    return () => this.#leave(bearer, session);
  }

  #leave(bearer: string, session: Session): void {
    const known = this.#sessions.get(bearer);
    known?.delete(session);
    if (known?.size === 0) this.#sessions.delete(bearer);
  }

  /** Checks until nothing is open. The timer stays when the last session ends: most sessions are calls, and short. */
  #schedule(): NodeJS.Timeout {
    const timer = setTimeout(() => {
      void this.#checkAll().finally(() => {
        this.#timer = this.#sessions.size === 0 ? undefined : this.#schedule();
      });
    }, this.#checkMs);
    return timer.unref();
  }

  async #checkAll(): Promise<void> {
    const bearers = [...this.#sessions.keys()];
    for (let at = 0; at < bearers.length; at += CHECKS_AT_ONCE) {
      await Promise.all(bearers.slice(at, at + CHECKS_AT_ONCE).map((bearer) => this.#check(bearer)));
    }
  }

  async #check(bearer: string): Promise<void> {
    try {
      const caller = await reauthenticate(this.#context, bearer);
      this.#end(bearer, (before) => (provesLess(caller, before) ? rightsReduced() : undefined));
    } catch (error) {
      if (error instanceof MillraceError && error.reason === "unauthenticated") this.#end(bearer, () => error);
      else this.#context.log.debug({ error: String(error) }, "the token of an open call could not be checked");
    }
  }

  #end(bearer: string, reasonFor: (before: Caller) => MillraceError | undefined): void {
    for (const session of this.#sessions.get(bearer) ?? []) {
      const reason = reasonFor(session.caller);
      if (reason === undefined) continue;
      this.#leave(bearer, session);
      session.end(reason);
    }
  }
}

function provesLess(now: Caller, before: Caller): boolean {
  if (now.kind !== "user" || before.kind !== "user") return now.kind !== before.kind;
  return hasLess(now, before) || before.scopes.some((scope) => !now.scopes.includes(scope));
}

/** True when a role that counted before, anywhere, does not count any more. */
function hasLess(now: UserCaller, before: UserCaller): boolean {
  const [rights, earlier] = [now.rights ?? NO_RIGHTS, before.rights ?? NO_RIGHTS];
  const lost = (role: Role, left: Role | undefined): boolean => !roleReaches(highestRole(now.role, left), role);
  return (
    (before.role !== null && lost(before.role, undefined)) ||
    [...earlier.tenants].some(([id, role]) => lost(role, rights.tenants.get(id))) ||
    [...earlier.projects].some(([id, role]) => lost(role, rights.projects.get(id)))
  );
}

function rightsReduced(): MillraceError {
  return new MillraceError("forbidden", "the caller's role or scopes were reduced: connect again");
}

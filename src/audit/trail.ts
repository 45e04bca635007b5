/**
 * What one call leaves in the audit log: at most one entry, with the system event that follows from it. The edge of a call makes a trail, and gives it to the caller; the
 * checks of rights note on it where the call acts; the use case records the change on it, in the transaction of the change.
 * The edge closes it: a change that no use case recorded is recorded then, so that none can be forgotten.
 */
import type { Clock } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import { newId, type ProjectId, type TenantId } from "../domain/ids.ts";
import type { Logger } from "../domain/logger.ts";
import type { Area } from "../domain/roles.ts";
import type { AuditEntry, AuditStore } from "../stores/ports/audit.ts";
import { systemEventOf } from "./system-event.ts";
import type { SystemLog } from "../domain/system-events.ts";
import { differenceOf, lineOf, type ObjectKind, type Recordable } from "./entry.ts";
import type { RefusalBounds } from "./refusal-bounds.ts";

/** What trails of one process work with. */
export interface TrailGround {
  readonly store: AuditStore;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Logger, "error">;
  readonly refusals: RefusalBounds;
  /** The tenant that owns a project; null for an unknown project. */
  readonly tenantOf: (projectId: ProjectId) => Promise<TenantId | null>;
  /** Tells those who follow the log that it has a further event. */
  readonly announce?: (log: SystemLog) => void;
}

export type Actor = AuditEntry["actor"];

/** What the edge knows of a call before anything is decided. */
export interface TrailStart {
  /** The name of the operation. */
  readonly operation: string;
  readonly actor: Actor;
  readonly from: AuditEntry["from"];
  readonly requestId: string | null;
}

/** A change of one object. */
export interface RecordedChange {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly name?: string;
  /** Where the object is; null for the installation, and absent for where the rights of the caller were checked. */
  readonly area?: Area | null;
  /** Absent for an object that is made. */
  readonly before?: Recordable;
  /** Absent for an object that is removed. */
  readonly after?: Recordable;
}

const USER_AGENT_CHARS = 200;

/** The actor of a call that has proved nothing. It has no name: people type their password into the field of the name. */
export function anonymous(): Actor {
  return { kind: "anonymous", id: null, name: "", proof: null };
}

export class Trail {
  readonly #ground: TrailGround;
  readonly #start: TrailStart;
  #actor: Actor;
  #onBehalfOf: string | null = null;
  #area: Area | null = null;
  #change: RecordedChange | null = null;
  /** True when the call needs no further entry. */
  #isSettled = false;

  constructor(ground: TrailGround, start: TrailStart) {
    this.#ground = ground;
    this.#start = start;
    this.#actor = start.actor;
  }

  /** The id of the call, for logs; null when it has none. */
  get requestId(): string | null {
    return this.#start.requestId;
  }

  /** A trail for one of several changes of this call: each has an entry of its own. */
  another(): Trail {
    const other = new Trail(this.#ground, { ...this.#start, actor: this.#actor });
    other.#onBehalfOf = this.#onBehalfOf;
    other.#area = this.#area;
    return other;
  }

  /** Whom a login has proved. */
  proved(actor: Actor): void {
    this.#actor = actor;
  }

  /** The call acts for another user. */
  actsFor(name: string): void {
    this.#onBehalfOf = name;
  }

  /** Where the object of the call is. */
  actsIn(area: Area): void {
    this.#area = area;
  }

  /** The call is a repeat, or found everything as it should be: there is nothing to record. */
  changedNothing(): void {
    this.#isSettled = true;
  }

  /** Names the change for the entry that the edge writes, where the change cannot be wrapped by {@link record}. */
  names(change: RecordedChange): void {
    this.#change = change;
  }

  /**
   * Makes the change, and stores the entry: with the change, where the store can, or else behind it. `write` begins with the
   * call of a store; when it changes nothing, it rejects or answers false. Rejects with `unavailable` when the change was made and the
   * entry could not be stored. Of several changes of a call only the first is recorded.
   */
  async record<T>(change: RecordedChange, write: () => Promise<T>): Promise<T> {
    if (this.#isSettled) return write();
    const entry = await this.#entryOf(change, { outcome: "done", reason: null, leftOut: 0 });
    const event = systemEventOf(entry);
    const { result, stored } = await this.#ground.store.appendWith(entry, write, event);
    if (result === false || this.#isSettled) return result;
    this.#isSettled = true;
    if (!stored) await this.#append(entry);
    else if (event !== null) this.#ground.announce?.(event.log);
    return result;
  }

  /** Ends the trail of a call that succeeded. `change` is recorded when the use case has recorded none. */
  async close(change: RecordedChange): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.#append(await this.#entryOf(this.#change ?? change, { outcome: "done", reason: null, leftOut: 0 }));
  }

  /** Ends the trail of a call that was refused. A refusal is recorded as well as the store can: it rejects never. */
  async refuse(error: MillraceError, change: RecordedChange): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const admitted = this.#ground.refusals.admit(this.#actor.id ?? this.#start.from.address ?? "");
    if (admitted === undefined) return;
    try {
      const { before: _b, after: _a, ...object } = this.#change ?? change;
      const reason = lineOf(error.message);
      const entry = await this.#entryOf(object, { outcome: "refused", reason, ...admitted });
      await this.#ground.store.append(entry);
    } catch (failure) {
      this.#ground.log.error({ error: String(failure) }, "a refusal could not be recorded in the audit log");
    }
  }

  async #entryOf(
    { kind, id, name, area = this.#area, before, after }: RecordedChange,
    facts: Pick<AuditEntry, "outcome" | "reason" | "leftOut">,
  ): Promise<AuditEntry> {
    const { store: _s, clock, tenantOf } = this.#ground;
    const { operation, from, requestId } = this.#start;
    const projectId = area !== null && "projectId" in area ? area.projectId : null;
    const tenantId =
      projectId !== null ? await tenantOf(projectId) : area !== null && "tenantId" in area ? area.tenantId : null;
    return {
      auditId: newId("aud"),
      at: clock.now(),
      operation,
      actor: { ...this.#actor, name: lineOf(this.#actor.name) },
      onBehalfOf: this.#onBehalfOf === null ? null : lineOf(this.#onBehalfOf),
      tenantId,
      projectId,
      object: { kind, id: lineOf(id), name: name === undefined ? null : lineOf(name) },
      from: { ...from, userAgent: from.userAgent === null ? null : lineOf(from.userAgent, USER_AGENT_CHARS) },
      requestId,
      ...differenceOf(kind, before ?? null, after ?? null),
      ...facts,
    };
  }

  /** What the log of the node then holds is all that is left of the entry. */
  async #append(entry: AuditEntry): Promise<void> {
    const event = systemEventOf(entry);
    try {
      await this.#ground.store.append(entry, event);
      if (event !== null) this.#ground.announce?.(event.log);
    } catch (error) {
      this.#ground.log.error({ entry, error: String(error) }, "the audit log has no entry of a change that was made");
      throw new MillraceError(
        "unavailable",
        "the change was made, but its entry in the audit log could not be stored: look at the object before you try again",
        { cause: error },
      );
    }
  }
}

/** Makes a change, and records it on the trail of the caller. A caller without a trail is part of this program. */
export function recorded<T>(
  { trail }: { readonly trail?: Trail | undefined },
  change: RecordedChange,
  write: () => Promise<T>,
): Promise<T> {
  return trail === undefined ? write() : trail.record(change, write);
}

/**
 * The data of a simulated store, in collections as the MongoDB adapter has them: an aggregate is one document, and the
 * rows of jobs, steps and approvals are projections beside it. Each method is one operation of the database.
 */
import type { RunEvent } from "../../../src/domain/events.ts";
import type { CommandId, RootId, RunId } from "../../../src/domain/ids.ts";
import type { JobSpec, RunPlan } from "../../../src/domain/plan.ts";
import type { Verdict } from "../../../src/domain/effects.ts";
import type { AggregateHead, AggregateSave, StoredActor } from "../../../src/stores/ports/aggregates.ts";
import type { KeptDeadLetter } from "../../../src/stores/ports/dead-letters.ts";
import type { IdempotencyKey } from "../../../src/stores/ports/idempotency.ts";
import type { Command } from "../../../src/stores/ports/inbox.ts";
import type { Agent } from "../../../src/stores/ports/identity.ts";
import type { StepOutputs } from "../../../src/stores/ports/outputs.ts";
import type { RedisIdentity } from "../../../src/stores/ports/shards.ts";
import { CatalogueData } from "./catalogue-model.ts";
import { compare } from "./compare.ts";
import { HookData } from "./hook-model.ts";
import { TellingData } from "./telling-model.ts";

export interface Document {
  readonly head: AggregateHead<RootId>;
  readonly actors: ReadonlyMap<string, StoredActor>;
  /** Ids of the actors that the newest version has changed. */
  readonly changed: readonly string[];
}

/** A projection of one actor. */
export interface Row {
  readonly rootId: RootId;
  readonly shard: number;
  readonly version: number;
  readonly actor: StoredActor;
}

export type RowKind = "job" | "step" | "approval";

interface EndedAttempt {
  readonly rootId: RootId;
  /** A version of the run whose document had the actor. */
  readonly version: number;
  readonly actor: StoredActor;
}

interface Asked {
  readonly command: Command;
  readonly verdict: Verdict | null;
}

interface ShardRecord {
  epoch: number;
  redis: RedisIdentity | null;
}

export class StoreServer {
  readonly documents = new Map<RootId, Document>();
  /** Actors that have left the document of their run, or are about to leave it. */
  readonly ended = new Map<string, EndedAttempt>();
  readonly rows: Readonly<Record<RowKind, Map<string, Row>>> = { job: new Map(), step: new Map(), approval: new Map() };
  readonly plans = new Map<RunId, { readonly plan: RunPlan; readonly jobs: readonly JobSpec[] }>();
  /** By run, then by number. */
  /** As SQLite does, or, when false, as MongoDB does: the events of a save follow in a call of their own. */
  savesEventsAtOnce = false;
  readonly events = new Map<RunId, Map<number, RunEvent>>();
  /** In the order in which they were stored. */
  readonly inbox = new Map<CommandId, Asked>();
  readonly deadLetters = new Map<string, KeptDeadLetter>();
  readonly outputs = new Map<string, StepOutputs>();
  readonly keys = new Map<string, IdempotencyKey>();
  readonly agents = new Map<string, Agent>();
  readonly settings = new Map<string, string>();
  readonly shards = new Map<number, ShardRecord>();
  readonly hooks = new HookData();
  readonly telling = new TellingData();
  readonly catalogue = new CatalogueData();

  /** False when there is such a document already. */
  insert({ head, actors }: { readonly head: AggregateHead<RootId>; readonly actors: readonly StoredActor[] }): boolean {
    if (this.documents.has(head.rootId)) return false;
    const changed = actors.map(({ id }) => id);
    this.documents.set(head.rootId, { head, actors: new Map(actors.map((actor) => [actor.id, actor])), changed });
    return true;
  }

  /** One conditional update; false when the stored version is another one. */
  update({ expectedVersion, head, changed, ended = [] }: Omit<AggregateSave<RootId>, "events">): boolean {
    const found = this.documents.get(head.rootId);
    if (found === undefined || found.head.version !== expectedVersion) return false;
    const actors = new Map(found.actors);
    for (const { id } of ended) actors.delete(id);
    for (const actor of changed) actors.set(actor.id, actor);
    const { origin } = found.head;
    this.documents.set(head.rootId, { head: { ...head, origin }, actors, changed: changed.map(({ id }) => id) });
    return true;
  }

  /** One bulk insert; what is there stays. */
  insertEnded(rootId: RootId, version: number, actors: readonly StoredActor[]): void {
    for (const actor of actors) if (!this.ended.has(actor.id)) this.ended.set(actor.id, { rootId, version, actor });
  }

  /** The actors that had left the document by its version. */
  endedOf({ head, actors }: Document): readonly StoredActor[] {
    return [...this.ended.values()].flatMap(({ rootId, version, actor }) =>
      rootId === head.rootId && version < head.version && !actors.has(actor.id) ? [actor] : [],
    );
  }

  /** Writes the rows that are older than `version`. */
  writeRows(
    kind: RowKind,
    { rootId, shard, version }: Pick<AggregateHead<RootId>, "rootId" | "shard" | "version">,
    actors: readonly StoredActor[],
  ): void {
    const rows = this.rows[kind];
    for (const actor of actors) {
      const known = rows.get(actor.id);
      if (known === undefined || known.version < version) rows.set(actor.id, { rootId, shard, version, actor });
    }
  }

  insertEvents(events: readonly RunEvent[]): void {
    for (const event of events) {
      const ofRun = this.events.get(event.runId) ?? new Map<number, RunEvent>();
      if (!ofRun.has(event.number)) ofRun.set(event.number, event);
      this.events.set(event.runId, ofRun);
    }
  }

  eventsOf(runId: RunId): readonly RunEvent[] {
    return [...(this.events.get(runId)?.values() ?? [])].toSorted((a, b) => a.number - b.number);
  }

  /** The rows of a kind that match, by id. */
  rowsOf(kind: RowKind, matches: (row: Row) => boolean): readonly Row[] {
    const found = [...this.rows[kind].values()].filter(matches);
    return found.toSorted((a, b) => compare(a.actor.id, b.actor.id));
  }

  /** Those of the shards with an unanswered command, an owed effect, or a timer that is due. */
  shardsWithWork(shards: readonly number[], dueAt: number): ReadonlySet<number> {
    const commanded = [...this.inbox.values()].flatMap(({ command, verdict }) =>
      verdict === null ? command.shard : [],
    );
    const owing = [...this.documents.values()].flatMap(({ head: { shard, owed, nextDueAt } }) =>
      owed.length > 0 || (nextDueAt !== null && nextDueAt <= dueAt) ? shard : [],
    );
    const found = new Set([...commanded, ...owing]);
    return new Set(shards.filter((shard) => found.has(shard)));
  }

  /** Stores the key unless it is there; answers the stored one. */
  claim(key: IdempotencyKey): IdempotencyKey {
    const claimed = this.keys.get(key.key) ?? key;
    this.keys.set(key.key, claimed);
    return claimed;
  }

  shard(index: number): ShardRecord {
    const record = this.shards.get(index) ?? { epoch: 0, redis: null };
    this.shards.set(index, record);
    return record;
  }
}

/**
 * Tells the presence of agents as system events, on the worker that owns one certain shard. What was told of an agent last is
 * stored with a count, and the id of each event has the count: two workers that both believe to own the shard tell each
 * change once, and a worker that dies between the two writes leaves the event to the next one.
 */
import { untilNext } from "../../domain/clock.ts";
import type { AgentId } from "../../domain/ids.ts";
import { type SystemEventDraft, systemLogOf } from "../../domain/system-events.ts";
import type { AgentOwner, OwnedDocument, ToldPresence } from "../../stores/ports/documents.ts";
import { ONLINE_MS } from "../agents/inventory.ts";
import { announceSystemEvent } from "../../feed/system-event-hints.ts";
import type { PresenceContext } from "./context.ts";

/** Between two looks at the presence of all agents. */
const TICK_MS = 5_000;
/**
 * An agent without presence counts as offline only when presence was readable for this time: when Redis was emptied, each
 * live agent is heard by then.
 */
const SETTLE_MS = 20_000;
/** The owner of this shard tells. */
const SHARD = 0;

type Told = OwnedDocument<"presence">;

export class PresenceEvents {
  readonly #context: PresenceContext;
  readonly #owned: () => readonly number[];
  /** What was told of each agent; undefined until it was read, and after another worker has told something. */
  #told: Map<AgentId, Told> | undefined;
  /** Since when presence is readable without a fault, by the monotonic clock. */
  #readableSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(context: PresenceContext, owned: () => readonly number[]) {
    this.#context = context;
    this.#owned = owned;
  }

  start(): void {
    const { clock, log } = this.#context;
    this.#timer = setTimeout(
      () => {
        this.#working = this.pass()
          .catch((error: unknown) => {
            this.#readableSince = undefined;
            log.debug({ error: String(error) }, "the presence of agents is told later");
          })
          .finally(() => {
            if (this.#timer !== undefined) this.start();
          });
      },
      untilNext(TICK_MS, clock.monotonic()),
    );
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#working;
  }

  /** Tells what has changed since the last look. Rejects when Redis or the store cannot be reached. */
  async pass(): Promise<void> {
    if (!this.#owned().includes(SHARD)) {
      this.#told = undefined;
      this.#readableSince = undefined;
      return;
    }
    const { clock, presence } = this.#context;
    const told = (this.#told ??= await this.#readTold());
    // An agent is lost after it was online.
    const mayBeLost = [...told.values()].some(({ body }) => body.presence !== "lost");
    const [records, lostIds] = await Promise.all([presence.online(ONLINE_MS), mayBeLost ? presence.lost() : []]);
    this.#readableSince ??= clock.monotonic();
    const [online, lost] = [new Set(records.map(({ agentId }) => agentId)), new Set(lostIds)];
    for (const agentId of online) {
      const isTold = told.get(agentId)?.body.presence === "online";
      if (!isTold && !lost.has(agentId) && !(await this.#tell(agentId, "online"))) return;
    }
    for (const [agentId, { body }] of told) {
      const isLost = lost.has(agentId);
      if (isLost ? body.presence === "lost" : body.presence !== "online" || online.has(agentId)) continue;
      if (!isLost && clock.monotonic() - this.#readableSince < SETTLE_MS) continue;
      if (!(await this.#tell(agentId, isLost ? "lost" : "offline"))) return;
    }
  }

  /** Also puts into its log what another worker has left owed. */
  async #readTold(): Promise<Map<AgentId, Told>> {
    const told = new Map<AgentId, Told>();
    for (const document of await this.#context.stores.documents.all("presence")) {
      const agentId = document.owner.slice(OWNER.length) as AgentId;
      told.set(agentId, document.body.owed === null ? document : await this.#settle(document));
    }
    return told;
  }

  /** False when another worker tells, too: the next pass begins with what is stored. */
  async #tell(agentId: AgentId, presence: ToldPresence["presence"]): Promise<boolean> {
    const { clock, stores } = this.#context;
    const before = this.#told?.get(agentId);
    const owner = ownerOf(agentId);
    const agent = await stores.identity.findAgent(agentId);
    if (agent === undefined) {
      // Removed, which has an event of its own.
      if (before !== undefined) await stores.documents.deleteOf(owner);
      this.#told?.delete(agentId);
      return true;
    }
    const count = (before?.body.count ?? 0) + 1;
    const owed: SystemEventDraft = {
      log: systemLogOf(agent.reach?.tenantId),
      eventId: `presence/${agentId}/${count}`,
      object: "agent",
      lifecycle: presence,
      timeMs: clock.now(),
      data: { id: agentId, name: agent.name },
    };
    const document: Told = {
      kind: "presence",
      owner,
      version: (before?.version ?? 0) + 1,
      body: { presence, count, owed },
    };
    if (!(await stores.documents.save(document))) {
      this.#told = undefined;
      return false;
    }
    this.#told?.set(agentId, document);
    this.#told?.set(agentId, await this.#settle(document));
    return true;
  }

  async #settle(document: Told): Promise<Told> {
    const { stores } = this.#context;
    const { owed } = document.body;
    await stores.systemEvents.append([owed!]);
    announceSystemEvent(this.#context, owed!.log);
    const settled = { ...document, version: document.version + 1, body: { ...document.body, owed: null } };
    // Another worker that was faster has stored the same.
    await stores.documents.save(settled);
    return settled;
  }
}

const OWNER = "agent/";

function ownerOf(agentId: AgentId): AgentOwner {
  return `${OWNER}${agentId}`;
}

/** The ports of one process that lead to the simulated store. Each call to the server can fail by itself. */
import type { IdentityStore, Token } from "../../../src/stores/ports/identity.ts";
import type { PipelineDeletionStore } from "../../../src/stores/ports/deletions.ts";
import type { RemovalStore } from "../../../src/stores/ports/removals.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import type { Call } from "../engine/service.ts";
import { aggregatesOf } from "./aggregate-client.ts";
import { catalogueOf } from "./catalogue-model.ts";
import { compare } from "./compare.ts";
import { hooksOf } from "./hook-model.ts";
import type { StoreServer } from "./store-server.ts";
import { deliveriesOf } from "./telling-model.ts";

/** The stores that the simulated parts of millrace use. */
export type SimulatedStores = Pick<
  Stores,
  | "snapshotBytes"
  | "aggregates"
  | "plans"
  | "inbox"
  | "events"
  | "outputs"
  | "shards"
  | "deadLetters"
  | "idempotency"
  | "identity"
  | "pipelineDeletions"
  | "removals"
  | "hooks"
  | "deliveries"
  | "pipelines"
  | "documents"
  | "audit"
>;

/** `onMissing` is called with the name of a store, or of a method, that a part uses although it is not simulated. */
export function storesOf(server: StoreServer, call: Call, onMissing: (name: string) => void): SimulatedStores {
  const stores = simulatedStores(server, call);
  const watched = Object.entries(stores).map(([name, store]) => [name, watch(store, `${name}.`, onMissing)] as const);
  return watch(Object.fromEntries(watched) as unknown as SimulatedStores, "", onMissing);
}

function watch<T>(target: T, prefix: string, onMissing: (name: string) => void): T {
  if (typeof target !== "object" || target === null) return target;
  return new Proxy(target, {
    get(object, name) {
      if (typeof name === "string" && !(name in object)) onMissing(`${prefix}${name}`);
      return Reflect.get(object, name) as unknown;
    },
  });
}

function simulatedStores(server: StoreServer, call: Call): SimulatedStores {
  return {
    snapshotBytes: null,
    hooks: hooksOf(server.hooks, call),
    deliveries: deliveriesOf(server, call),
    ...catalogueOf(server.catalogue, call),
    aggregates: aggregatesOf(server, call),
    // A session reads its agent and the agent's token, and nothing else: the simulation has no users.
    identity: {
      findAgent: (agentId) => call(`agent ${agentId}`, () => server.agents.get(agentId)),
      putAgent: (agent) => call(`put agent ${agent.agentId}`, () => void server.agents.set(agent.agentId, agent)),
      findToken: (tokenId) => call(`token ${tokenId}`, () => ({ tokenId }) as Token),
    } as Pick<IdentityStore, "findAgent" | "putAgent" | "findToken"> as IdentityStore,
    // No simulated client deletes a pipeline.
    pipelineDeletions: {
      find: (pipelineId) => call(`deletion of ${pipelineId}`, () => undefined),
    } as Pick<PipelineDeletionStore, "find"> as PipelineDeletionStore,
    // No simulated client removes a run.
    removals: {
      find: (runId) => call(`removal of ${runId}`, () => undefined),
    } as Pick<RemovalStore, "find"> as RemovalStore,
    plans: {
      put: (runId, plan, jobs) =>
        call(`plan ${runId}`, () => {
          if (!server.plans.has(runId)) server.plans.set(runId, { plan, jobs });
        }),
      loadPlan: (runId) => call(`plan of ${runId}`, () => server.plans.get(runId)?.plan),
      loadPlans: (runIds) =>
        call("plans", () => {
          const found = runIds.flatMap((runId) => {
            const stored = server.plans.get(runId);
            return stored === undefined ? [] : [[runId, stored.plan] as const];
          });
          return new Map(found);
        }),
      loadPlanInPieces: (runId) => call(`plan of ${runId}`, () => server.plans.get(runId)?.plan),
      loadJob: (runId, index) => call(`spec ${index} of ${runId}`, () => server.plans.get(runId)?.jobs[index]),
    },
    inbox: {
      insert: (command) =>
        call(`insert ${command.kind} ${command.id} for ${command.rootId}`, () => {
          if (!server.inbox.has(command.id)) server.inbox.set(command.id, { command, verdict: null });
        }),
      pending: (rootId) =>
        call(`inbox of ${rootId}`, () =>
          [...server.inbox.values()].flatMap(({ command, verdict }) => {
            return command.rootId === rootId && verdict === null ? [command] : [];
          }),
        ),
      pageRoots: (shard, after, limit) =>
        call("roots with commands", () => {
          const roots = [...server.inbox.values()].flatMap(({ command: { rootId, shard: its }, verdict }) =>
            its === shard && verdict === null && rootId > after ? [rootId] : [],
          );
          return [...new Set(roots)].toSorted(compare).slice(0, limit);
        }),
      answer: (id, verdict) =>
        call(`answer ${id}`, () => {
          const asked = server.inbox.get(id);
          if (asked !== undefined) server.inbox.set(id, { ...asked, verdict: asked.verdict ?? verdict });
        }),
      verdict: (id) => call(`verdict on ${id}`, () => server.inbox.get(id)?.verdict),
      forgetAnswered: (rootId, before) =>
        call(`forget commands of ${rootId}`, () => {
          for (const [id, { command, verdict }] of server.inbox) {
            if (command.rootId === rootId && verdict !== null && command.storedAt < before) server.inbox.delete(id);
          }
        }),
    },
    events: {
      append: async (events) => {
        if (events.length > 0) await call(`events ${events[0]!.runId}`, () => server.insertEvents(events));
      },
      read: (runId, after, limit) =>
        call(`events of ${runId}`, () =>
          server
            .eventsOf(runId)
            .filter(({ number }) => number > after)
            .slice(0, limit),
        ),
    },
    outputs: {
      put: (outputs, runBytes) =>
        call(`outputs ${outputs.stepRunId}`, () => {
          const key = `${outputs.stepRunId}/${outputs.token}`;
          if (server.outputs.has(key)) return "stored";
          const ofRun = [...server.outputs.values()].filter(({ runId }) => runId === outputs.runId);
          const bytes = [...ofRun, outputs]
            .flatMap(({ values }) => values.flat())
            .reduce((sum, text) => {
              return sum + Buffer.byteLength(text);
            }, 0);
          if (bytes > runBytes) return "full";
          server.outputs.set(key, outputs);
          return "stored";
        }),
      find: (keys) =>
        keys.length === 0
          ? Promise.resolve([])
          : call("find outputs", () =>
              [...new Set(keys.map(({ stepRunId, token }) => `${stepRunId}/${token}`))].flatMap(
                (key) => server.outputs.get(key) ?? [],
              ),
            ),
    },
    shards: {
      takeEpoch: (shard, least = 0) =>
        call(`epoch of ${shard}`, () => {
          const record = server.shard(shard);
          record.epoch = Math.max(record.epoch + 1, least);
          return { epoch: record.epoch, previous: record.redis };
        }),
      takeEpochs: (shards, least = 0) =>
        call(`epochs of ${shards.join(", ")}`, () => {
          const take = (shard: number) => {
            const record = server.shard(shard);
            record.epoch = Math.max(record.epoch + 1, least);
            return [shard, { epoch: record.epoch, previous: record.redis }] as const;
          };
          return new Map(shards.map(take));
        }),
      recordRedis: (shard, epoch, identity) =>
        call(`Redis of ${shard}`, () => {
          const record = server.shard(shard);
          if (record.epoch === epoch) record.redis = identity;
        }),
      withWork: (shards, dueAt) => call("shards with work", () => server.shardsWithWork(shards, dueAt)),
      readSetting: (name) => call(`read ${name}`, () => server.settings.get(name)),
      swapSetting: (name, from, to) =>
        call(`swap ${name}`, () => {
          if (server.settings.get(name) !== from) return false;
          server.settings.set(name, to);
          return true;
        }),
      epochs: () => call("epochs", () => new Map([...server.shards].map(([shard, { epoch }]) => [shard, epoch]))),
      fixSetting: (name, value) =>
        call(`setting ${name}`, () => {
          if (!server.settings.has(name)) server.settings.set(name, value);
          return server.settings.get(name)!;
        }),
      raiseSetting: (name, least) =>
        call(`raise ${name}`, () => {
          const raised = Math.max(least, Number(server.settings.get(name) ?? 0));
          server.settings.set(name, `${raised}`);
          return raised;
        }),
    },
    deadLetters: {
      insert: (deadLetter) =>
        call(`dead letter for ${deadLetter.rootId}: ${deadLetter.reason}`, () => {
          const times = (server.deadLetters.get(deadLetter.id)?.times ?? 0) + 1;
          server.deadLetters.set(deadLetter.id, { ...deadLetter, times });
        }),
      find: (id) => call("find dead letter", () => server.deadLetters.get(id)),
      remove: (id, times) =>
        call("remove dead letter", () => {
          if (server.deadLetters.get(id)?.times === times) server.deadLetters.delete(id);
        }),
      list: ({ offset, limit, descending }) =>
        call("dead letters", () => {
          const sorted = [...server.deadLetters.values()].toSorted((a, b) => a.at - b.at || compare(a.id, b.id));
          return (descending ? sorted.toReversed() : sorted).slice(offset, offset + limit);
        }),
      count: () => call("count dead letters", () => server.deadLetters.size),
      forget: ({ before, most, limit }) =>
        call("forget dead letters", () => {
          const oldest = [...server.deadLetters.values()].toSorted((a, b) => a.at - b.at);
          const surplus = Math.max(0, oldest.length - most);
          const gone = oldest.filter(({ at }, place) => at < before || place < surplus).slice(0, limit);
          for (const { id } of gone) server.deadLetters.delete(id);
          return gone.length;
        }),
    },
    idempotency: {
      claim: (key) => call(`claim ${key.key}`, () => server.claim(key)),
      find: (key) => call("find key", () => server.keys.get(key)),
      remove: (key, createdId) =>
        call("remove key", () => {
          if (createdId === undefined || server.keys.get(key)?.createdId === createdId) server.keys.delete(key);
        }),
      forget: (before, limit) =>
        call("forget keys", () => {
          const old = [...server.keys.values()].filter(({ at, bodyHash }) => at < before && bodyHash !== "");
          for (const { key } of old.slice(0, limit)) server.keys.delete(key);
          return Math.min(limit, old.length);
        }),
    },
  };
}

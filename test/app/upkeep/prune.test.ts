import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { StepState } from "../../../actors/step/state.ts";
import type { AppContext } from "../../../src/app/context.ts";
import { findDeletion } from "../../../src/app/triggering/deleted-runs.ts";
import { isRunRemoved } from "../../../src/app/runs/remove-run.ts";
import { claimSuccessor } from "../../../src/app/runs/succession.ts";
import { finishRemovals, pruneRecords, pruneStrayCommands } from "../../../src/app/upkeep/prune-records.ts";
import { type RunPruning, pruneRuns } from "../../../src/app/upkeep/prune-runs.ts";
import { PruneSchedule } from "../../../src/app/upkeep/prune-schedule.ts";
import { MillraceError } from "../../../src/domain/errors.ts";
import { commandIdOf, newId, type PipelineId, type RunId, type StepRunId } from "../../../src/domain/ids.ts";
import type { Bound } from "../../../src/domain/retention.ts";
import { UNBOUNDED } from "../../../src/domain/retention-text.ts";
import { openSqliteStores } from "../../../src/stores/sqlite/open.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { artifactRecord, storeArtifact } from "../../contracts/artifact-store.ts";
import { lines } from "../../contracts/samples.ts";
import { onBothStores, type OpenedStores } from "../../support/both-stores.ts";
import { failWritesAfter } from "../../support/failing-stores.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { saveTurn, storeRun } from "../../support/stored-runs.ts";
import { pipelineRecord } from "../../support/pipelines.ts";

const DAY_MS = 86_400_000;
/** The answer of a pass that deletes nothing. */
const NOTHING = { runs: 0, logs: 0, artifacts: 0, events: 0 };

describe("the retention pruner", function () {
  this.timeout(60_000);
  onBothStores(pruneTests);

  it("makes room in an embedded store that is full to the last page", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-full-"));
    const stores = await openSqliteStores({ path: join(folder, "millrace.db"), limitBytes: 1e6 });
    const fill = async (write: () => Promise<unknown>): Promise<number> => {
      for (let written = 0; ; written++) {
        try {
          await write();
        } catch (error) {
          expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
          return written;
        }
      }
    };
    try {
      const plan = planOf([[{ steps: 1 }]]);
      const nothing = () => Promise.resolve();
      const subscribe = () => Promise.resolve(nothing);
      const feed = { publish: nothing, close: nothing, subscribe, follow: subscribe, isFollowed: () => false };
      let now = 0;
      const context = { ...contextOf(stores, () => now), feed };
      const made = await fill(async () => {
        const run = await storeRun(context, plan);
        await saveTurn(context, run, { run: { state: "success", endedAt: now }, events: [] });
      });
      expect(made).to.be.greaterThan(50);
      await fill(() => stores.idempotency.claim({ key: newId("cmd"), bodyHash: "h", createdId: "x", at: 1 }));
      now = 2 * DAY_MS;
      for await (const _ of pruneRuns(context, pruningOf({ runs: { ...UNBOUNDED, ageMs: DAY_MS } })));
      expect(await stores.retention.nthNewest(1, plan), "all runs that have ended").to.equal(undefined);
      expect(await fill(() => storeRun(context, plan))).to.be.greaterThan(50);
    } finally {
      await stores.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function pruneTests(open: () => Promise<OpenedStores>): void {
  let store: OpenedStores;
  let now: number;
  let context: AppContext;

  beforeEach(async () => {
    store = await open();
    now = 1_000 * DAY_MS;
    context = contextOf(store.stores, () => now);
  });
  afterEach(() => store.close());

  const newPipeline = async (projectId = "default") => {
    const pipelineId = newId("pl");
    await store.stores.pipelines.create(pipelineRecord(pipelineId, { projectId: projectId as never }));
    return pipelineId;
  };

  interface Past {
    readonly daysAgo: number;
    readonly settled?: boolean;
    readonly repeats?: RunId;
    readonly reuses?: StepRunId;
    readonly projectId?: string;
  }

  /** A run of one step that took a moment, with a log and two events. */
  async function storePast(pipelineId: PipelineId, { daysAgo, settled = true, repeats, reuses, projectId }: Past) {
    const { aggregates, events, logs } = store.stores;
    const runId = newId("run");
    const plan = { ...planOf([[{ steps: 1 }]]), pipelineId, ...(projectId && { projectId: projectId as never }) };
    const at = now - daysAgo * DAY_MS;
    const before = repeats && (await aggregates.loadHead(repeats))!;
    const aggregate = createRunAggregate({
      runId,
      shard: 0,
      plan,
      now: at,
      origin: {
        trigger: { kind: "manual", ref: "" },
        variables: [],
        triggeredBy: "",
        actor: "",
        revisionId: "rev_1",
        commitSha: "",
        attempt: before ? before.origin.attempt + 1 : 1,
        retryOf: repeats ?? null,
        firstRunId: before ? (before.origin.firstRunId ?? before.rootId) : null,
      },
    });
    const step = aggregate.actors.find(({ kind }) => kind === "step")!;
    const stepRunId = step.id as StepRunId;
    const summary = { ...aggregate.head.summary, endedAt: at, status: "success" } as const;
    await aggregates.create(
      {
        head: { ...aggregate.head, final: true, settled, eventNumber: 2, owed: [], nextDueAt: null, summary },
        actors: aggregate.actors.map((actor) =>
          actor === step ? { ...step, state: { ...(step.state as StepState), reusedFrom: reuses ?? null } } : actor,
        ),
      },
      { plan: { graph: plan, jobs: jobSpecsOf(plan) } },
    );
    for (const number of [1, 2]) {
      const event = { object: "pipeline", lifecycle: "created", jobId: null, stepRunId: null, status: "x" } as const;
      await events.append([{ ...event, data: {}, runId, pipelineId, number, timeMs: at }]);
    }
    if (reuses === undefined) {
      await logs.append({ stepRunId, agentId: "a", lines: lines(1, 3) });
      await storeArtifact(store.stores, { runId, stepRunId });
    }
    if (before) {
      const successor = { runId, scope: "failed", stepRunId: "", triggeredBy: "", actor: "" } as const;
      await claimSuccessor(context, before, successor);
    }
    return { runId, stepRunId };
  }

  /** One pass; answers how much of each part was deleted. */
  async function prune(rules: Partial<RunPruning["rules"]>, stores: Stores = store.stores) {
    const pruned = { ...NOTHING };
    const all = pruneRuns({ ...context, stores }, { ...pruningOf(rules), onPruned: (part) => void pruned[part]++ });
    for await (const _ of all);
    return pruned;
  }

  const isThere = async (...runs: readonly { readonly runId: RunId }[]) =>
    Promise.all(runs.map(async ({ runId }) => (await store.stores.aggregates.loadHead(runId)) !== undefined));
  const hasLog = async ({ stepRunId }: { readonly stepRunId: StepRunId }) =>
    (await store.stores.logs.read(stepRunId, 1, 1)).length > 0;
  const hasArtifact = async ({ runId, stepRunId }: Awaited<ReturnType<typeof storePast>>) => {
    const { artifacts, blobs } = store.stores;
    const found = (await artifacts.ofRun(runId)).length > 0;
    const { artifactId } = artifactRecord({ runId, stepRunId });
    expect((await blobs.read(artifactId, 0, 1)).length > 0, "the content goes with the record").to.equal(found);
    return found;
  };
  const days = (count: number): Bound => ({ ...UNBOUNDED, ageMs: count * DAY_MS });

  it("deletes runs by their age, and keeps the newest run of each pipeline", async () => {
    const [busy, quiet] = [await newPipeline(), await newPipeline()];
    const runs = [];
    for (const daysAgo of [30, 11, 10, 9]) runs.push(await storePast(busy, { daysAgo }));
    const only = await storePast(quiet, { daysAgo: 500 });
    expect(await prune({ runs: days(10) })).to.deep.equal({ ...NOTHING, runs: 3 });
    expect(await isThere(...runs, only)).to.deep.equal([false, false, false, true, true]);
    expect(await hasLog(runs[0]!)).to.equal(false);
    expect(await hasLog(only)).to.equal(true);
    expect(await prune({ runs: days(10) })).to.deep.equal(NOTHING);
  });

  it("keeps runs that still owe effects, however old they are, and deletes the runs after them", async () => {
    const pipelineId = await newPipeline();
    const live = [];
    // Nearly a page of them.
    for (let i = 0; i < 60; i++) live.push(await storePast(pipelineId, { daysAgo: 90, settled: false }));
    const old = await storePast(pipelineId, { daysAgo: 80 });
    await storePast(pipelineId, { daysAgo: 1 });
    expect((await prune({ runs: days(10), logs: days(10) })).runs).to.equal(1);
    expect(await isThere(...live, old)).to.deep.equal([...live.map(() => true), false]);
  });

  it("deletes runs beyond a number for each pipeline, and beyond a number for the project", async () => {
    const [one, other] = [await newPipeline(), await newPipeline()];
    const ofOne = [];
    for (const daysAgo of [5, 4, 3, 2]) ofOne.push(await storePast(one, { daysAgo }));
    const ofOther = [await storePast(other, { daysAgo: 9 }), await storePast(other, { daysAgo: 8 })];
    await prune({ runs: { ...UNBOUNDED, perPipeline: 3 } });
    expect(await isThere(...ofOne, ...ofOther)).to.deep.equal([false, true, true, true, true, true]);
    await prune({ runs: { ...UNBOUNDED, perProject: 2 } });
    const left = await isThere(...ofOne, ...ofOther);
    expect(left, "the newest run of each pipeline stays").to.deep.equal([false, false, true, true, false, true]);
  });

  it("applies the bounds of the project to the parts for which the project has some", async () => {
    const { pipelines } = store.stores;
    const projectId = newId("prj");
    await pipelines.createProject({ projectId, name: "p", createdAt: 1 });
    await pipelines.changeProject(projectId, { retention: { runs: UNBOUNDED } });
    const [own, general] = [await newPipeline(projectId), await newPipeline()];
    const kept = await storePast(own, { daysAgo: 50, projectId });
    await storePast(own, { daysAgo: 1, projectId });
    const gone = await storePast(general, { daysAgo: 50 });
    await storePast(general, { daysAgo: 1 });
    await prune({ runs: days(10), logs: days(20) });
    expect(await isThere(kept, gone)).to.deep.equal([true, false]);
    expect(await hasLog(kept), "the logs have the bound of the installation").to.equal(false);
  });

  it("deletes logs and events before the run, also of the newest run, and only once", async () => {
    const pipelineId = await newPipeline();
    const run = await storePast(pipelineId, { daysAgo: 20 });
    expect(await prune({ logs: days(10), events: days(30) })).to.deep.equal({ ...NOTHING, logs: 1 });
    expect(await hasLog(run)).to.equal(false);
    expect(await store.stores.events.read(run.runId, 0, 10)).to.have.length(2);
    expect(await prune({ logs: days(10), events: days(10) })).to.deep.equal({ ...NOTHING, events: 1 });
    expect(await store.stores.events.read(run.runId, 0, 10)).to.deep.equal([]);
    expect(await isThere(run)).to.deep.equal([true]);
  });

  it("deletes artifacts before the run and before their own expiry, and only once", async () => {
    const pipelineId = await newPipeline();
    const runs = [await storePast(pipelineId, { daysAgo: 20 }), await storePast(pipelineId, { daysAgo: 1 })];
    expect(await prune({ artifacts: days(10) })).to.deep.equal({ ...NOTHING, artifacts: 1 });
    expect(await Promise.all(runs.map(hasArtifact))).to.deep.equal([false, true]);
    expect(await prune({ artifacts: days(10) })).to.deep.equal(NOTHING);
    expect(await prune({ artifacts: { ...UNBOUNDED, perPipeline: 1 } })).to.deep.equal(NOTHING);
    now += 10 * DAY_MS;
    expect(await prune({ artifacts: days(10) })).to.deep.equal({ ...NOTHING, artifacts: 1 });
    expect(await isThere(...runs)).to.deep.equal([true, true]);
  });

  describe("for runs that were run again", () => {
    it("keeps a run, its logs and its artifacts as long as a rerun shows them", async () => {
      const pipelineId = await newPipeline();
      const first = await storePast(pipelineId, { daysAgo: 50 });
      const second = await storePast(pipelineId, { daysAgo: 15, repeats: first.runId, reuses: first.stepRunId });
      await storePast(pipelineId, { daysAgo: 1 });
      const rules = { runs: days(20), logs: days(20), artifacts: days(20) };
      expect(await prune(rules)).to.deep.equal(NOTHING);
      expect([await hasLog(first), await hasArtifact(first)]).to.deep.equal([true, true]);

      now += 6 * DAY_MS;
      const parts = { logs: days(20), artifacts: days(20) };
      const pruned = await prune(parts);
      expect(pruned.logs, "the log of the rerun is deleted").to.be.at.least(1);
      expect(pruned.artifacts).to.be.at.least(1);
      await prune(parts);
      expect([await hasLog(first), await hasArtifact(first)]).to.deep.equal([false, false]);

      // The runs of a pipeline are pruned side by side, so a pass may find that the first one is free too, or not.
      await prune({ runs: days(20) });
      expect(await isThere(second)).to.deep.equal([false]);
      await prune({ runs: days(20) });
      expect(await isThere(first, second)).to.deep.equal([false, false]);
      expect(await isRunRemoved(context, first.runId)).to.equal(true);
      expect(await isRunRemoved(context, second.runId), "no call can ask for this run any more").to.equal(false);
    });

    it("keeps a run whose rerun is claimed and not stored yet, for one hour", async () => {
      const pipelineId = await newPipeline();
      const first = await storePast(pipelineId, { daysAgo: 50 });
      await storePast(pipelineId, { daysAgo: 1 });
      const head = (await store.stores.aggregates.loadHead(first.runId))!;
      const successor = { runId: newId("run"), scope: "all", stepRunId: "", triggeredBy: "", actor: "" } as const;
      await claimSuccessor(context, head, successor);
      await prune({ runs: days(20) });
      expect(await isThere(first)).to.deep.equal([true]);
      now += 3_600_000;
      await prune({ runs: days(20) });
      expect(await isThere(first)).to.deep.equal([false]);
    });

    it("lets no rerun be claimed of a run that it removes", async () => {
      const pipelineId = await newPipeline();
      const first = await storePast(pipelineId, { daysAgo: 50 });
      await storePast(pipelineId, { daysAgo: 1 });
      const head = (await store.stores.aggregates.loadHead(first.runId))!;
      const { removals } = store.stores;
      const claims: RunId[] = [];
      const begin: typeof removals.begin = async (removal) => {
        const successor = { runId: newId("run"), scope: "all", stepRunId: "", triggeredBy: "", actor: "" } as const;
        claims.push((await claimSuccessor(context, head, successor)).runId);
        await removals.begin(removal);
      };
      await prune({ runs: days(20) }, { ...store.stores, removals: { ...removals, begin } });
      expect(claims, "the run has claimed its own succession").to.deep.equal([first.runId]);
    });
  });

  it("deletes the runs of a deleted pipeline a day after their end, the newest run too", async () => {
    const pipelineId = await newPipeline();
    const runs = [await storePast(pipelineId, { daysAgo: 5 }), await storePast(pipelineId, { daysAgo: 0.5 })];
    await store.stores.pipelines.delete(pipelineId);
    await prune({});
    expect(await isThere(...runs)).to.deep.equal([false, true]);
    now += DAY_MS;
    await prune({});
    expect(await isThere(...runs)).to.deep.equal([false, false]);
  });

  it("shows a run whole or not at all, and finishes its removal, wherever the node dies", async () => {
    let cuts = 0;
    for (let survived = false; !survived; cuts++) {
      const pipelineId = await newPipeline();
      const run = await storePast(pipelineId, { daysAgo: 50 });
      await storePast(pipelineId, { daysAgo: 1 });
      const insert = { kind: "stop", reason: "", operator: "", actor: "" } as const;
      const [id, answered] = [commandIdOf(run.runId), commandIdOf(run.runId, "answered")];
      const command = { ...insert, rootId: run.runId, shard: 0, storedAt: 1 };
      await store.stores.inbox.insert({ ...command, id });
      await store.stores.inbox.insert({ ...command, id: answered });
      await store.stores.inbox.answer(answered, { outcome: "accepted", status: "success" });

      try {
        await prune({ runs: days(20) }, failWritesAfter(store.stores, cuts));
        survived = true;
      } catch (error) {
        expect(String(error)).to.include("died");
      }
      const [there] = await isThere(run);
      const { aggregates, plans } = store.stores;
      const seen = [await aggregates.load(run.runId), await aggregates.findStep(run.stepRunId)];
      expect(seen.map((found) => found !== undefined)).to.deep.equal([there, there]);
      if (there) {
        expect(await hasLog(run)).to.equal(true);
        expect(await plans.loadPlan(run.runId)).not.to.equal(undefined);
      } else {
        expect(await isRunRemoved(context, run.runId), "no repeat of its trigger brings it back").to.equal(true);
      }

      for await (const _ of finishRemovals(context));
      await prune({ runs: days(20) });
      expect(await isThere(run)).to.deep.equal([false]);
      expect([await hasLog(run), await hasArtifact(run)]).to.deep.equal([false, false]);
      expect(await store.stores.logs.storedThrough(run.stepRunId)).to.equal(0);
      expect(await store.stores.events.read(run.runId, 0, 1)).to.deep.equal([]);
      expect(await plans.loadPlan(run.runId)).to.equal(undefined);
      expect(await store.stores.inbox.verdict(id)).to.equal(undefined);
      expect(await store.stores.inbox.verdict(answered)).to.equal(undefined);
      expect(await store.stores.removals.unfinished(10)).to.deep.equal([]);
    }
    expect(cuts).to.be.greaterThan(6);
  });

  it("deletes small records by their age, and the record of a removal after the request id of the run", async () => {
    const { idempotency, inbox, removals } = store.stores;
    const runId = newId("run");
    const records = { jobIds: [], stepRunIds: [], approvalIds: [] };
    const claim = { bodyHash: "h", createdId: runId };
    await idempotency.claim({ ...claim, key: "request", at: now - 5 * DAY_MS });
    await idempotency.claim({ ...claim, key: "lasting", at: now - 5 * DAY_MS, bodyHash: "" });
    const succession = { key: "none", runId };
    await removals.begin({ runId, ...records, at: now - 4 * DAY_MS, isRepeat: false, succession });
    await removals.finish(runId);
    const { systemEvents } = store.stores;
    const old = { log: "installation", object: "plugin", lifecycle: "created", timeMs: now - 401 * DAY_MS } as const;
    const ids = ["a", "b"].map((eventId) => ({ ...old, eventId, data: { id: "p" } }));
    await systemEvents.append(ids);
    const prunedAfter = async (kept: number) => {
      for await (const _ of pruneRecords(context, kept * DAY_MS, 400 * DAY_MS));
      expect((await systemEvents.read("installation", 0, 9)).map(({ number }) => number)).to.deep.equal([2]);
      const claims = await Promise.all(["request", "lasting"].map((key) => idempotency.find(key)));
      return [...claims.map((found) => found !== undefined), await isRunRemoved(context, runId)];
    };
    expect(await prunedAfter(6)).to.deep.equal([true, true, true]);
    expect(await prunedAfter(4.5)).to.deep.equal([false, true, true]);
    expect(await prunedAfter(1)).to.deep.equal([false, true, false]);
    expect(await findDeletion(context, newId("step"))).to.equal(undefined);
    expect(await inbox.pageRoots(0, "", 10)).to.deep.equal([]);
  });

  it("deletes commands to runs that do not exist, ten minutes after they were stored", async () => {
    const pipelineId = await newPipeline();
    const { runId } = await storePast(pipelineId, { daysAgo: 0, settled: false });
    const gone = newId("run");
    const body = { kind: "stop", reason: "", operator: "", actor: "", shard: 0, storedAt: now } as const;
    for (const rootId of [runId, gone]) await store.stores.inbox.insert({ ...body, rootId, id: commandIdOf(rootId) });
    const rootsAfterPass = async () => {
      for await (const _ of pruneStrayCommands(context, [0]));
      return store.stores.inbox.pageRoots(0, "", 10);
    };
    expect(await rootsAfterPass()).to.have.members([runId, gone]);
    now += 600_001;
    expect(await rootsAfterPass()).to.deep.equal([runId]);
  });
}

/** The part of a context that pruning uses. */
function contextOf(stores: Stores, now: () => number): AppContext {
  return { stores, clock: { now, monotonic: now }, log: silentLog, shards: 1 } as Partial<AppContext> as AppContext;
}

function pruningOf(rules: Partial<RunPruning["rules"]>): RunPruning {
  return {
    rules: { runs: UNBOUNDED, logs: UNBOUNDED, artifacts: UNBOUNDED, events: UNBOUNDED, ...rules },
    isMine: () => true,
    onPruned: () => {},
    schedule: new PruneSchedule(),
  };
}

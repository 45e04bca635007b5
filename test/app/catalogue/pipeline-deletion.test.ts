/** The deletion of a pipeline and the triggers that meet it, in every order, over both stores. No worker runs. */
import { expect } from "chai";
import { deletePipeline } from "../../../src/app/catalogue/pipelines.ts";
import type { UserCaller } from "../../../src/app/identity/access.ts";
import { triggerRun } from "../../../src/app/triggering/trigger.ts";
import { rerunRun } from "../../../src/app/triggering/rerun.ts";
import { createStepRun } from "../../../src/app/triggering/ad-hoc-runs.ts";
import { PipelineDeleter } from "../../../src/app/upkeep/pipeline-deleter.ts";
import { pruneRuns } from "../../../src/app/upkeep/prune-runs.ts";
import { PruneSchedule } from "../../../src/app/upkeep/prune-schedule.ts";
import { newId, type PipelineId, type RunId } from "../../../src/domain/ids.ts";
import { UNBOUNDED } from "../../../src/domain/retention-text.ts";
import type { AppContext } from "../../../src/app/context.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { onBothStores, type OpenedStores } from "../../support/both-stores.ts";
import { openTestEdge, type TestEdge } from "../../support/edge.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { saveTurn } from "../../support/stored-runs.ts";
import { pipelineRecord } from "../../support/pipelines.ts";

const CALLER = {
  kind: "user",
  userId: "usr_1",
  name: "ann",
  role: "owner",
  scopes: [],
} as unknown as UserCaller;
const SPEC = JSON.stringify({ jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] });
const BODY = { variables: {} };

describe("the deletion of a pipeline", function () {
  this.timeout(60_000);
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge?.close());

  onBothStores((open) => deletionTests(open, () => edge.context));
});

function deletionTests(open: () => Promise<OpenedStores>, parts: () => AppContext): void {
  let store: OpenedStores;
  let context: AppContext;
  before(async () => {
    store = await open();
    context = { ...parts(), stores: store.stores };
    await store.stores.pipelines.createProject({ projectId: "default" as never, name: "default", createdAt: 1 });
  });
  after(() => store?.close());

  async function newPipeline(): Promise<PipelineId> {
    const pipelineId = newId("pl");
    await store.stores.pipelines.create(pipelineRecord(pipelineId, { createdBy: "ann", actor: "ann" }));
    const revision = { revisionId: newId("rev"), pipelineId, format: "json", text: SPEC, message: "" } as const;
    await store.stores.pipelines.saveRevision({ ...revision, editor: "ann", actor: "ann", createdAt: 1 }, null);
    return pipelineId;
  }

  const trigger = (pipelineId: PipelineId, using = context) => triggerRun(using, CALLER, { ...BODY, pipelineId });
  const remove = (pipelineId: PipelineId, force: boolean, using = context) =>
    deletePipeline(using, CALLER, { pipelineId, force });
  const live = (pipelineId: PipelineId) => store.stores.aggregates.liveRuns(pipelineId, 1_000);
  const stops = async (runId: RunId) => (await store.stores.inbox.pending(runId)).map(({ kind }) => kind);
  const isThere = async (pipelineId: PipelineId) => (await store.stores.pipelines.find(pipelineId)) !== undefined;
  /** The same context, in which `meanwhile` happens right before a new run is stored. */
  const beforeCreation = (meanwhile: () => Promise<unknown>): AppContext => {
    const { aggregates } = store.stores;
    const create: typeof aggregates.create = async (...args) => {
      await meanwhile();
      return aggregates.create(...args);
    };
    const intercepted = new Proxy(aggregates, {
      get: (target, name) => {
        const member = name === "create" ? create : (Reflect.get(target, name) as unknown);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
    return { ...context, stores: { ...store.stores, aggregates: intercepted } };
  };

  it("stops the run of a trigger that was about to store it, and refuses that trigger", async () => {
    const pipelineId = await newPipeline();
    const late = beforeCreation(() => remove(pipelineId, true));
    expect(await outcomeOf(trigger(pipelineId, late))).to.equal("conflict");
    const [runId] = await live(pipelineId);
    expect(await stops(runId!)).to.deep.equal(["stop"]);
    expect(await outcomeOf(trigger(pipelineId))).to.equal("not_found");
  });

  it("stops the run of a step and the rerun that were about to be stored", async () => {
    const pipelineId = await newPipeline();
    const late = beforeCreation(() => remove(pipelineId, true));
    const step = { name: "s", uses: "shell", args: { script: "true" } };
    expect(await outcomeOf(createStepRun(late, CALLER, { pipelineId, step }))).to.equal("conflict");
    const [adHoc] = await live(pipelineId);
    expect(await stops(adHoc!)).to.deep.equal(["stop"]);

    const other = await newPipeline();
    const { runId } = await trigger(other);
    await saveTurn(context, { runId, pipelineId: other, jobIds: [], stepIds: [] }, { run: { state: "failed" } });
    const deleted = beforeCreation(() => remove(other, true));
    expect(await outcomeOf(rerunRun(deleted, CALLER, { runId, scope: "all" }))).to.equal("conflict");
    const [rerun] = await live(other);
    expect(await stops(rerun!)).to.deep.equal(["stop"]);
  });

  it("without force is refused by a run that is stored at the same moment, and the run goes on", async () => {
    const pipelineId = await newPipeline();
    const { aggregates } = store.stores;
    let stored: RunId | undefined;
    const liveRuns: typeof aggregates.liveRuns = async (...args) => {
      const found = await aggregates.liveRuns(...args);
      stored ??= (await trigger(pipelineId)).runId;
      return found;
    };
    const during = {
      ...context,
      stores: { ...store.stores, aggregates: Object.assign(Object.create(aggregates), { liveRuns }) },
    };
    expect(await outcomeOf(remove(pipelineId, false, during))).to.equal("conflict");
    expect(await isThere(pipelineId)).to.equal(true);
    expect(await stops(stored!)).to.deep.equal([]);
    expect(await outcomeOf(trigger(pipelineId)), "the pipeline takes triggers again").to.equal("done");
  });

  it("takes no trigger between its decision and its end, and is finished by a worker", async () => {
    const pipelineId = await newPipeline();
    const { runId } = await trigger(pipelineId);
    const died = { ...context, stores: { ...store.stores, inbox: failing(store.stores.inbox) } };
    expect(await outcomeOf(remove(pipelineId, true, died))).to.equal("Error: the edge died");
    expect([await isThere(pipelineId), await stops(runId)]).to.deep.equal([true, []]);
    expect(await outcomeOf(trigger(pipelineId))).to.equal("conflict");

    const deleter = new PipelineDeleter(context, () => Array.from({ length: context.shards }, (_, shard) => shard));
    await deleter.pass();
    expect([await isThere(pipelineId), await stops(runId)]).to.deep.equal([false, ["stop"]]);
  });

  it("is withdrawn after a minute when its caller left it undecided", async () => {
    const pipelineId = await newPipeline();
    await store.stores.pipelineDeletions.note({ pipelineId, at: 1, by: "ann", decided: false });
    await new PipelineDeleter(context, () => [...Array(context.shards).keys()]).pass();
    expect(await store.stores.pipelineDeletions.find(pipelineId)).to.equal(undefined);
    expect(await isThere(pipelineId)).to.equal(true);
  });

  it("keeps no run of many triggers that meet it", async () => {
    for (const force of [true, false]) {
      const pipelineId = await newPipeline();
      const triggered = Array.from({ length: 30 }, (_, n) =>
        new Promise((resolve) => setTimeout(resolve, n))
          .then(() => trigger(pipelineId))
          .catch((error: unknown) => error),
      );
      const deletions = [5, 15, 25].map((ms) =>
        new Promise((resolve) => setTimeout(resolve, ms)).then(() => outcomeOf(remove(pipelineId, force))),
      );
      await Promise.all(triggered);
      const isDeleted = (await Promise.all(deletions)).includes("done");
      expect(await isThere(pipelineId)).to.equal(!isDeleted);
      for (const runId of await live(pipelineId)) {
        expect(await stops(runId), `${runId}, with force ${force}`).to.deep.equal(isDeleted ? ["stop"] : []);
      }
    }
  });

  it("by an edge that notes nothing is made good by the pruner", async () => {
    const pipelineId = await newPipeline();
    const { runId } = await trigger(pipelineId);
    await store.stores.pipelines.delete(pipelineId);
    const rules = { runs: UNBOUNDED, logs: UNBOUNDED, artifacts: UNBOUNDED, events: UNBOUNDED };
    const pruning = { rules, isMine: (id: PipelineId) => id === pipelineId, onPruned: () => {} };
    for await (const _ of pruneRuns(context, { ...pruning, schedule: new PruneSchedule() }));
    expect(await stops(runId)).to.deep.equal(["stop"]);
  });
}

/** The same store, but nothing can be written to it. */
function failing(inbox: Stores["inbox"]): Stores["inbox"] {
  return { ...inbox, insert: () => Promise.reject(new Error("the edge died")) };
}

/** The contract of attempts that another attempt has followed. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import type { JobRunId, StepRunId } from "../../src/domain/ids.ts";
import type { Aggregate, AggregateSave, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { LargeRun } from "../support/large-runs.ts";
import { jobSpecsOf, planOf, retryOf } from "../support/plans.ts";
import { sampleAggregate } from "./samples.ts";

export interface RetriedRun {
  readonly before: Aggregate;
  readonly run: Aggregate;
  /** The first attempts of the job and its two steps. */
  readonly ended: readonly StoredActor[];
  /** The save in which the first attempts leave the snapshot. */
  readonly leave: AggregateSave;
}

/** Stores a run whose job has begun again, and lets the first attempts leave the snapshot where the store has it so. */
export async function storeRetried({ aggregates, plans }: Stores, leaves = true): Promise<RetriedRun> {
  const plan = planOf([[{ steps: 2, retry: retryOf(2) }]]);
  const large = new LargeRun(plan, undefined, undefined, sampleAggregate({ plan }).head.rootId);
  await plans.put(large.runId, plan, jobSpecsOf(plan));
  const before = large.snapshot;
  await aggregates.create(before);
  const changed = new Map<string, StoredActor>();
  large.onSaved = (_head, actors) => {
    for (const actor of actors) changed.set(actor.id, actor);
  };
  large.claim(large.jobs("queued"));
  large.loseAgents(large.jobs("running"));
  const { head, actors } = large.snapshot;
  const stored = { ...head, owed: [], version: 2 };
  await aggregates.save({ expectedVersion: 1, head: stored, changed: [...changed.values()], events: [] });
  const jobId = (actors.find(({ kind, index }) => kind === "job" && index.attempt === 1)!.state as JobState).jobId;
  const ended = actors.filter(({ kind, id, state }) =>
    kind === "step" ? (state as StepState).jobId === jobId : id === jobId,
  );
  const apart = aggregates.keepsEndedApart ? { ended } : {};
  const leave = { expectedVersion: 2, head: { ...stored, version: 3 }, changed: [], events: [], ...apart };
  if (leaves) await aggregates.save(leave);
  return { before, run: { head: leaves ? leave.head : stored, actors }, ended, leave };
}

export function endedAttemptsContract(open: () => Stores): void {
  describe("ended attempts", () => {
    const idsOf = (actors: readonly StoredActor[]): readonly string[] => actors.map(({ id }) => id).toSorted();

    it("are answered with the run, by their ids, and by the look-ups", async () => {
      const { aggregates } = open();
      const { run, ended } = await storeRetried(open());
      const { rootId } = run.head;
      const found = (await aggregates.load(rootId))!;
      expect(idsOf(found.actors)).to.deep.equal(idsOf(run.actors));
      expect(idsOf(found.actors.filter(({ id }) => ended.some((one) => one.id === id)))).to.deep.equal(idsOf(ended));
      expect(found.apart ?? []).to.have.members(aggregates.keepsEndedApart ? idsOf(ended) : []);
      const inPieces = (await aggregates.loadInPieces(rootId, () => Promise.resolve()))!;
      expect(inPieces).to.deep.equal(found);
      expect(await aggregates.sizeOf(rootId, 1_000)).to.deep.equal({ version: 3, actors: run.actors.length });
      expect(await aggregates.sizeOf(rootId, 4)).to.deep.equal({ version: 3, actors: 4 });
      const [job, step] = ended;
      const part = (await aggregates.loadJobs(
        rootId,
        () => [job!.id as JobRunId],
        () => Promise.resolve(),
      ))!;
      expect(part.jobs.map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
      expect(idsOf(part.aggregate.actors)).to.deep.equal(idsOf([...ended, run.actors[0]!]));
      const some = (await aggregates.loadActors(rootId, [step!.id, "step_none", job!.id]))!;
      expect(some.actors).to.deep.equal([step, job]);
      expect((await aggregates.findStep(step!.id as StepRunId))!.actor).to.deep.equal(step);
    });

    it("stay in the snapshot when the save in which they leave it loses a race", async () => {
      const { aggregates } = open();
      const { run, ended, leave } = await storeRetried(open(), false);
      const other = { ...leave.head, settled: true };
      const { ended: _stays, ...save } = leave;
      expect(await aggregates.save({ ...save, head: other })).to.equal("saved");
      expect(await aggregates.save(leave)).to.equal("versionConflict");
      const found = (await aggregates.load(run.head.rootId))!;
      expect(found.head.settled).to.equal(true);
      expect(found.apart ?? []).to.deep.equal([]);
      expect(idsOf(found.actors)).to.deep.equal(idsOf(run.actors));
      const later = { ...leave, expectedVersion: 3, head: { ...other, version: 4 } };
      expect(await aggregates.save(later)).to.equal("saved");
      const moved = (await aggregates.load(run.head.rootId))!;
      expect(moved.apart ?? []).to.have.members(aggregates.keepsEndedApart ? idsOf(ended) : []);
      expect(idsOf(moved.actors)).to.deep.equal(idsOf(run.actors));
    });

    it("are known to the verification, with their run, and go with it", async () => {
      const { inspection, aggregates, removeRun } = open();
      const { run, ended } = await storeRetried(open());
      const runId = run.head.rootId;
      const apart = aggregates.keepsEndedApart ? idsOf(ended) : [];
      const read = (await inspection.read(runId))!;
      expect(read.apart).to.have.members(apart);
      expect(idsOf(read.actors)).to.deep.equal(idsOf(run.actors));
      const owners = async () =>
        (await inspection.pageOwners("attempts", "", 1_000)).filter(({ rootId }) => rootId === runId);
      expect((await owners()).map(({ actorId }) => actorId)).to.have.members(apart);
      const outputs = ended.map(({ id }) => ({ key: id, rootId: runId, actorId: id }));
      expect(await inspection.missingOwners(outputs)).to.deep.equal([]);
      const ids = (kind: string) => run.actors.flatMap((actor) => (actor.kind === kind ? [actor.id as never] : []));
      await removeRun({ runId, jobIds: ids("job"), stepRunIds: ids("step"), approvalIds: [] });
      expect(await owners()).to.deep.equal([]);
    });
  });
}

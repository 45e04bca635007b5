/** The contract of the removal of a run. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { type AgentId, approvalId, asId, commandIdOf } from "../../src/domain/ids.ts";
import type { RunRecords } from "../../src/stores/ports/removals.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { lines, sampleAggregate, sampleApproval } from "./samples.ts";

export function runRemovalContract(open: () => Stores): void {
  describe("the removal of a run", () => {
    it("removes all its records, changes no other run, and may be repeated", async () => {
      const [run, other] = [await storeWhole(open()), await storeWhole(open(), FEW)];
      const whole = await leftOf(open(), other);
      expect(whole).to.have.length(15);
      expect(await leftOf(open(), run)).to.deep.equal(whole);
      for (const _ of ["once", "again"]) {
        await open().removeRun(run);
        expect(await leftOf(open(), run)).to.deep.equal([]);
      }
      expect(await leftOf(open(), other)).to.deep.equal(whole);
    });

    it("leaves the verdicts of answered commands", async () => {
      const run = await storeWhole(open(), FEW);
      const [command] = await open().inbox.pending(run.runId);
      await open().inbox.answer(command!.id, { outcome: "accepted", status: "cancelled" });
      await open().removeRun(run);
      expect(await open().inbox.verdict(command!.id)).to.include({ outcome: "accepted" });
    });
  });
}

/** Lines and notes of each step. Stores remove records in batches: `MANY` takes more than one batch. */
const MANY = { lines: 250, notes: 110 };
export const FEW = { lines: 2, notes: 1 };

/** Stores a run with records of every kind that runs leave. */
export async function storeWhole(stores: Stores, amounts = MANY): Promise<RunRecords> {
  const plan = planOf([[{ steps: 2 }]]);
  const aggregate = sampleAggregate({ plan });
  const { rootId: runId } = aggregate.head;
  const approval = sampleApproval(aggregate, { stage: 0 }, 5);
  const actors = [...aggregate.actors, approval];
  const graph = { ...plan, pipelineId: aggregate.head.summary.pipelineId };
  await stores.aggregates.create({ ...aggregate, actors }, { plan: { graph, jobs: jobSpecsOf(plan) } });
  const ids = (kind: string): readonly never[] =>
    actors.flatMap((actor) => (actor.kind === kind ? [actor.id] : [])) as never;
  const run: RunRecords = {
    runId,
    jobIds: ids("job"),
    stepRunIds: ids("step"),
    approvalIds: [approvalId(runId, { stage: 0 })],
  };
  await stores.events.append([
    {
      object: "pipeline",
      lifecycle: "created",
      jobId: null,
      stepRunId: null,
      status: "pending",
      data: {},
      runId,
      pipelineId: plan.pipelineId,
      number: 1,
      timeMs: 1,
    },
  ]);
  await stores.runImages.pin({ runId, image: "node:22", digest: "sha256:1" });
  for (const stepRunId of run.stepRunIds) {
    for (let line = 1; line <= amounts.lines; line++)
      await stores.logs.append({ stepRunId, agentId: "a", lines: lines(line, line) });
    await stores.outputs.put({ runId, stepRunId, token: 1, values: [["a", "b"]] }, 1_000);
    for (let part = 0; part < amounts.notes; part++) {
      await stores.notes.put({ runId, stepRunId, token: 1, kind: "cases", part, body: "[]" }, 1_000);
    }
  }
  await stores.agentEvents.append([
    {
      agentId: asId<AgentId>("agt_a"),
      eventId: `event-${runId}`,
      runId,
      stepRunId: run.stepRunIds[0]!,
      type: "t",
      subject: "",
      time: 1,
      receivedAt: 1,
      data: "{}",
    },
  ]);
  await stores.inbox.insert({
    kind: "stop",
    reason: "",
    operator: "ann",
    actor: "ann",
    id: commandIdOf(runId),
    rootId: runId,
    shard: 0,
    storedAt: 1,
  });
  return run;
}

/** The kinds of records that are left of a run, as words. */
export async function leftOf(stores: Stores, run: RunRecords): Promise<readonly string[]> {
  const { runId, jobIds, stepRunIds } = run;
  const { pipelineId } = (await stores.aggregates.loadHead(runId))?.summary ?? {};
  const left: Record<string, unknown> = {
    head: await stores.aggregates.loadHead(runId),
    snapshot: await stores.aggregates.load(runId),
    plan: await stores.plans.loadPlan(runId),
    spec: await stores.plans.loadJob(runId, 0),
    event: (await stores.events.read(runId, 0, 1))[0],
    command: (await stores.inbox.pending(runId))[0],
    agentEvent: (await stores.agentEvents.count(runId)) || undefined,
  };
  for (const jobId of jobIds) left["job"] ??= await stores.aggregates.findJob(jobId);
  left["image"] = (await stores.runImages.of(runId))[0];
  left["notes"] = (await stores.notes.placesOf(runId, "cases"))[0];
  for (const stepRunId of stepRunIds) {
    left["step"] ??= await stores.aggregates.findStep(stepRunId);
    left["log"] ??= (await stores.logs.read(stepRunId, 1, 1))[0];
    left["through"] ??= (await stores.logs.storedThrough(stepRunId)) || undefined;
    left["outputs"] ??= (await stores.outputs.find([{ stepRunId, token: 1 }]))[0];
  }
  const page = { page: 1, pageSize: 100, descending: true };
  const { list } = await stores.aggregates.listApprovals(
    { status: "pending", ...(pipelineId && { pipelineId }) },
    page,
  );
  left["approval"] = list.find((approval) => approval.runId === runId);
  return Object.keys(left).filter((name) => left[name] !== undefined);
}

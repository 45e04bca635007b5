import { expect } from "chai";
import { EndedActors } from "../../../actors/kernel/ended-actors.ts";
import type { LiveActor } from "../../../actors/kernel/turn.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import type { JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { LargeRun } from "../../support/large-runs.ts";
import { planOf, retryOf } from "../../support/plans.ts";

const STEP_RETRY = { ...retryOf(2), on: ["failed" as const] };

/** A job whose first step was retried before its agent was lost, and a job that is queued. */
function retriedRun(): { readonly run: LargeRun; readonly left: readonly string[][] } {
  const run = new LargeRun(planOf([[{ retry: retryOf(3), steps: [{ retry: STEP_RETRY }, {}] }, {}]]));
  const left: string[][] = [];
  run.onSaved = (_head, _changed, ended) => void left.push(ended.map(({ id }) => id));
  run.claim(run.jobs("queued").slice(0, 1));
  run.report(run.heldSteps(), "failed");
  run.loseAgents(run.jobs("running"));
  return { run, left };
}

const byId = (run: LargeRun): ReadonlyMap<string, LiveActor> => new Map(run.actors().map((actor) => [actor.id, actor]));
const steps = (run: LargeRun): readonly StepState[] => run.actors("step").map(({ state }) => state as StepState);

describe("the actors that leave a snapshot", () => {
  it("leave it with the save after the one that stores their end", () => {
    const { run, left } = retriedRun();
    const [first] = run.jobs();
    const ended = steps(run).filter(({ jobId }) => jobId === first!.jobId);
    const [retried, ...others] = ended.toSorted((a, b) => a.attempt - b.attempt || a.index - b.index);
    expect(others).to.have.length(2);
    // The claim, the report that begins another attempt of the step, and the loss of the agent.
    expect(left).to.deep.equal([[], [], [retried!.stepRunId]]);
    run.command("pause");
    expect(left.at(-1)).to.have.members([first!.jobId, ...others.map(({ stepRunId }) => stepRunId)]);
    run.command("resume");
    expect(left.at(-1)).to.deep.equal([]);
  });

  it("are the ended attempts of a run that was stored with all of them in its snapshot", () => {
    const { run, left } = retriedRun();
    run.command("pause");
    const actors = byId(run);
    const fromOlder = new EndedActors(RUN_AGGREGATE, run.plan);
    expect(fromOlder.leaving(actors, []).map(({ id }) => id)).to.have.members(left.flat());
    const some = left.flat().slice(0, 2);
    const again = new EndedActors(RUN_AGGREGATE, run.plan, some);
    expect(again.leaving(actors, []).map(({ id }) => id)).to.have.members(left.flat().slice(2));
  });

  it("stay while a save changes them, and leave with a later one", () => {
    const { run, left } = retriedRun();
    run.command("pause");
    const actors = byId(run);
    const ended = new EndedActors(RUN_AGGREGATE, run.plan);
    const changed = [actors.get(left.flat()[0]!)!];
    const first = ended.leaving(actors, changed);
    expect(first).to.have.length(left.flat().length - 1);
    ended.saved(first, [], actors);
    expect(ended.leaving(actors, [])).to.deep.equal(changed);
  });

  it("are no newest attempts, and none of an earlier run", () => {
    const { run } = retriedRun();
    const actors = new Map(
      run.actors().map((actor): [string, LiveActor] => {
        const isFirst = actor.kind === "job" && (actor.state as JobState).attempt === 1;
        return [
          actor.id,
          isFirst ? { ...actor, state: { ...(actor.state as JobState), retryOf: "job_OTHER" } } : actor,
        ];
      }),
    );
    const left = new EndedActors(RUN_AGGREGATE, run.plan).leaving(actors, []).map(({ id }) => id);
    expect(left).to.not.include("job_OTHER");
    for (const { state } of left.map((id) => actors.get(id)!)) {
      expect((state as JobState | StepState).endedAt ?? (state as StepState).state).to.not.equal("pending");
    }
    expect(new EndedActors(RUN_AGGREGATE, run.plan, []).leaving(new Map(), [])).to.deep.equal([]);
  });
});

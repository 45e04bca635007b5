import { expect } from "chai";
import { grantAtOnce, offersOf, takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { leftByCreator, unheardSteps } from "../../../actors/kernel/creator-grace.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { asId, type RunId, type StepRunId } from "../../../src/domain/ids.ts";
import type { Aggregate } from "../../../src/stores/ports/aggregates.ts";
import { MANUAL_ORIGIN, planOf } from "../../support/plans.ts";

const NOW = 1_700_000_000_000;
describe("a first turn with grants", () => {
  const steps = [{ when: null, timeoutMs: null }];
  const plan = planOf([
    [
      { steps, queueTimeoutMs: 60_000, timeoutMs: 90_000 },
      { steps, queueTimeoutMs: 60_000 },
    ],
  ]);
  let begun: Aggregate;

  beforeEach(() => {
    const runId = asId<RunId>("run_01JABCDEFGHJKMNPQRSTVWXYZ0");
    const created = createRunAggregate({ runId, shard: 0, plan, origin: MANUAL_ORIGIN, now: NOW });
    begun = takeFirstTurn(created, plan, NOW, RUN_AGGREGATE, () => []);
  });

  const grantFirst = (): Aggregate => {
    const { jobId } = offersOf(begun)[0]!;
    const message = { type: "claimRequested", agentId: "agt_1", bootId: "boot", requestId: "r1", quotas: ["q"] };
    return grantAtOnce(begun, [{ to: { kind: "job", id: jobId }, message }], plan, NOW + 5, RUN_AGGREGATE, () => []);
  };
  const jobs = ({ actors }: Aggregate): readonly JobState[] =>
    actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const effects = ({ head }: Aggregate): readonly string[] =>
    head.owed.flatMap(({ effect }) => {
      if (effect.type === "publish") return [];
      return [effect.type === "schedule" ? `${effect.type} ${effect.timer}` : effect.type];
    });

  it("owes the dispatch of a granted job, and neither its offer nor its queue timeout", () => {
    expect(effects(begun)).to.deep.equal(["offer", "schedule queueTimeout", "offer", "schedule queueTimeout"]);
    const granted = grantFirst();
    expect(effects(granted)).to.deep.equal([
      "offer",
      "schedule queueTimeout",
      "occupy",
      "schedule timeout",
      "dispatch",
    ]);
    expect(offersOf(granted).map(({ jobIndex }) => jobIndex)).to.deep.equal([1]);
  });

  it("has the grant in its snapshot, under a token that is above all of the time before", () => {
    const granted = grantFirst();
    const [job, other] = jobs(granted);
    expect(job).to.include({ state: "running", startedAt: NOW + 5, queueTimer: null });
    expect(job!.grant).to.include({ agentId: "agt_1", bootId: "boot", requestId: "r1" });
    expect(job!.grant!.token).to.be.greaterThan(NOW);
    expect(other).to.include({ state: "queued", grant: null });
    expect(granted.head).to.include({ version: begun.head.version, nextDueAt: NOW + 60_000 });
  });

  it("numbers its events without a gap, in the order in which they happened", () => {
    const numbers = grantFirst().head.owed.flatMap(({ eventNumber }) => eventNumber ?? []);
    expect(numbers).to.deep.equal(numbers.map((_, at) => at + 1));
    expect(grantFirst().head.eventNumber).to.equal(numbers.length);
    expect(numbers.length).to.be.greaterThan(begun.head.eventNumber);
  });

  it("leaves to the owner the dispatch of a step that no agent has reported, and nothing when it was", () => {
    const { head, actors } = grantFirst();
    const owed = head.owed.filter(({ effect }) => effect.type !== "offer");
    const unheard = unheardSteps(owed, (stepRunId) => {
      const step = actors.find(({ id }) => id === stepRunId)!.state as StepState;
      return step.state === "queued" ? owed.map(({ effect }) => effect) : [];
    });
    expect([...unheard]).to.have.length(1);
    expect(leftByCreator(owed, new Set(), unheard)).to.deep.equal(owed);
    expect(leftByCreator(owed, new Set(), new Set<StepRunId>())).to.deep.equal([]);
    expect(
      leftByCreator(head.owed, new Set(offersOf({ head, actors }).map(({ jobId }) => jobId)), new Set()),
    ).to.deep.equal(head.owed.filter(({ effect }) => effect.type !== "dispatch"));
  });
});

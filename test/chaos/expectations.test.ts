/** Tests of what the checker of the kill tests expects: by the definition, and by the faults that took agents away. */
import { expect } from "chai";
import type { Transition } from "./check/evidence.ts";
import { expand } from "./check/expansion.ts";
import { isExcused } from "./check/losses.ts";
import { definitionsOf } from "./load/definitions.ts";
import type { Definition } from "./load/step.ts";

const T0 = 1_700_000_000_000;

describe("what the checker of the kill tests expects", () => {
  it("excuses the loss of an agent only when the agent was away for as long as its lease, or was killed", () => {
    const lostAt = T0 + 40_000;
    const event = { object: "job", jobId: "j", stepRunId: null, status: "" } as const;
    const events: readonly Transition[] = [
      { ...event, lifecycle: "started", number: 1, timeMs: T0 },
      { ...event, lifecycle: "failed", number: 2, timeMs: lostAt },
    ];
    const job = { jobId: "j", agentId: "agt", leaseMs: 30_000, reason: "agent_lost" };
    const away = (how: "killed" | "frozen" | "cutOff" | "refusing", fromMs: number, untilMs: number, agentId = "agt") =>
      isExcused({ events }, job, [{ agentId, how, fromMs, untilMs }], []);
    expect(away("cutOff", lostAt - 34_000, lostAt)).to.equal(true);
    expect(away("cutOff", lostAt - 34_000, lostAt, "other")).to.equal(false);
    expect(away("frozen", lostAt - 10_000, lostAt)).to.equal(false);
    expect(away("killed", lostAt - 1_000, lostAt - 500)).to.equal(true);
    expect(away("killed", T0 - 9_000, T0 - 8_000)).to.equal(false);
    expect(away("refusing", T0, lostAt)).to.equal(false);
    const outage = (fromMs: number, untilMs: number) => isExcused({ events }, job, [], [{ fromMs, untilMs }]);
    expect(outage(lostAt - 15_000, lostAt)).to.equal(false);
    expect(outage(lostAt - 31_000, lostAt)).to.equal(true);
    // Two faults that follow each other keep the agent away for longer than its lease, and each alone would not.
    const cut = { agentId: "agt", how: "cutOff", fromMs: lostAt - 16_000, untilMs: lostAt } as const;
    const before = { fromMs: lostAt - 31_000, untilMs: lostAt - 16_000 };
    expect(isExcused({ events }, job, [cut], [before])).to.equal(true);
  });

  it("expands the definitions of the load by itself", () => {
    const { matrix, spread, staged, retried, rejected } = definitionsOf({
      ledger: "l",
      mirrorUrl: "http://m",
      control: "c",
    });
    const namesOf = (definition: Definition) =>
      expand(definition, "approve").map(({ name, values, status }) => [name, ...values.flat(), status].join(" "));
    expect(namesOf(matrix)).to.deep.equal([
      "cell os a version 1 success",
      "cell os a version 2 success",
      "cell os b version 1 success",
      "cell os b version 2 success",
    ]);
    expect(namesOf(spread).slice(1)).to.deep.equal([
      "cell success",
      "cell n 1 success",
      "cell n 2 success",
      "cell n 3 success",
    ]);
    expect(namesOf(staged).slice(2)).to.deep.equal([
      "checks failed",
      "packs success",
      "ships cancelled",
      "tells success",
    ]);
    expect(expand(retried, "approve")[0]!.steps.map(({ statuses }) => statuses.join(" "))).to.deep.equal([
      "success",
      "failed success",
      "timeout success",
    ]);
    expect(expand(rejected, "reject").map(({ status }) => status)).to.deep.equal(["success", "cancelled", "success"]);
    expect(() => expand({ jobs: [{ name: "x", when: "cancelled()", steps: [] }] }, "approve")).to.throw(
      /does not know/,
    );
  });
});

/** Reports about steps that were never granted to the agent, against a real store. */
import { expect } from "chai";
import { reportAndWait } from "../../src/gateway/report-and-wait.ts";
import { asId, type AgentId, type StepRunId } from "../../src/domain/ids.ts";
import { Gateway } from "../grpc/gateway.ts";
import { StoredRun } from "../grpc/stored-run.ts";

describe("a report of an agent without a channel", () => {
  let gateway: Gateway;
  before(async () => (gateway = await Gateway.start()));
  after(() => gateway.stop());

  for (const phase of ["started", "failed", "lost"] as const) {
    it(`is refused and sent to no actor when it says ${phase} of an unknown step or one never granted`, async () => {
      const run = await StoredRun.create(gateway.stores, [{}]);
      const rest = { token: 1, phase, exitCode: -1, reason: "", outputs: [], lastLine: 0, durationMs: 0, usage: null };
      for (const stepRunId of [asId<StepRunId>("step_unknown"), asId<StepRunId>(run.stepRunId())]) {
        const report = { ...rest, stepRunId };
        const agent = asId<AgentId>("agt_1");
        const verdict = await reportAndWait(gateway.context, agent, report, 1_000, new AbortController().signal);
        expect(verdict).to.equal("refused");
      }
      expect(gateway.sentMessages).to.deep.equal([]);
    });
  }
});

/** The failed jobs of a run, as its notifications name them. */
import { expect } from "chai";
import { notificationValuesOf } from "../../../src/app/notifications/notification-texts.ts";
import { failuresOf } from "../../../src/app/notifications/scene.ts";
import { LargeRun } from "../../support/large-runs.ts";
import { planOf } from "../../support/plans.ts";
import { storeEnded } from "../../support/stored-large-runs.ts";
import { openTestSqlite } from "../../support/stores.ts";

describe("the failed jobs of a notification", () => {
  it("are the first 20, of which the default text tells 10", async () => {
    const { stores, close } = await openTestSqlite();
    try {
      const plan = planOf([Array.from({ length: 25 }, () => ({}))]);
      const run = new LargeRun(plan);
      run.claim(run.jobs("queued"));
      run.report(run.heldSteps(), "failed");
      await storeEnded(stores, run, plan);
      const { head } = run.snapshot;
      const { failed, count } = await failuresOf({ stores } as never, { head, plan } as never);
      const values = notificationValuesOf({
        on: "failure",
        runId: head.rootId,
        pipeline: "p",
        status: "failed",
        reason: "",
        job: "",
        failed,
        failedCount: count,
        triggeredBy: "",
        ref: "",
        commit: "",
        durationMs: 0,
        waitingFor: "",
        question: "",
        url: "",
      });
      expect(values.failedJobs).to.deep.equal(plan.jobs.slice(0, 20).map(({ name }) => name));
      expect(values.text.match(/^- job-/gm)).to.have.length(10);
      expect(values.text).to.contain("- and 15 more");
    } finally {
      await close();
    }
  });
});

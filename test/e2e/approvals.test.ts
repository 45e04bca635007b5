/**
 * Approvals in a real installation: users vote on a stage and on a job, and votes and approvals survive the death of
 * the node.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { type ApiAnswer, EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

describe("a run with approvals", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  const tokens = new Map<string, string>();

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    await installation.agent("one");
    for (const [name, role] of [
      ["ann", "operator"],
      ["ben", "operator"],
      ["vic", "viewer"],
    ] as const) {
      const { userId } = (await installation.call("POST", "/users", { name, role })).body.detail;
      const issued = await installation.call("POST", `/users/${userId}/tokens`, { name: "test" });
      tokens.set(name, issued.body.detail.token);
    }
  });
  after(() => world?.end());

  const work = (script: string): object => ({ uses: "shell", args: { script } });
  const deploy = (approval: object, more: object = {}): object => ({
    name: "deploy",
    approval,
    steps: [work("true")],
    ...more,
  });

  /** Creates a pipeline with this definition; the user ann triggers a run of it. */
  async function triggerAsAnn(name: string, spec: object): Promise<{ pipelineId: string; runId: string }> {
    const { pipelineId } = await installation.api.createPipeline(name, "");
    await installation.api.saveSpec(pipelineId, spec);
    const answer = await installation.call("POST", `/pipelines/${pipelineId}/trigger`, {}, tokens.get("ann"));
    return { pipelineId, runId: answer.body.detail.runId };
  }

  const readRun = async (runId: string) => (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;

  const openApproval = (runId: string) =>
    until("an approval is pending", async () =>
      // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
      (await readRun(runId)).approvals.find(({ status }: any) => status === "pending"),
    );

  const endOf = (runId: string) =>
    until(
      "the run ends",
      async () => {
        const run = await readRun(runId);
        return run.endTime === null ? undefined : run;
      },
      40_000,
    );

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  const vote = (approval: any, word: "approve" | "reject", name: string, body: object = {}): Promise<ApiAnswer> =>
    installation.call(
      "POST",
      `/pipelines/${approval.pipelineId}/runs/${approval.runId}/approvals/${approval.approvalId}/${word}`,
      body,
      tokens.get(name),
    );

  it("continues after two users have approved, and keeps their names and comments", async () => {
    const { runId } = await triggerAsAnn("two", {
      jobs: [
        { name: "build", steps: [work("true")] },
        deploy({ count: 2, message: "Ship ${{ jobs.build.result }}?" }, { needs: "build" }),
      ],
    });
    const approval = await openApproval(runId);
    expect(approval).to.deep.include({ gate: { job: "deploy" }, message: "Ship success?", count: 2 });
    const waiting = (await readRun(runId)).jobs[1];
    expect(waiting).to.include({ status: "pending" });
    expect(waiting.waitingFor).to.deep.equal({
      reason: "approval",
      text: "waits for the approval of job deploy: 2 approvals are missing",
      approvalId: approval.approvalId,
    });
    expect((await vote(approval, "approve", "vic")).body).to.include({
      code: 403,
      errMsg: "vic may not approve job deploy: only users with the role owner, admin, maintainer or operator may",
    });
    const first = (await vote(approval, "approve", "ann", { comment: "mine" })).body.detail;
    expect(first).to.deep.include({ status: "pending", missing: { users: [], count: 1 } });
    expect((await vote(approval, "approve", "ann")).body.detail.approvals).to.have.length(1);
    const last = (await vote(approval, "approve", "ben", { comment: "seen" })).body.detail;
    expect(last).to.include({ status: "approved", expiresAt: null });
    expect((await vote(approval, "approve", "ann")).status, "a repeat is accepted").to.equal(200);
    expect((await vote(approval, "reject", "ben")).body).to.include({
      code: 409,
      errMsg: "cannot reject job deploy: its approval is approved",
    });

    const run = await endOf(runId);
    expect(run.status).to.equal("success");
    expect(
      run.approvals[0].approvals.map(({ name, comment }: { name: string; comment: string }) => [name, comment]),
    ).to.deep.equal([
      ["ann", "mine"],
      ["ben", "seen"],
    ]);
    expect((await vote(approval, "reject", "ben")).status, "also after the end of the run").to.equal(409);
    const { list } = (await installation.call("GET", `/pipelines/runs/${runId}/timeline`)).body.detail;
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
    const audit = list.filter(({ object }: any) => object === "approval");
    expect(
      audit.map(({ name, lifecycle, status, cause, by, missing, comment }: Record<string, unknown>) => {
        return [name, lifecycle, status, cause, by === "ann" || by === "ben" ? by : "", missing, comment];
      }),
    ).to.deep.equal([
      ["job deploy", "requested", "pending", "reported", "", 2, ""],
      ["job deploy", "approved", "pending", "approve", "ann", 1, "mine"],
      ["job deploy", "approved", "approved", "approve", "ben", 0, "seen"],
    ]);
  });

  it("opens its stage when a user other than its trigger's approves it", async () => {
    const { runId, pipelineId } = await triggerAsAnn("self", {
      approval: { preventSelfApproval: true },
      jobs: [{ name: "deploy", steps: [work("true")] }],
    });
    const approval = await openApproval(runId);
    expect(approval.gate).to.deep.equal({ stage: "default" });
    const run = await readRun(runId);
    expect([run.status, run.waitingFor.reason, run.jobs[0].waitingFor.reason]).to.deep.equal([
      "running",
      "approval",
      "approval",
    ]);
    const refused = await vote(approval, "approve", "ann");
    expect(refused.body).to.include({ code: 403 });
    expect(refused.body.errMsg).to.include("ann triggered this run");
    const seen = async (name: string) =>
      (await installation.call("GET", `/approvals?pipelineId=${pipelineId}`, undefined, tokens.get(name))).body.detail
        .list[0];
    expect([(await seen("ann")).mayDecide, (await seen("ben")).mayDecide]).to.deep.equal([false, true]);
    expect((await vote(approval, "approve", "ben")).status).to.equal(200);
    expect((await endOf(runId)).status).to.equal("success");
    expect(await seen("ben"), "it no longer waits").to.equal(undefined);
  });

  it("fails after a rejection, and runs its jobs for failures", async () => {
    const { runId } = await triggerAsAnn("no", {
      stages: [
        { name: "live", approval: { preventSelfApproval: true }, jobs: [{ name: "deploy", steps: [work("true")] }] },
        { name: "after", jobs: [{ name: "clean", when: "always()", steps: [work("true")] }] },
      ],
    });
    const answer = await vote(await openApproval(runId), "reject", "ann", { comment: "not on a Friday" });
    expect(answer.body.detail.rejection).to.include({ name: "ann", comment: "not on a Friday" });
    const run = await endOf(runId);
    expect(run.status).to.equal("failed");
    expect(run.jobs.map(({ status, reason }: Record<string, string>) => [status, reason])).to.deep.equal([
      ["cancelled", "approval_rejected"],
      ["success", ""],
    ]);
  });

  it("withdraws its open approval when it is stopped", async () => {
    const { runId, pipelineId } = await triggerAsAnn("stop", { jobs: [deploy({})] });
    const approval = await openApproval(runId);
    await installation.api.stop(pipelineId, runId, "");
    const run = await endOf(runId);
    expect([run.status, run.approvals[0].status]).to.deep.equal(["cancelled", "cancelled"]);
    expect((await vote(approval, "approve", "ben")).body).to.include({
      code: 409,
      errMsg: "cannot approve job deploy: its approval is cancelled",
    });
  });

  it("keeps the first vote when the node is killed, takes the second one, and runs once", async () => {
    const mark = join(world.folder, "mark");
    const { runId } = await triggerAsAnn("killed", {
      jobs: [deploy({ count: 2 }, { steps: [work(`echo x >> ${mark}`)] })],
    });
    const approval = await openApproval(runId);
    await vote(approval, "approve", "ann", { comment: "before" });
    await restart();
    expect(await openApproval(runId)).to.deep.include({ status: "pending", missing: { users: [], count: 1 } });
    const answer = await vote(approval, "approve", "ben", { requestId: "once" });
    expect(answer.body.detail).to.include({ status: "approved" });
    await restart();
    expect((await vote(approval, "approve", "ben", { requestId: "once" })).status, "a repeat").to.equal(200);
    expect((await endOf(runId)).status).to.equal("success");
    expect(await readFile(mark, "utf8")).to.equal("x\n");
  });

  it("fails when its approval expires while no node is running", async () => {
    const { runId } = await triggerAsAnn("late", { jobs: [deploy({ timeout: "1m" })] });
    const { requestedAt, expiresAt, approvalId } = await openApproval(runId);
    expect(Date.parse(expiresAt) - Date.parse(requestedAt)).to.equal(60_000);
    await restart(() => makeDue(approvalId, runId));
    const run = await endOf(runId);
    expect([run.status, run.approvals[0].status]).to.deep.equal(["failed", "expired"]);
    expect(run.jobs[0]).to.include({ status: "cancelled", reason: "approval_expired" });
  });

  async function restart(meanwhile: () => void = () => {}): Promise<void> {
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    meanwhile();
    await installation.serve(dataDir);
  }

  /** Changes the stored times as if the minute had passed. */
  function makeDue(approvalId: string, runId: string): void {
    const file = new SqliteConnection(join(dataDir, "millrace.db"));
    file.prepare("UPDATE actors SET state = json_set(state, '$.expiryTimer.dueAt', 1) WHERE id = ?").run(approvalId);
    file.prepare("UPDATE aggregates SET next_due_at = 1 WHERE root_id = ?").run(runId);
    file.close();
  }
});

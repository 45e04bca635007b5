import { expect } from "chai";
import type { ApprovalState } from "../../actors/approval/state.ts";
import type { Verdict } from "../../src/domain/effects.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import type { PlannedApproval } from "../../src/domain/plan.ts";
import type { Role } from "../../src/domain/roles.ts";
import { commandChannel } from "../../src/feed/feed.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { sampleApproval, saveOf } from "../contracts/samples.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { approvalOf, planOf, withStageApproval } from "../support/plans.ts";
import { storeRun, type StoredRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";

interface Asked extends StoredRun {
  readonly approvalId: string;
}

describe("approvals over HTTP", () => {
  let edge: TestEdge;
  let pipelineId: PipelineId;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  beforeEach(async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    pipelineId = created.body.detail.pipelineId;
  });

  /** Stores a run whose second stage waits for an approval, as the owner of its shard would. */
  async function ask(
    rule: Partial<PlannedApproval> = {},
    requestedAt = 1_000,
    state: Partial<ApprovalState> = {},
  ): Promise<Asked> {
    const plan = { ...withStageApproval(planOf([[{}], [{}]]), 1, approvalOf(rule)), pipelineId };
    const run = await storeRun(edge.context, plan);
    const { aggregates } = edge.context.stores;
    const aggregate = (await aggregates.load(run.runId))!;
    const approval = sampleApproval(aggregate, { stage: 1 }, requestedAt, state);
    await aggregates.save(saveOf(aggregate, {}, [approval]));
    return { ...run, approvalId: approval.id };
  }

  const vote = (
    { runId, approvalId }: Asked,
    word: "approve" | "reject",
    { token, ...body }: { token?: string; comment?: string; requestId?: string; more?: string } = {},
  ): Promise<Answer> =>
    edge.call("POST", `/api/v1/pipelines/${pipelineId}/runs/${runId}/approvals/${approvalId}/${word}`, {
      body,
      ...(token !== undefined && { token }),
    });

  const list = async (query: string, token?: string) =>
    (await edge.call("GET", `/api/v1/approvals${query}`, token === undefined ? {} : { token })).body.detail;

  const pending = (run: StoredRun): Promise<readonly Command[]> => edge.context.stores.inbox.pending(run.runId);

  /** Answers the next command of the run, as its owner would. */
  async function decideNext(run: StoredRun, verdict: Verdict): Promise<Command> {
    const command = await until("a stored command", async () => (await pending(run))[0]);
    await edge.context.stores.inbox.answer(command.id, verdict);
    await edge.context.feed.publish(commandChannel(command.id), verdict);
    return command;
  }

  describe("reading", () => {
    it("shows every fact of an approval, in the run and in its list of approvals", async () => {
      const at = Date.parse("2026-11-21T10:00:00Z");
      const run = await ask({ required: ["ann"], count: 2, users: ["ben"], roles: ["admin"] }, at, {
        message: "Ship?",
      });
      const { detail } = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}/approvals`)).body;
      const view = {
        approvalId: run.approvalId,
        runId: run.runId,
        pipelineId,
        projectId: "default",
        gate: { stage: "stage-1" },
        status: "pending",
        message: "Ship?",
        requestedAt: "2026-11-21T10:00:00.000Z",
        expiresAt: "2026-11-21T10:00:01.000Z",
        endedAt: null,
        approvals: [],
        rejection: null,
        required: ["ann"],
        count: 2,
        missing: { users: ["ann"], count: 2 },
        allowed: { users: ["ben"], roles: ["admin"] },
        preventSelf: false,
      };
      expect(detail).to.deep.equal({
        runId: run.runId,
        list: [
          {
            ...view,
            mayDecide: false,
            whyNot: "admin may not approve stage stage-1: only ann, ben and users with the role admin may",
          },
        ],
      });
      const read = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}`)).body.detail;
      expect(read.approvals).to.deep.equal([view]);
      expect(read, "an approval is not taken for the run").to.deep.include({ status: "pending" });
      expect(read.waitingFor).to.include({ reason: "worker" });
    });

    it("shows votes with their comments, and how an ended approval ended", async () => {
      const ann = { userId: "usr_1", name: "ann", at: 2_000, comment: "fine" } as const;
      const ben = { userId: "usr_2", name: "ben", at: 3_000, comment: "not today" } as const;
      const run = await ask({ count: 3 }, 1_000, {
        state: "rejected",
        approvals: [ann as never],
        rejection: ben as never,
        endedAt: 3_000,
        expiryTimer: null,
      });
      const [view] = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}/approvals`)).body.detail.list;
      expect(view).to.deep.include({
        status: "rejected",
        approvals: [{ ...ann, at: "1970-01-01T00:00:02.000Z" }],
        rejection: { ...ben, at: "1970-01-01T00:00:03.000Z" },
        endedAt: "1970-01-01T00:00:03.000Z",
        expiresAt: null,
        missing: { users: [], count: 2 },
        mayDecide: false,
        whyNot: "it is rejected",
      });
    });

    it("lists the pending approvals of all runs, newest first, in pages, by pipeline and by status", async () => {
      const runs: Asked[] = [];
      for (let at = 1; at <= 5; at++) runs.push(await ask({}, at * 1_000));
      const ended = await ask({}, 9_000, { state: "expired", expiryTimer: null, endedAt: 9_500 });
      const ids = (found: { list: { runId: string }[] }) => found.list.map(({ runId }) => runId);
      const expected = runs.map(({ runId }) => runId);
      const mine = `pipelineId=${pipelineId}`;
      const first = await list(`?${mine}&pageSize=2`);
      expect(first).to.include({ total: 5, page: 1, pageSize: 2 });
      expect(ids(first)).to.deep.equal([expected[4], expected[3]]);
      expect(ids(await list(`?${mine}&pageSize=2&page=3`))).to.deep.equal([expected[0]]);
      expect(ids(await list(`?${mine}&sort=requestedAt`))).to.deep.equal(expected);
      expect(ids(await list(`?${mine}&status=expired&projectId=default`))).to.deep.equal([ended.runId]);
      expect((await list(`?${mine}&projectId=prj_other`)).total).to.equal(0);
      expect((await list("")).total).to.be.greaterThanOrEqual(5);
      expect((await edge.call("GET", "/api/v1/approvals?status=open")).status).to.equal(400);
      expect((await edge.call("GET", "/api/v1/approvals?runId=x")).body.errors[0]).to.include({ pointer: "/runId" });
    });

    it("says whether the caller may approve", async () => {
      await ask({ roles: ["viewer"] });
      const { token } = await edge.userWithRole("viewer");
      const of = async (bearer?: string) => (await list(`?pipelineId=${pipelineId}`, bearer)).list[0];
      expect(await of(token)).to.include({ mayDecide: true, whyNot: null });
      expect(await of()).to.include({ mayDecide: false });
    });

    it("answers 404 for an unknown run", async () => {
      expect((await edge.call("GET", "/api/v1/pipelines/runs/run_unknown/approvals")).status).to.equal(404);
    });
  });

  describe("voting", () => {
    it("stores the caller's vote, and answers with the verdict", async () => {
      const run = await ask({ count: 2 });
      const { token, name } = await edge.userWithRole("operator");
      const [answer, command] = await Promise.all([
        vote(run, "approve", { token, comment: "fine" }),
        decideNext(run, { outcome: "accepted", status: "pending" }),
      ]);
      expect(answer.status).to.equal(200);
      expect(answer.body.detail).to.deep.include({ approvalId: run.approvalId, runId: run.runId, status: "pending" });
      expect(command).to.deep.include({ kind: "approve", approvalId: run.approvalId, comment: "fine" });
      expect((command as Command & { kind: "approve" }).voter).to.include({ name });
    });

    it("answers 409 with the status of an ended approval", async () => {
      const run = await ask();
      const [answer] = await Promise.all([
        vote(run, "reject"),
        decideNext(run, { outcome: "refused", status: "approved" }),
      ]);
      expect(answer.body).to.include({
        code: 409,
        reason: "conflict",
        errMsg: "cannot reject stage stage-1: its approval is approved",
      });
    });

    for (const [words, rule, role, text] of [
      ["with a role that is not listed", { roles: ["admin"] }, "maintainer", "only users with the role admin may"],
      [
        "above the roles that are listed",
        { roles: ["viewer", "operator"] },
        "admin",
        "the role viewer or operator may",
      ],
      ["that is not named", { roles: [], users: ["ann", "ben"] }, "owner", "only ann and ben may"],
    ] as const satisfies readonly (readonly [string, Partial<PlannedApproval>, Role, string])[]) {
      it(`answers 403 to a user ${words}, and says who may approve`, async () => {
        const run = await ask(rule);
        const { token, name } = await edge.userWithRole(role);
        for (const word of ["approve", "reject"] as const) {
          const answer = await vote(run, word, { token });
          expect(answer.body).to.include({ code: 403, reason: "forbidden" });
          expect(answer.body.errMsg).to.include(`${name} may not ${word} stage stage-1`).and.to.include(text);
        }
        expect(await pending(run)).to.deep.equal([]);
      });
    }

    it("lets the named users vote, with any role", async () => {
      const { token, name } = await edge.userWithRole("viewer");
      for (const rule of [{ users: [name] }, { required: [name] }]) {
        const run = await ask({ roles: [], ...rule });
        const [answer] = await Promise.all([
          vote(run, "approve", { token }),
          decideNext(run, { outcome: "accepted", status: "approved" }),
        ]);
        expect(answer.status).to.equal(200);
      }
    });

    it("lets the user who triggered the run reject, but not approve with preventSelf", async () => {
      const run = await ask({ preventSelf: true });
      const answer = await vote(run, "approve");
      expect(answer.body).to.include({ code: 403, reason: "forbidden" });
      expect(answer.body.errMsg).to.equal(
        "admin triggered this run, so another user has to approve stage stage-1: " +
          "users with the role owner, admin, maintainer or operator may",
      );
      const { token } = await edge.userWithRole("operator");
      for (const [word, bearer] of [["approve", token] as const, ["reject", edge.adminToken] as const]) {
        const [other] = await Promise.all([
          vote(run, word, { token: bearer }),
          decideNext(run, { outcome: "accepted", status: "pending" }),
        ]);
        expect(other.status, word).to.equal(200);
      }
    });

    it("answers 404 for an approval that is unknown, not requested yet, or of another pipeline", async () => {
      const run = await ask();
      const silent = await storeRun(edge.context, { ...planOf([[{}]]), pipelineId });
      for (const other of [
        { ...run, approvalId: "apr_unknown" },
        { ...run, runId: newId("run") },
        { ...silent, approvalId: run.approvalId },
      ]) {
        expect((await vote(other, "approve")).body).to.include({ code: 404, reason: "not_found" });
      }
      const path = `/api/v1/pipelines/pl_other/runs/${run.runId}/approvals/${run.approvalId}/approve`;
      expect((await edge.call("POST", path)).status).to.equal(404);
      expect(await pending(run)).to.deep.equal([]);
    });

    it("refuses comments that are too long, and unknown fields", async () => {
      const run = await ask();
      expect((await vote(run, "approve", { comment: "x".repeat(2_001) })).body.errors[0].pointer).to.equal("/comment");
      expect((await vote(run, "approve", { more: "x" })).body.errors[0].pointer).to.equal("/more");
    });

    it("answers 503 without a verdict, and the first vote's verdict to a repeat of its requestId", async () => {
      const run = await ask();
      const late = await vote(run, "approve", { requestId: "a1", comment: "fine" });
      expect(late.body).to.include({ code: 503, reason: "unavailable" });
      await decideNext(run, { outcome: "accepted", status: "approved" });
      expect((await vote(run, "approve", { requestId: "a1", comment: "fine" })).status).to.equal(200);
      expect(await pending(run)).to.deep.equal([]);
      const other = await vote(run, "approve", { requestId: "a1", comment: "other" });
      expect(other.body).to.include({ code: 409, reason: "request_id_reused" });
    }).timeout(10_000);
  });
});

/** The feed of all approvals, over WebSocket and as an event stream. */
import { expect } from "chai";
import type { ApprovalState } from "../../actors/approval/state.ts";
import { asId, type ApprovalId, newId } from "../../src/domain/ids.ts";
import { APPROVALS_CHANNEL, type ApprovalHint } from "../../src/feed/feed.ts";
import { sampleApproval, saveOf } from "../contracts/samples.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { approvalOf, planOf, withStageApproval } from "../support/plans.ts";
import { storeRun, type StoredRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

interface Asked extends StoredRun {
  readonly approvalId: string;
}

describe("the channel of all approvals", function () {
  this.timeout(30_000);
  let edge: TestEdge;
  const viewers: TestViewer[] = [];
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());
  afterEach(() => Promise.all(viewers.splice(0).map((viewer) => viewer.close())));

  /** Stores the state of the approval of a run, as the owner of its shard would. */
  async function put(run: StoredRun, state: Partial<ApprovalState>, published: boolean): Promise<string> {
    const { aggregates } = edge.context.stores;
    const aggregate = (await aggregates.load(run.runId))!;
    const approval = sampleApproval(aggregate, { stage: 1 }, Date.now(), state);
    await aggregates.save(saveOf(aggregate, {}, [approval]));
    const hint: ApprovalHint = { runId: run.runId, approvalId: asId<ApprovalId>(approval.id) };
    if (published) await edge.context.feed.publish(APPROVALS_CHANNEL, hint);
    return approval.id;
  }
  async function ask(published = true): Promise<Asked> {
    const plan = withStageApproval(planOf([[{}], [{}]]), 1, approvalOf({}));
    const run = await storeRun(edge.context, { ...plan, pipelineId: newId("pl") });
    return { ...run, approvalId: await put(run, { message: "Ship?" }, published) };
  }
  const decide = (run: StoredRun, state: "approved" | "rejected", published = true) =>
    put(run, { state, endedAt: Date.now(), expiryTimer: null }, published);

  async function subscribe(params: object = {}): Promise<TestViewer> {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_approvals", params });
    await viewer.next("caughtUp");
    return viewer;
  }
  const statesOf = (viewer: TestViewer, { approvalId }: Asked): readonly string[] =>
    viewer.ofType("approval").flatMap(({ data }) => (data.approvalId === approvalId ? [data.status] : []));
  const told = (viewer: TestViewer, run: Asked, status: string) =>
    until(`${run.approvalId} is ${status}`, () => statesOf(viewer, run).includes(status));

  it("tells what waits for a decision, then each change, hinted or not", async () => {
    const [waiting, ended] = [await ask(), await ask()];
    await decide(ended, "rejected");
    const viewer = await subscribe();
    expect(viewer.received.slice(0, 2).map(({ type }) => type)).to.deep.equal(["subscribed", "reset"]);
    expect(statesOf(viewer, ended)).to.deep.equal([]);
    const { data } = viewer.ofType("approval").find((message) => message.data.approvalId === waiting.approvalId)!;
    expect(data).to.deep.include({
      approvalId: waiting.approvalId,
      runId: waiting.runId,
      pipelineId: waiting.pipelineId,
      projectId: "default",
      status: "pending",
      message: "Ship?",
      endedAt: null,
      approvals: [],
      rejection: null,
    });
    const [hinted, missed] = [await ask(), await ask(false)];
    await told(viewer, hinted, "pending");
    await decide(waiting, "approved");
    await told(viewer, waiting, "approved");
    await decide(missed, "rejected", false);
    await decide(hinted, "approved", false);
    // Within the time of one read of the store.
    await Promise.all([told(viewer, missed, "rejected"), told(viewer, hinted, "approved")]);
  });

  it("keeps to its filters, says when an approval leaves them, and resumes", async () => {
    const [run, other] = [await ask(), await ask()];
    const pending = await subscribe({ status: "pending", pipelineId: run.pipelineId, tenantId: "default" });
    const elsewhere = await subscribe({ projectId: "prj_other" });
    const { after } = pending.ofType("caughtUp")[0] as unknown as { readonly after: string };
    // The feed reads what a hint names: it must have read this state before the next one is stored.
    await told(pending, run, "pending");
    await decide(run, "approved");
    await told(pending, run, "approved");
    await decide(other, "approved");
    expect(statesOf(pending, run)).to.deep.equal(["pending", "approved"]);
    expect(statesOf(pending, other)).to.deep.equal([]);
    expect(elsewhere.ofType("approval")).to.deep.equal([]);
    const resumed = await subscribe({ after });
    expect(resumed.ofType("reset")).to.deep.equal([]);
    await told(resumed, run, "approved");
    expect(statesOf(resumed, run)).to.deep.equal(["approved"]);
    const wrong = await TestViewer.open(edge);
    viewers.push(wrong);
    wrong.send({ channel: "channel_approvals", params: { status: "done" } });
    expect((await wrong.next("error")).error).to.include("must be some of pending");
  });

  it("is an event stream too", async () => {
    const run = await ask();
    const path = `/live/approvals?pipelineId=${run.pipelineId}`;
    const stream = await TestEventStream.open(edge, path, { authorization: `Bearer ${edge.adminToken}` });
    await stream.next("caughtUp");
    // The feed may hear of the request after it has caught up.
    const { id, data } = await stream.next("approval");
    expect(data.approvalId).to.equal(run.approvalId);
    stream.close();
    await decide(run, "approved");
    const again = await TestEventStream.open(edge, path, {
      authorization: `Bearer ${edge.adminToken}`,
      "last-event-id": id!,
    });
    expect((await again.next("approval")).data.status).to.equal("approved");
    again.close();
  });
});

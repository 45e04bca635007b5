/** Runs of forks wait for an approval of the commit that they build. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { ApprovalState } from "../../actors/approval/state.ts";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import { approvalId, type RunId } from "../../src/domain/ids.ts";
import { GitEdge } from "../support/git-edge.ts";

const SECRET = "swordfish-and-more";
const [FIRST, SECOND] = ["ab".repeat(20), "cd".repeat(20)] as const;
const SPEC = {
  triggers: { event: [{ provider: "github", event: "pull_request", actions: ["opened", "updated", "labelled"] }] },
  jobs: [{ name: "j", source: { repo: "https://example.org/c.git" }, steps: [{ uses: "checkout" }] }],
};

describe("the approval of a fork's run over HTTP", () => {
  let git: GitEdge;
  let runner: HookRunner;
  before(async () => {
    git = await GitEdge.open();
    const shards = Array.from({ length: git.edge.context.shards }, (_, shard) => shard);
    runner = new HookRunner(git.edge.context, () => shards);
  });
  after(() => git.close());

  async function call(method: string, path: string, body?: unknown) {
    const answer = await git.edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }

  let made = 0;
  async function hooked(forks?: string) {
    const { projectId } = await call("POST", "/projects", { name: `forks ${made++}` });
    if (forks !== undefined)
      await call("PUT", `/projects/${projectId}/settings`, { values: { "forks.approval": forks } });
    await call("POST", `/projects/${projectId}/secrets`, { name: "HOOK_KEY", value: SECRET });
    const given = { name: "code", kind: "github", secret: "HOOK_KEY" };
    const hook = await call("POST", `/projects/${projectId}/hooks`, given);
    const { pipelineId } = await call("POST", "/pipelines", { name: "p", projectId });
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: SPEC });
    return { projectId, pipelineId, path: hook.path as string };
  }
  type Hooked = Awaited<ReturnType<typeof hooked>>;

  let deliveries = 0;
  /** Delivers an event of a pull request, and answers the run that it has started. */
  async function pullRequest(
    { path, pipelineId }: Hooked,
    sha: string,
    {
      action = "opened",
      number = 7,
      sender = "mallory",
      author = "mallory",
      from = "mallory/code",
      id = 66 as number | null,
    } = {},
  ): Promise<RunId> {
    const raw = JSON.stringify({
      action,
      repository: { full_name: "team/code", clone_url: "https://example.org/c.git" },
      sender: { login: sender, id },
      pull_request: {
        number,
        title: "Look",
        user: { login: author, id },
        head: { ref: "main", sha, repo: { full_name: from } },
        base: { ref: "main", sha: FIRST, repo: { full_name: "team/code" } },
      },
    });
    const headers = {
      "content-type": "application/json",
      "x-github-delivery": `f-${deliveries++}`,
      "x-github-event": "pull_request",
      "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(raw).digest("hex")}`,
    };
    const answer = await git.edge.call("POST", path, { raw, headers, token: null });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    await runner.pass();
    const { list } = await call("GET", `/pipelines/${pipelineId}/runs`);
    const { runId, trigger } = await call("GET", `/pipelines/runs/${list[0].runId}`);
    expect(trigger.event.deliveryId).to.equal(answer.body.detail.deliveryId);
    return runId;
  }
  const waitOf = async (runId: RunId) => (await call("GET", `/pipelines/runs/${runId}`)).waitingFor?.reason as string;
  /** Stores what the worker would store after a vote. */
  async function decided(runId: RunId, state: "approved" | "rejected"): Promise<void> {
    const { aggregates } = git.edge.context.stores;
    const { head, actors } = (await aggregates.load(runId))!;
    const found = actors.find(({ id }) => id === approvalId(runId, { run: true }))!;
    const changed = {
      ...found,
      index: { ...found.index, status: state },
      state: { ...(found.state as ApprovalState), state },
    };
    const after = { ...head, version: head.version + 1 };
    expect(
      await aggregates.save({ expectedVersion: head.version, head: after, changed: [changed], events: [] }),
    ).to.equal("saved");
  }

  it("is waited for before any job is offered, and is shown with its commit", async () => {
    const of = await hooked();
    const runId = await pullRequest(of, FIRST);
    const run = await call("GET", `/pipelines/runs/${runId}`);
    expect(run).to.include({ status: "pending" });
    expect(run.waitingFor).to.deep.equal({
      reason: "approval",
      text: "waits for the approval of the run: 1 approval is missing",
      approvalId: approvalId(runId, { run: true }),
    });
    const { list } = await call("GET", `/approvals?projectId=${of.projectId}`);
    expect(list).to.have.length(1);
    expect(list[0]).to.deep.include({ runId, gate: { run: runId }, status: "pending", mayDecide: true });
    expect(list[0].message).to.include(FIRST).and.include("Pull request 7, by github:mallory");
    const { owed } = (await git.edge.context.stores.aggregates.loadHead(runId))!;
    expect(owed.filter(({ effect }) => ["offer", "dispatch"].includes(effect.type))).to.deep.equal([]);
    const job = await git.edge.context.stores.plans.loadJob(runId, 0);
    expect(job!.steps[0]!.args, "the job takes the commit that is approved").to.include({ ref: FIRST });
  });

  it("is not asked for a pull request of the same repository", async () => {
    const runId = await pullRequest(await hooked(), FIRST, { from: "team/code" });
    expect(await waitOf(runId)).to.equal("no_agent_online");
  });

  it("counts for the same commit, and not for the next one", async () => {
    const of = await hooked();
    await decided(await pullRequest(of, FIRST), "approved");
    expect(await waitOf(await pullRequest(of, FIRST, { action: "labelled", sender: "ann" }))).to.equal(
      "no_agent_online",
    );
    expect(await waitOf(await pullRequest(of, SECOND, { action: "updated" }))).to.equal("approval");
    expect(await waitOf(await pullRequest(of, FIRST, { number: 8 })), "another pull request").to.equal("approval");
  });

  it("is asked for again after a rejection", async () => {
    const of = await hooked();
    await decided(await pullRequest(of, FIRST), "rejected");
    expect(await waitOf(await pullRequest(of, FIRST, { action: "labelled" }))).to.equal("approval");
  });

  it("is asked of first-time contributors alone, where the project says so", async () => {
    const of = await hooked("firstTime");
    await decided(await pullRequest(of, FIRST), "approved");
    expect(await waitOf(await pullRequest(of, SECOND, { action: "updated" }))).to.equal("no_agent_online");
    const other = { action: "updated", number: 9, sender: "mallory", author: "oscar" };
    expect(await waitOf(await pullRequest(of, SECOND, other)), "another author").to.equal("approval");
    const unknown = { action: "updated", number: 9, author: "" };
    expect(await waitOf(await pullRequest(of, SECOND, unknown)), "no author").to.equal("approval");
    for (const id of [67, null]) {
      const taken = { action: "updated", number: 10, id };
      expect(await waitOf(await pullRequest(of, SECOND, taken)), "a login that another user has taken").to.equal(
        "approval",
      );
    }
  });

  it("is not asked for where the project says never", async () => {
    expect(await waitOf(await pullRequest(await hooked("never"), FIRST))).to.equal("no_agent_online");
  });
});

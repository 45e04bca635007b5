/** What was deployed where, over HTTP: a page for each environment, and the deployments to one of them. */
import { expect } from "chai";
import { DeployedRuns, MAX_DEPLOYED_RUNS } from "../../src/app/upkeep/deployed-runs.ts";
import { pruneRuns } from "../../src/app/upkeep/prune-runs.ts";
import { PruneSchedule } from "../../src/app/upkeep/prune-schedule.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { asId, newId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { JobStatus } from "../../src/domain/status.ts";
import { actorOf, saveOf, withIndex } from "../contracts/samples.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { storeRun } from "../support/stored-runs.ts";

describe("environments over HTTP", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());

  const get = async (path: string, token?: string) =>
    edge.call("GET", `/api/v1${path}`, token === undefined ? {} : { token });

  async function pipelineIn(projectId: string, name: string): Promise<PipelineId> {
    const made = await edge.call("POST", "/api/v1/pipelines", { body: { name, projectId } });
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    return made.body.detail.pipelineId;
  }

  /** A run whose job deploys, as the owner of its shard would store it. */
  async function deploy(
    place: { projectId: string; environment: string; pipelineId: string },
    status: JobStatus,
    at: number,
  ) {
    const projectId = asId<ProjectId>(place.projectId);
    const pipelineId = asId<PipelineId>(place.pipelineId);
    const { runId } = await storeRun(edge.context, { ...planOf([[{}]]), projectId, pipelineId });
    const { aggregates } = edge.context.stores;
    const aggregate = (await aggregates.load(runId))!;
    const job = actorOf(aggregate, "job");
    const deployment = { ...place, projectId, pipelineId, job: "ship", startedAt: at };
    const state = { ...(job.state as object), startedAt: at, endedAt: at + 1_000, deployment };
    const { head } = aggregate;
    const summary = { ...head.summary, status: "success", endedAt: 1 } as const;
    const ended = { summary, final: true, settled: true, owed: [] };
    const changed = [withIndex(job, { status, deployment }, state)];
    await aggregates.save(saveOf(aggregate, status === "running" ? {} : ended, changed));
    return { runId, jobId: job.id, pipelineId };
  }

  it("tell what is there and what was deployed last, and the history of each", async () => {
    const pipelineId = await pipelineIn("default", "shop");
    const [live, test] = ["live", "a/test"].map((environment) => ({ projectId: "default", environment, pipelineId }));
    const good = await deploy(live!, "success", 1_000);
    const bad = await deploy(live!, "failed", 2_000);
    const running = await deploy(test!, "running", 3_000);
    const of = { job: "ship", commitSha: "rev_1", ref: "main", triggeredBy: "admin" };
    const seconds = (second: number) => `1970-01-01T00:00:0${second}.000Z`;
    const success = { ...good, ...of, status: "success", startedAt: seconds(1), endedAt: seconds(2) };
    const failure = { ...bad, ...of, status: "failed", startedAt: seconds(2), endedAt: seconds(3) };
    const { list, next } = (await get("/environments?projectId=default")).body.detail;
    expect(next).to.equal(null);
    expect(list).to.deep.equal([
      {
        ...test,
        pipeline: "shop",
        current: null,
        last: { ...running, ...of, status: "running", startedAt: seconds(3), endedAt: seconds(4) },
      },
      { ...live, pipeline: "shop", current: success, last: failure },
    ]);
    const history = async (query: string) =>
      (await get(`/environments/deployments?environment=live${query}`)).body.detail;
    expect((await history("")).list).to.deep.equal([failure, success]);
    const page = await history("&limit=1");
    expect(page.list).to.deep.equal([failure]);
    expect(await history(`&limit=1&after=${page.next}`)).to.deep.equal({ list: [success], next: null });
    expect((await history("&status=success")).list).to.deep.equal([success]);
    expect((await history(`&pipelineId=${newId("pl")}`)).list).to.deep.equal([]);
    for (const query of ["", "?environment=", "?environment=live&status=late", "?environment=live&after=x"]) {
      expect((await get(`/environments/deployments${query}`)).status, query).to.equal(400);
    }
  });

  describe("when retention removes all runs but the newest one", () => {
    const prune = async (only: PipelineId) => {
      const unbounded = { ageMs: null, perPipeline: null, perProject: null };
      const pass = pruneRuns(edge.context, {
        rules: { logs: unbounded, artifacts: unbounded, events: unbounded, runs: { ...unbounded, perPipeline: 1 } },
        isMine: (pipelineId) => pipelineId === only,
        onPruned: () => {},
        schedule: new PruneSchedule(),
      });
      for await (const _ of pass);
    };
    const runsOf = async (pipelineId: string) => {
      const { list } = (await get(`/pipelines/${pipelineId}/runs?pageSize=100`)).body.detail;
      return list.map(({ runId }: { runId: string }) => runId);
    };
    const currentOf = async (environment: string) =>
      (await get(`/environments?projectId=default&environment=${environment}`)).body.detail.list[0]?.current?.runId;

    it("keep the run of what is there, until another one has taken its place", async () => {
      const pipelineId = await pipelineIn("default", "kept");
      const to = async (environment: string, status: JobStatus, at: number) => {
        edge.skewMs += 10;
        return (await deploy({ projectId: "default", environment, pipelineId }, status, at)).runId;
      };
      const first = await to("kept-live", "success", 1_000);
      await to("kept-test", "success", 2_000);
      await to("kept-live", "failed", 3_000);
      const third = await to("kept-test", "success", 4_000);
      const newest = await to("kept-live", "failed", 5_000);
      await prune(pipelineId);
      expect(await runsOf(pipelineId)).to.deep.equal([newest, third, first]);
      expect(await currentOf("kept-live")).to.equal(first);
      const next = await to("kept-live", "success", 6_000);
      await prune(pipelineId);
      expect(await runsOf(pipelineId)).to.deep.equal([next, third]);
      await edge.call("DELETE", `/api/v1/pipelines/${pipelineId}`);
      edge.skewMs += 2 * 86_400_000;
      await prune(pipelineId);
      expect(await edge.context.stores.aggregates.loadHead(third)).to.equal(undefined);
      edge.skewMs = 0;
    });

    it("keep a bounded number of them, the newest", async () => {
      const pipelineId = await pipelineIn("default", "branches");
      const runs = [];
      for (let at = 0; at < MAX_DEPLOYED_RUNS + 2; at++) {
        runs.push(
          await deploy({ projectId: "default", environment: `branch-${at}`, pipelineId }, "success", 1_000 + at),
        );
      }
      const deployed = new DeployedRuns(edge.context);
      expect(await deployed.spare(runs.slice(0, MAX_DEPLOYED_RUNS))).to.deep.equal([]);
      expect(await deployed.spare(runs.slice(MAX_DEPLOYED_RUNS))).to.deep.equal(runs.slice(0, 2));
    });
  });

  it("are those of the projects that the caller may see, page by page", async () => {
    const projectIds: string[] = [];
    for (const name of ["one", "two", "three"]) {
      projectIds.push((await edge.call("POST", "/api/v1/projects", { body: { name } })).body.detail.projectId);
    }
    for (const projectId of projectIds) {
      const pipelineIds = [await pipelineIn(projectId, "web"), await pipelineIn(projectId, "api")];
      for (const pipelineId of pipelineIds) {
        for (const environment of ["a", "stage", "z"])
          await deploy({ projectId, environment, pipelineId }, "success", 1_000);
      }
    }
    const userId = newId("usr");
    const user = { userId, name: "reader", role: null, passwordHash: "", createdAt: 0, disabled: false };
    await edge.context.stores.identity.createUser(user);
    const token = await issueToken(edge.context, { kind: "personal", subject: userId, name: "test" });
    for (const projectId of projectIds.slice(1)) {
      const body = { role: "viewer" };
      const bound = await edge.call("PUT", `/api/v1/projects/${projectId}/members/${userId}`, { body });
      expect(bound.status, JSON.stringify(bound.body)).to.equal(200);
    }
    const all = async (query: string, by?: string) => {
      const found: string[] = [];
      for (let after = "", pages = 0; pages < 40; pages++) {
        const { list, next } = (await get(`/environments?limit=4${query}${after}`, by)).body.detail;
        found.push(
          ...list.map((one: any) => `${projectIds.indexOf(one.projectId)} ${one.environment} ${one.pipeline}`),
        );
        if (next === null) return found;
        after = `&after=${next}`;
      }
      throw new Error("no end");
    };
    const mine = await all("", token);
    expect(new Set(mine).size).to.equal(12);
    expect(mine.every((one) => one.startsWith("1") || one.startsWith("2"))).to.equal(true);
    expect((await all("&environment=stage", token)).toSorted()).to.deep.equal([
      "1 stage api",
      "1 stage web",
      "2 stage api",
      "2 stage web",
    ]);
    expect(await all(`&projectId=${projectIds[0]}`, token)).to.deep.equal([]);
    expect(await all(`&projectId=${projectIds[0]}`)).to.have.length(6);
    expect(
      (await get(`/environments/deployments?environment=stage&projectId=${projectIds[0]}`, token)).status,
    ).to.equal(404);
    expect((await get(`/environments?after=${Buffer.from("[1]").toString("base64url")}`)).status).to.equal(400);
  });
});

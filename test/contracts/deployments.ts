/** The contract of deployments and the environments that follow from them. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, newId, type JobRunId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { JobStatus } from "../../src/domain/status.ts";
import type { Deployment, EnvironmentKey } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { actorOf, sampleAggregate, saveOf, withIndex } from "./samples.ts";

const FIRST_AT = 7_000;

export function deploymentsContract(open: () => Stores): void {
  describe("deployments", () => {
    const projectIds = [newId("prj"), newId("prj")].toSorted().map((id) => asId<ProjectId>(id));
    const pipelineIds = [newId("pl"), newId("pl")].toSorted().map((id) => asId<PipelineId>(id));
    const [first, second] = projectIds as [ProjectId, ProjectId];
    const [web, api] = pipelineIds as [PipelineId, PipelineId];
    const STATUSES: readonly JobStatus[] = ["success", "failed", "success", "failed", "failed"];

    /** Stores a run whose first job has begun to deploy in a turn after the creation of the run, and ends in another one. */
    async function deploy(key: EnvironmentKey, status: JobStatus, startedAt: number): Promise<Deployment> {
      const { aggregates } = open();
      const created = sampleAggregate({ pipelineId: key.pipelineId });
      await aggregates.create(created);
      const job = actorOf(created, "job");
      const deployment = { ...key, job: "deploy it", startedAt };
      const started = { ...(job.state as object), startedAt, deployment };
      const running = saveOf(created, {}, [withIndex(job, { status: "running", deployment }, started)]);
      expect(await aggregates.save(running)).to.equal("saved");
      const endedAt = startedAt + 1;
      const ended = withIndex(job, { status, deployment }, { ...started, endedAt });
      expect(await aggregates.save(saveOf({ head: running.head }, {}, [ended]))).to.equal("saved");
      const jobId = asId<JobRunId>(job.id);
      return { ...deployment, jobId, runId: created.head.rootId, status, endedAt };
    }

    const made: Deployment[] = [];
    const keys: readonly EnvironmentKey[] = [
      { projectId: first, environment: "Live €", pipelineId: web },
      { projectId: first, environment: "live", pipelineId: web },
      { projectId: first, environment: "live", pipelineId: api },
      { projectId: second, environment: "live", pipelineId: web },
    ];
    before(async () => {
      for (const key of keys) {
        for (const [nth, status] of STATUSES.entries()) made.push(await deploy(key, status, FIRST_AT + (nth >> 1)));
      }
      // A job without a target, and one that has not begun.
      await open().aggregates.create(sampleAggregate({ pipelineId: web }));
    });

    it("are found by environment, each environment behind the one before", async () => {
      const found: EnvironmentKey[] = [];
      let place: EnvironmentKey | undefined = { projectId: first, environment: "", pipelineId: asId<PipelineId>("") };
      while ((place = await open().deployments.nextEnvironment(place)) !== undefined) {
        if (!projectIds.includes(place.projectId)) break;
        found.push(place);
      }
      expect(found).to.deep.equal(keys);
    });

    it("are listed page by page, the newest first, by pipeline and status", async () => {
      const environment = "live";
      for (const more of [
        {},
        { pipelineId: api },
        { status: "failed" },
        { pipelineId: web, status: "success" },
      ] as const) {
        const filter = { projectId: first, environment, ...more };
        const isMeant = (one: Deployment) =>
          Object.entries(filter).every(([field, value]) => one[field as keyof Deployment] === value);
        const expected = made
          .filter(isMeant)
          .toSorted((a, b) => b.startedAt - a.startedAt || (a.jobId < b.jobId ? 1 : -1));
        const found: Deployment[] = [];
        for (let page; page === undefined || page.length > 0;) {
          const last = found.at(-1);
          const after = last && { at: last.startedAt, id: last.jobId };
          page = await open().deployments.list(filter, { limit: 3, after });
          found.push(...page);
        }
        expect(found, JSON.stringify(more)).to.deep.equal(expected);
      }
      const nowhere = { projectId: second, environment: "Live €" };
      expect(await open().deployments.list(nowhere, { limit: 3 })).to.deep.equal([]);
    });

    it("end with their run", async () => {
      const key = { projectId: second, environment: "gone", pipelineId: web };
      const { runId, jobId } = await deploy(key, "success", FIRST_AT);
      await open().removeRun({ runId, jobIds: [jobId], stepRunIds: [], approvalIds: [] });
      expect(await open().deployments.list(key, { limit: 1 })).to.deep.equal([]);
    });
  });
}

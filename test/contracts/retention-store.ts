/** The contract of the stores for the retention pruner. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { GROUP_AGGREGATE } from "../../actors/group/aggregate.ts";
import type { AgentEvent } from "../../src/stores/ports/agent-events.ts";
import {
  type AgentId,
  asId,
  commandIdOf,
  type GroupId,
  groupIdOf,
  newId,
  type PipelineId,
  type ProjectId,
  type StepRunId,
} from "../../src/domain/ids.ts";
import { UNBOUNDED } from "../../src/domain/retention-text.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { leftOf, storeWhole } from "./run-removal.ts";
import { lines, sampleAggregate, saveOf } from "./samples.ts";

/** The words of {@link leftOf} for each part. Artifacts have none: their own store removes them. */
const LEFT_BY = { logs: ["log"], artifacts: [], events: ["event", "agentEvent"] } as const;
const ALL = { after: null, limit: 100 } as const;

export function retentionStoreContract(open: () => Stores): void {
  describe("retention of runs", () => {
    const storeRuns = async (times: readonly number[]) => {
      const pipelineId = newId("pl");
      const runs = times.map((now) => sampleAggregate({ pipelineId, now }));
      for (const run of runs) await open().aggregates.create(run);
      return { pipelineId, runs, ids: runs.map(({ head }) => head.rootId) };
    };

    it("lists the pipelines that have runs, without groups", async () => {
      const stored = [await storeRuns([1]), await storeRuns([1])].map(({ pipelineId }) => pipelineId);
      await open().aggregates.create(GROUP_AGGREGATE.initial!(groupIdOf(asId<ProjectId>("p"), newId("run")), 0));
      const seen: PipelineId[] = [];
      for (let at = await open().retention.nextPipeline(""); at !== undefined;) {
        seen.push(at);
        at = await open().retention.nextPipeline(at);
      }
      expect(seen).to.include.members(stored).and.not.include("");
      expect(seen).to.deep.equal(seen.toSorted());
      expect(new Set(seen).size).to.equal(seen.length);
    });

    it("finds the n-th newest run of a pipeline and of a project", async () => {
      const { pipelineId, ids, runs } = await storeRuns([10, 20, 20, 30]);
      const { projectId } = runs[0]!.head.summary;
      const of = { pipelineId };
      expect(await open().retention.nthNewest(0, of)).to.deep.equal({ createdAt: 30, runId: ids[3], projectId });
      expect((await open().retention.nthNewest(1, of))!.runId, "the id breaks a tie").to.equal(ids[2]);
      expect((await open().retention.nthNewest(3, of))!.runId).to.equal(ids[0]);
      expect(await open().retention.nthNewest(4, of)).to.equal(undefined);
      expect((await open().retention.nthNewest(0, { projectId }))!.createdAt).to.be.at.least(30);
      expect(await open().retention.nthNewest(0, { projectId: newId("prj") })).to.equal(undefined);
    });

    it("lists the newest runs since a time, without groups", async () => {
      const far = 8e15;
      const [one, two] = [await storeRuns([far + 1, far + 3]), await storeRuns([far + 2])];
      const pipelinesOf = async (since: number, limit: number) =>
        (await open().retention.newestRuns(since, limit)).map(({ pipelineId }) => pipelineId);
      expect(await pipelinesOf(far, 10)).to.deep.equal([one.pipelineId, two.pipelineId, one.pipelineId]);
      expect(await pipelinesOf(far, 2)).to.deep.equal([one.pipelineId, two.pipelineId]);
      expect(await pipelinesOf(far + 2, 10)).to.deep.equal([one.pipelineId]);
      expect(await pipelinesOf(far + 3, 10)).to.deep.equal([]);
      const [newest] = await open().retention.newestRuns(far, 1);
      expect(newest!.projectId).to.equal(one.runs[0]!.head.summary.projectId);
    });

    it("pages the runs of a pipeline up to a time, oldest first", async () => {
      const { pipelineId, ids, runs } = await storeRuns([10, 20, 20, 30, 40]);
      const page = async (after: Parameters<Stores["retention"]["pageRuns"]>[2]["after"], limit: number) =>
        (await open().retention.pageRuns(pipelineId, "runs", { upTo: 30, after, limit })).map(({ runId }) => runId);
      expect(await page(null, 10)).to.deep.equal(ids.slice(0, 4));
      expect(await page(null, 2)).to.deep.equal(ids.slice(0, 2));
      expect(await page({ createdAt: 20, runId: ids[1]! }, 2)).to.deep.equal(ids.slice(2, 4));
      await open().aggregates.save(
        saveOf(runs[0]!, { final: true, settled: true, summary: { ...runs[0]!.head.summary, endedAt: 15 } }),
      );
      const [ended, live] = await open().retention.pageRuns(pipelineId, "runs", { ...ALL, upTo: 20 });
      const { projectId } = runs[0]!.head.summary;
      expect(ended).to.deep.include({ runId: ids[0], projectId, createdAt: 10, endedAt: 15, settled: true });
      expect(live).to.deep.include({ runId: ids[1], endedAt: null, settled: false });
      expect(ended!.origin).to.deep.include({ attempt: 1, firstRunId: null, retryOf: null });
    });

    for (const part of ["logs", "artifacts", "events"] as const) {
      it(`removes only the ${part} of a run, marks them first, and may be repeated`, async () => {
        const run = await storeWhole(open());
        const { runId, stepRunIds } = run;
        const { pipelineId } = (await open().aggregates.loadHead(runId))!.summary;
        const listed = async () =>
          (await open().retention.pageRuns(pipelineId, part, { ...ALL, upTo: 9e15 })).map(
            (listedRun) => listedRun.runId,
          );
        const whole = await leftOf(open(), run);
        expect(await open().retention.dropped(runId)).to.deep.equal({ logs: false, artifacts: false, events: false });
        expect(await listed()).to.include(runId);
        for (const _ of ["once", "again"]) {
          if (part === "logs") await open().retention.dropLogs(runId, stepRunIds);
          else if (part === "events") await open().retention.dropEvents(runId);
          else await open().retention.noteNoArtifacts(runId);
          expect(await open().retention.dropped(runId)).to.deep.equal({
            logs: part === "logs",
            artifacts: part === "artifacts",
            events: part === "events",
          });
          expect(await listed()).not.to.include(runId);
          expect(whole.filter((name) => !(LEFT_BY[part] as readonly string[]).includes(name))).to.deep.equal(
            await leftOf(open(), run),
          );
        }
        expect(await open().logs.storedThrough(stepRunIds[0]!), "the number of the last line stays known").to.equal(
          250,
        );
      });
    }

    it("keeps the marks of dropped parts through saves of the owner", async () => {
      const aggregate = sampleAggregate();
      const { rootId } = aggregate.head;
      await open().aggregates.create(aggregate);
      await open().retention.dropLogs(rootId, []);
      expect(await open().aggregates.save(saveOf(aggregate))).to.equal("saved");
      expect(await open().retention.dropped(rootId)).to.deep.equal({ logs: true, artifacts: false, events: false });
      expect(await open().retention.dropped(newId("run"))).to.equal(undefined);
    });

    it("leaves the logs of other steps alone, also when there are many", async () => {
      const ids = Array.from({ length: 3 }, () => newId("step"));
      for (const stepRunId of ids) {
        for (let line = 1; line <= 300; line++) {
          await open().logs.append({ stepRunId, agentId: "a", lines: lines(line, line) });
        }
      }
      await open().retention.dropLogs(newId("run"), ids.slice(0, 2));
      const counts = await Promise.all(ids.map(async (id: StepRunId) => (await open().logs.read(id, 1, 999)).length));
      expect(counts).to.deep.equal([0, 0, 300]);
    });
  });

  describe("removals", () => {
    const removal = (isRepeat = false, at = 5) => {
      const runId = newId("run");
      const none = { jobIds: [], stepRunIds: [], approvalIds: [] };
      return { runId, ...none, at, isRepeat, succession: { key: "k", runId } };
    };

    it("are found until they are finished, and stay as a mark afterwards", async () => {
      const { removals } = open();
      const begun = removal();
      expect(await removals.find(begun.runId)).to.equal(undefined);
      await removals.begin(begun);
      await removals.begin({ ...begun, at: 99 });
      expect(await removals.find(begun.runId)).to.deep.equal({ removal: begun });
      expect(await removals.unfinished(100)).to.deep.include(begun);
      for (const _ of ["once", "again"]) await removals.finish(begun.runId);
      expect(await removals.find(begun.runId)).to.deep.equal({ removal: null });
      expect((await removals.unfinished(100)).map(({ runId }) => runId)).not.to.include(begun.runId);
      await removals.begin(begun);
      expect(await removals.find(begun.runId), "a finished removal does not begin again").to.deep.equal({
        removal: null,
      });
      await removals.drop(begun.runId);
      expect(await removals.find(begun.runId)).to.equal(undefined);
    });

    it("are forgotten by age, except unfinished ones and those of reruns", async () => {
      const { removals } = open();
      const [old, fresh, repeat, unfinished] = [
        removal(false, -9),
        removal(false, -5),
        removal(true, -9),
        removal(false, -9),
      ];
      for (const begun of [old, fresh, repeat, unfinished]) await removals.begin(begun);
      for (const { runId } of [old, fresh, repeat]) await removals.finish(runId);
      expect(await removals.forget(-5, 100)).to.equal(1);
      expect(await removals.forget(-5, 100)).to.equal(0);
      const left = await Promise.all([old, fresh, repeat, unfinished].map(({ runId }) => removals.find(runId)));
      expect(left.map((found) => found !== undefined)).to.deep.equal([false, true, true, true]);
      for (const { runId } of [fresh, repeat, unfinished]) await removals.drop(runId);
    });
  });

  describe("forgetting by age", () => {
    it("removes request ids in batches, and no claim of a rerun", async () => {
      const claim = (bodyHash: string, at: number) => ({ key: newId("cmd"), bodyHash, createdId: "x", at });
      const claims = [claim("h", -30), claim("h", -29), claim("", -30), claim("h", -20)];
      for (const key of claims) await open().idempotency.claim(key);
      expect(await open().idempotency.forget(-20, 1)).to.equal(1);
      expect(await open().idempotency.forget(-20, 5)).to.equal(1);
      expect(await open().idempotency.forget(-20, 5)).to.equal(0);
      const left = await Promise.all(claims.map(({ key }) => open().idempotency.find(key)));
      expect(left).to.deep.equal([undefined, undefined, claims[2], claims[3]]);
      for (const { key } of claims) await open().idempotency.remove(key);
      expect(await open().idempotency.find(claims[2]!.key)).to.equal(undefined);
    });

    it("removes the oldest dead letters, by age and above a count", async () => {
      const { deadLetters } = open();
      const others = await deadLetters.count();
      const ids = await Promise.all(
        [-50, -40, -30, -20].map(async (at) => {
          const id = newId("cmd");
          const stored = { to: { kind: "job", id: "j" }, message: {} } as const;
          await deadLetters.insert({ id, shard: 0, rootId: "run_1", letter: stored, reason: "", at });
          return id;
        }),
      );
      const left = async () => {
        const found = await Promise.all(ids.map((id) => deadLetters.find(id)));
        return found.map((deadLetter) => deadLetter !== undefined);
      };
      expect(await deadLetters.forget({ before: -40, most: 1_000, limit: 10 })).to.equal(1);
      expect(await left()).to.deep.equal([false, true, true, true]);
      expect(await deadLetters.forget({ before: -100, most: others + 1, limit: 1 })).to.equal(1);
      expect(await deadLetters.forget({ before: -100, most: others + 1, limit: 9 })).to.equal(1);
      expect(await deadLetters.forget({ before: -100, most: others + 1, limit: 9 })).to.equal(0);
      expect(await left()).to.deep.equal([false, false, false, true]);
    });

    it("removes the events of agents about themselves, and none about runs", async () => {
      const { agentEvents } = open();
      const agents = [newId("agt"), newId("agt")];
      const runId = newId("run");
      const event = (agentId: AgentId, receivedAt: number, of: AgentEvent["runId"]): AgentEvent => ({
        agentId,
        eventId: `${receivedAt}${of ?? ""}`,
        runId: of,
        stepRunId: null,
        type: "t",
        subject: "",
        time: 0,
        receivedAt,
        data: "{}",
      });
      for (const agentId of agents) await agentEvents.append([event(agentId, 1, null), event(agentId, 2, null)]);
      await agentEvents.append([event(agents[0]!, 1, runId)]);
      const seen: AgentId[] = [];
      for (let at = await agentEvents.nextAgent(""); at !== undefined; at = await agentEvents.nextAgent(at)) {
        seen.push(at);
      }
      expect(seen).to.include.members(agents);
      expect(seen.every((agentId) => agentId.startsWith("agt_"))).to.equal(true);
      await agentEvents.forget(agents[0]!, 2);
      const counts = await Promise.all([...agents, runId].map((owner) => agentEvents.count(owner)));
      expect(counts).to.deep.equal([1, 2, 1]);
    });

    it("removes all expired tokens, and no other token", async () => {
      const { identity } = open();
      const token = (expiresAt: number | null) => ({
        tokenId: newId("tok"),
        kind: "personal" as const,
        secretHash: "",
        name: "",
        subject: "usr_x",
        scopes: [],
        createdAt: 0,
        expiresAt,
        maxUses: null,
        uses: 0,
      });
      const tokens = [token(10), token(20), token(null)];
      for (const created of tokens) await identity.createToken(created);
      await identity.forgetExpired(20);
      const left = await Promise.all(tokens.map(({ tokenId }) => identity.findToken(tokenId)));
      expect(left.map((found) => found !== undefined)).to.deep.equal([false, true, true]);
    });
  });

  describe("the removal of groups", () => {
    const command = (rootId: GroupId, name: string, storedAt: number): Command => ({
      kind: "leave",
      member: { runId: newId("run"), job: null, cell: null },
      id: commandIdOf(rootId, name),
      rootId,
      shard: 0,
      storedAt,
    });
    const create = async () => {
      const groupId = groupIdOf(asId<ProjectId>("p"), newId("run"));
      await open().aggregates.create(GROUP_AGGREGATE.initial!(groupId, 0));
      return groupId;
    };
    const stored = async (id: GroupId) => {
      for (let after = ""; ;) {
        const page = await open().retention.pageGroups(after, 2);
        const found = page.find(({ groupId }) => groupId === id);
        if (found !== undefined || page.length < 2) return found;
        after = page.at(-1)!.groupId;
      }
    };

    it("removes an idle group with an empty inbox, unless it was saved since", async () => {
      const groupId = await create();
      expect(await stored(groupId)).to.deep.equal({ groupId, version: 1, isIdle: true });
      const { id } = command(groupId, "a", 5);
      await open().inbox.insert(command(groupId, "a", 5));
      expect(await open().retention.removeGroup({ groupId, version: 1 }), "a command waits").to.equal(false);
      await open().inbox.answer(id, { outcome: "accepted", status: "pending" });
      expect(await open().retention.removeGroup({ groupId, version: 1 }), "an answered command is remembered").to.equal(
        false,
      );
      await open().inbox.forgetAnswered(groupId, 5);
      expect(await open().inbox.verdict(id)).to.include({ outcome: "accepted" });
      await open().inbox.forgetAnswered(groupId, 6);
      expect(await open().inbox.verdict(id)).to.equal(undefined);
      expect(await open().retention.removeGroup({ groupId, version: 2 }), "another version").to.equal(false);
      expect(await open().retention.removeGroup({ groupId, version: 1 })).to.equal(true);
      expect(await stored(groupId)).to.equal(undefined);
      expect(await open().aggregates.load(groupId)).to.equal(undefined);
      expect(await open().retention.removeGroup({ groupId, version: 1 })).to.equal(false);
    });

    it("leaves a group that has a member", async () => {
      const groupId = await create();
      const group = (await open().aggregates.load(groupId))!;
      const head = { ...group.head, version: 2, final: false, settled: false };
      await open().aggregates.save({ expectedVersion: 1, head, changed: [], events: [] });
      expect(await stored(groupId)).to.deep.equal({ groupId, version: 2, isIdle: false });
      expect(await open().retention.removeGroup({ groupId, version: 2 })).to.equal(false);
    });
  });

  describe("projects", () => {
    it("have names of their own, and change field by field", async () => {
      const { pipelines } = open();
      const [one, two] = [newId("prj"), newId("prj")].map((projectId) => ({
        projectId,
        name: projectId,
        createdAt: 1,
      }));
      for (const project of [one!, two!, one!]) expect(await pipelines.createProject(project)).to.equal("created");
      expect(await pipelines.createProject({ ...one!, projectId: newId("prj") })).to.equal("nameTaken");
      await pipelines.changeProject(one!.projectId, { logLimit: { lines: 7 } });
      const change = { name: newId("prj"), description: "d", archivedAt: 5 };
      expect(await pipelines.changeProject(one!.projectId, change)).to.equal("changed");
      expect(await pipelines.changeProject(one!.projectId, { archivedAt: null })).to.equal("changed");
      const stored = { ...one!, ...change, archivedAt: null, logLimit: { lines: 7 } };
      expect(await pipelines.findProject(one!.projectId)).to.deep.equal(stored);
      expect(await pipelines.changeProject(two!.projectId, { name: change.name })).to.equal("nameTaken");
      expect(await pipelines.changeProject(newId("prj"), { name: newId("prj") })).to.equal("missing");
    });
  });

  describe("the retention bounds of a project", () => {
    it("are stored with the project and answered with it", async () => {
      const { pipelines } = open();
      const project = { projectId: newId("prj"), name: newId("prj"), createdAt: 1 };
      expect(await pipelines.changeProject(project.projectId, { retention: {} })).to.equal("missing");
      await pipelines.createProject(project);
      const retention = { runs: { ...UNBOUNDED, perPipeline: 3 } };
      expect(
        await pipelines.changeProject(project.projectId, { retention: { ...retention, logs: UNBOUNDED } }),
      ).to.equal("changed");
      expect(await pipelines.changeProject(project.projectId, { retention })).to.equal("changed");
      expect(await pipelines.findProject(project.projectId)).to.deep.equal({ ...project, retention });
      expect(await pipelines.listProjects()).to.deep.include({ ...project, retention });
    });

    it("stay when its log limit and its trust demand are set, and the other way round", async () => {
      const { pipelines } = open();
      const project = { projectId: newId("prj"), name: newId("prj"), createdAt: 1 };
      expect(await pipelines.changeProject(project.projectId, { logLimit: {} })).to.equal("missing");
      await pipelines.createProject(project);
      const retention = { runs: { ...UNBOUNDED, perPipeline: 3 } };
      expect(await pipelines.changeProject(project.projectId, { retention })).to.equal("changed");
      expect(await pipelines.changeProject(project.projectId, { logLimit: { lines: 5, bytes: 1e6 } })).to.equal(
        "changed",
      );
      expect(await pipelines.changeProject(project.projectId, { logLimit: { lines: 7 } })).to.equal("changed");
      const trustDemand = { secrets: true, protectedTargets: false };
      expect(await pipelines.changeProject(project.projectId, { trustDemand })).to.equal("changed");
      expect(await pipelines.changeProject(newId("prj"), { trustDemand })).to.equal("missing");
      const stored = { ...project, retention, logLimit: { lines: 7 }, trustDemand };
      expect(await pipelines.findProject(project.projectId)).to.deep.equal(stored);
    });
  });
}

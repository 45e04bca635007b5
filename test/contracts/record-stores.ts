/**
 * The contract of the stores of plans, commands, run events, logs and pipelines. Run over each engine by
 * `stores.test.ts`.
 */
import { expect } from "chai";
import { asId, newId, type CommandId, type ProjectId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { UserCommand } from "../../src/domain/commands.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import type { Compression, LogLine } from "../../src/stores/ports/logs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { pipelineStoreContract } from "./pipeline-store.ts";
import { allPages, gap, lines } from "./samples.ts";

export function recordStoresContract(open: () => Stores): void {
  planStoreContract(open);
  inboxContract(open);
  eventStoreContract(open);
  logStoreContract(open);
  pipelineStoreContract(open);
}

export function planStoreContract(open: () => Stores): void {
  describe("plans", () => {
    it("are written once and read by job", async () => {
      const runId = newId("run");
      const plan = planOf([
        [
          {
            steps: 2,
            matrix: [
              ["a.b", 1],
              ["$x", true],
            ],
          },
          {},
        ],
      ]);
      const jobs = jobSpecsOf(plan).map((job) => ({
        ...job,
        env: [["$PATH.x", "v"]] as const,
        steps: job.steps.map((step) => ({ ...step, args: { "a.b": { $set: 1 } } })),
      }));
      await open().plans.put(runId, plan, jobs);
      await open().plans.put(runId, { ...plan, namespace: "other" }, jobs);
      expect(await open().plans.loadPlan(runId)).to.deep.equal(plan);
      expect(await open().plans.loadJob(runId, 1)).to.deep.equal(jobs[1]);
      expect(await open().plans.loadJob(runId, 2)).to.equal(undefined);
      expect(await open().plans.loadPlan(newId("run"))).to.equal(undefined);
    });
  });
}

export function inboxContract(open: () => Stores): void {
  describe("the inbox", () => {
    const command = (rootId: RunId, kind: UserCommand["kind"], shard = 1): Command => ({
      id: newId("cmd"),
      rootId,
      shard,
      kind,
      reason: "because",
      operator: "someone",
      actor: "someone",
      storedAt: 1,
    });

    it("keeps the order in which commands were stored, until they are answered", async () => {
      const rootId = newId("run");
      const commands = (["pause", "resume", "stop"] as const).map((kind) => command(rootId, kind));
      for (const one of commands) await open().inbox.insert(one);
      await open().inbox.insert(commands[0]!);
      expect(await open().inbox.pending(rootId)).to.deep.equal(commands);
      await open().inbox.answer(commands[0]!.id, { outcome: "accepted", status: "paused" });
      expect((await open().inbox.pending(rootId)).map(({ kind }) => kind)).to.deep.equal(["resume", "stop"]);
    });

    it("loses none of many commands that are inserted at the same time", async () => {
      const rootId = newId("run");
      const commands = Array.from({ length: 30 }, () => command(rootId, "pause"));
      await Promise.all(commands.map((one) => open().inbox.insert(one)));
      const pending = await open().inbox.pending(rootId);
      expect(pending.map(({ id }) => id).toSorted()).to.deep.equal(commands.map(({ id }) => id).toSorted());
    });

    it("keeps the first verdict", async () => {
      const one = command(newId("run"), "stop");
      await open().inbox.insert(one);
      expect(await open().inbox.verdict(one.id)).to.equal(null);
      await open().inbox.answer(one.id, { outcome: "accepted", status: "running" });
      await open().inbox.answer(one.id, { outcome: "refused", status: "failed" });
      expect(await open().inbox.verdict(one.id)).to.deep.equal({ outcome: "accepted", status: "running" });
      expect(await open().inbox.verdict(asId<CommandId>("cmd_NONE"))).to.equal(undefined);
    });

    it("pages the roots of a shard that have unanswered commands, each once", async () => {
      const roots = Array.from({ length: 9 }, () => newId("run"));
      for (const rootId of roots) {
        await open().inbox.insert(command(rootId, "pause", 7));
        await open().inbox.insert(command(rootId, "stop", 7));
      }
      expect(await allPages((after) => open().inbox.pageRoots(7, after, 4))).to.deep.equal(roots.toSorted());
      expect(await open().inbox.pageRoots(8, "", 4)).to.deep.equal([]);
    });
  });
}

export function eventStoreContract(open: () => Stores): void {
  describe("events", () => {
    it("are stored once for each number, and are read in order", async () => {
      const runId = newId("run");
      const event = (number: number): RunEvent => ({
        runId,
        pipelineId: asId("pl_1"),
        number,
        timeMs: number,
        object: "step",
        lifecycle: "started",
        jobId: asId("job_1"),
        stepRunId: asId("step_1"),
        status: "running",
        data: { reason: "", exitCode: null },
      });
      await open().events.append([event(2), event(1)]);
      await open().events.append([{ ...event(2), status: "other" }, event(3)]);
      expect(await open().events.read(runId, 0, 10)).to.deep.equal([event(1), event(2), event(3)]);
      expect(await open().events.read(runId, 1, 1)).to.deep.equal([event(2)]);
      await open().events.append([]);
    });
  });
}

function logStoreContract(open: () => Stores): void {
  describe("logs", () => {
    const append = (stepRunId: StepRunId, chunk: ReturnType<typeof lines>): Promise<number> =>
      open().logs.append({ stepRunId, agentId: "agt_1", lines: chunk });
    const numbers = async (stepRunId: StepRunId, from: number, limit: number): Promise<readonly number[]> =>
      (await open().logs.read(stepRunId, from, limit)).map(({ line }) => line);

    it("answer the last line without a gap, and refuse a chunk above a gap", async () => {
      const step = newId("step");
      expect(await open().logs.storedThrough(step)).to.equal(0);
      expect(await append(step, lines(1, 5))).to.equal(5);
      expect(await append(step, lines(7, 9))).to.equal(5);
      expect(await append(step, lines(1, 3))).to.equal(5);
      expect(await append(step, lines(4, 8))).to.equal(8);
      expect(await numbers(step, 1, 100)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it("are read from any line, page by page, each line once", async () => {
      const step = newId("step");
      for (const chunk of [lines(1, 10), lines(8, 14), lines(15, 15), lines(12, 30)]) await append(step, chunk);
      expect(await numbers(step, 9, 4)).to.deep.equal([9, 10, 11, 12]);
      expect(await numbers(step, 29, 100)).to.deep.equal([29, 30]);
      expect(await numbers(step, 31, 100)).to.deep.equal([]);
      expect((await open().logs.read(step, 13, 1))[0]).to.deep.equal(lines(13, 13)[0]);
    });

    it("keep a gap record as one entry for all its lines", async () => {
      const step = newId("step");
      await append(step, lines(1, 2));
      expect(await append(step, [gap(3, 9), ...lines(10, 11)])).to.equal(11);
      const read = await open().logs.read(step, 1, 100);
      expect(read.map(({ line, lost }) => [line, lost])).to.deep.equal([
        [1, 0],
        [2, 0],
        [3, 7],
        [10, 0],
        [11, 0],
      ]);
      expect(await numbers(step, 5, 2)).to.deep.equal([3, 10]);
    });

    it("are read without a gap when a chunk spans several earlier ones", async () => {
      const step = newId("step");
      for (const chunk of [lines(1, 4), lines(5, 6), lines(1, 8), lines(7, 9)]) await append(step, chunk);
      for (let from = 1; from <= 9; from++) {
        const rest = Array.from({ length: 10 - from }, (_, at) => from + at);
        expect(await numbers(step, from, 100), `from ${from}`).to.deep.equal(rest);
      }
    });

    it("extend a gap record by the one that follows, and take no more room for it", async () => {
      const step = newId("step");
      await append(step, lines(1, 2));
      for (const chunk of [gap(3, 9), gap(10, 19), gap(10, 19), gap(15, 29)]) await append(step, [chunk]);
      expect(await open().logs.storedThrough(step)).to.equal(29);
      const entries = async () => (await open().logs.read(step, 1, 100)).map(({ line, lost }) => [line, lost]);
      expect(await entries()).to.deep.equal([
        [1, 0],
        [2, 0],
        [3, 27],
      ]);
      expect(await open().logs.size(step)).to.include({ entries: 3 });
      await append(step, [gap(30, 31), ...lines(32, 32)]);
      expect(await numbers(step, 12, 100)).to.deep.equal([3, 30, 32]);
    });

    it("know their size, in which a repeated chunk counts once", async () => {
      const step = newId("step");
      expect(await open().logs.size(step)).to.deep.equal({ entries: 0, bytes: 0 });
      const texts = ["ä", "", "abc"].map((content, at) => ({ ...lines(at + 1, at + 1)[0]!, content }));
      await Promise.all([append(step, texts), append(step, texts)]);
      await append(step, texts);
      await append(step, lines(9, 9));
      expect(await open().logs.size(step)).to.deep.equal({ entries: 3, bytes: 5 });
      await append(step, [gap(4, 8)]);
      expect(await open().logs.size(step)).to.deep.equal({ entries: 4, bytes: 5 });
    });

    it("have a header for each chunk, and read compressed chunks like others", async () => {
      const { logs } = open();
      const step = newId("step");
      const at = (line: number, more: Partial<LogLine>): LogLine => ({ ...lines(line, line)[0]!, ...more });
      const chunks: readonly (readonly [readonly LogLine[], Compression | undefined])[] = [
        [[at(1, {}), at(2, { stream: "stderr" }), at(3, { stream: "stderr", level: "error" })], undefined],
        [[at(4, { content: "é" }), at(5, { level: "error" })], "gzip"],
        [[at(6, {}), gap(7, 9)], "brotli"],
        [[gap(10, 12)], undefined],
        [[gap(13, 14)], undefined],
      ];
      for (const [stored, compression] of chunks) {
        const projectId = asId<ProjectId>("prj_1");
        await logs.append({
          stepRunId: step,
          agentId: "a",
          lines: stored,
          projectId,
          ...(compression && { compression }),
        });
      }
      const header = { firstStderr: null, firstError: null, compression: "none" };
      expect(await logs.headers(step, 1, 100)).to.deep.equal([
        { ...header, first: 1, last: 3, lines: 3, firstStderr: 2, firstError: 3 },
        { ...header, first: 4, last: 5, lines: 2, firstError: 5, compression: "gzip" },
        { ...header, first: 6, last: 9, lines: 2, compression: "brotli" },
        { ...header, first: 10, last: 14, lines: 1 },
      ]);
      expect((await logs.headers(step, 4, 1)).map(({ first }) => first)).to.deep.equal([4]);
      const all = [...chunks.slice(0, 3).flatMap(([stored]) => stored), gap(10, 14)];
      expect(await logs.read(step, 1, 100)).to.deep.equal(all);
      expect(await logs.read(step, 5, 100)).to.deep.equal(all.filter(({ line }) => line >= 5));
    });

    it("have neither gaps nor repeats after concurrent chunks", async () => {
      const step = newId("step");
      const chunks = Array.from({ length: 20 }, (_, at) => lines(1 + at, 10 + 2 * at));
      await Promise.all(chunks.map((chunk) => append(step, chunk)));
      const through = await open().logs.storedThrough(step);
      expect(through).to.be.at.least(10);
      expect((await numbers(step, 1, 1_000)).slice(0, through)).to.deep.equal(
        Array.from({ length: through }, (_, at) => 1 + at),
      );
    });

    it("hold 30,000 lines, each read once", async () => {
      const step = newId("step");
      for (let from = 1; from <= 30_000; from += 1_000) {
        expect(await append(step, lines(from, from + 999))).to.equal(from + 999);
      }
      let next = 1;
      for (;;) {
        const page = await open().logs.read(step, next, 999);
        if (page.length === 0) break;
        for (const { line } of page) if (line !== next++) expect.fail(`line ${line} in place of ${next - 1}`);
      }
      expect(next).to.equal(30_001);
    }).timeout(60_000);
  });
}

/** The contract of joining the small chunks of logs. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import fc from "fast-check";
import { firstLinesOf } from "../../src/app/logs/first-lines.ts";
import { asId, newId, type ProjectId, type StepRunId } from "../../src/domain/ids.ts";
import { type Compression, type LogLine, type LogStore } from "../../src/stores/ports/logs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { gap, lines } from "./samples.ts";
import { endWatches, type WatchWrites } from "./watched-writes.ts";

/** A chunk of the property test: lines from `back` lines before the end of the log on. */
interface Shape {
  readonly back: number;
  readonly count: number;
  readonly kind: "plain" | "packed" | "wide" | "large" | "gap";
}

const shape: fc.Arbitrary<Shape> = fc.record({
  back: fc.nat({ max: 2 }),
  count: fc.integer({ min: 1, max: 4 }),
  kind: fc.constantFrom("plain", "plain", "packed", "packed", "wide", "wide", "large", "gap"),
});

export function logJoiningContract(open: () => Stores, watchWrites: WatchWrites): void {
  describe("the small chunks of a log", () => {
    afterEach(endWatches);

    const append = (stepRunId: StepRunId, chunk: readonly LogLine[], compression?: Compression) =>
      open().logs.append({
        stepRunId,
        agentId: "agt_1",
        projectId: asId<ProjectId>("prj_1"),
        lines: chunk,
        ...(compression && { compression }),
      });
    const join = async (stepRunId: StepRunId, fromLine = 1): Promise<readonly number[]> => {
      const ends: number[] = [];
      for (let from: number | undefined = fromLine; from !== undefined;) {
        from = await open().logs.joinNext(stepRunId, from);
        if (from !== undefined) ends.push(from);
      }
      return ends;
    };
    const rangesOf = async (stepRunId: StepRunId) =>
      (await open().logs.headers(stepRunId, 1, 10_000)).map(({ first, last }) => [first, last]);

    it("become few large ones, with the same lines, the same size, and headers of what they hold", async () => {
      const step = newId("step");
      const all = lines(1, 2_500).map((line) => ({
        ...line,
        ...(line.line === 77 ? { level: "error" } : line.line === 1_200 ? { stream: "stderr" as const } : {}),
      }));
      for (let at = 0; at < 2_500; at += 50) await append(step, all.slice(at, at + 50));
      const size = await open().logs.size(step);
      expect(await join(step)).to.deep.equal([1_001, 2_001, 2_501]);
      expect(await open().logs.headers(step, 1, 100)).to.deep.equal([
        { first: 1, last: 1_000, lines: 1_000, firstStderr: null, firstError: 77, compression: "brotli" },
        { first: 1_001, last: 2_000, lines: 1_000, firstStderr: 1_200, firstError: null, compression: "brotli" },
        { first: 2_001, last: 2_500, lines: 500, firstStderr: null, firstError: null, compression: "brotli" },
      ]);
      expect(await open().logs.read(step, 1, 10_000)).to.deep.equal(all);
      expect(await open().logs.read(step, 999, 3)).to.deep.equal(all.slice(998, 1_001));
      expect(await open().logs.size(step)).to.deep.equal(size);
      expect(await open().logs.storedThrough(step)).to.equal(2_500);
      expect(await join(step)).to.deep.equal([]);
      expect(await append(step, lines(2_499, 2_502))).to.equal(2_502);
      expect(await open().logs.read(step, 2_500, 10)).to.deep.equal([all.at(-1)!, ...lines(2_501, 2_502)]);
    });

    it("are joined around large ones and gap records, and from a line on", async () => {
      const step = newId("step");
      for (let line = 1; line <= 4; line++) await append(step, lines(line, line));
      await append(step, lines(5, 700));
      for (const chunk of [lines(701, 701), [gap(702, 709)], lines(710, 711), [...lines(712, 712), gap(713, 713)]]) {
        await append(step, chunk);
      }
      await append(step, [gap(714, 720)]);
      const before = await open().logs.read(step, 1, 10_000);
      await join(step, 3);
      expect(await rangesOf(step)).to.deep.equal([
        [1, 1],
        [2, 2],
        [3, 4],
        [5, 700],
        [701, 701],
        [702, 709],
        [710, 713],
        [714, 720],
      ]);
      expect(await append(step, [gap(721, 730)])).to.equal(730);
      expect(await open().logs.read(step, 1, 10_000)).to.deep.equal([...before.slice(0, -1), gap(714, 730)]);
    });

    it("of a log that is removed meanwhile do not come back", async () => {
      const { removeRun } = open();
      const removalOf = (stepRunId: StepRunId) => ({
        runId: newId("run"),
        jobIds: [],
        stepRunIds: [stepRunId],
        approvalIds: [],
      });
      const stored = async (): Promise<StepRunId> => {
        const stepRunId = newId("step");
        for (let line = 1; line <= 9; line++) await append(stepRunId, lines(line, line));
        return stepRunId;
      };
      const beside = await stored();
      await Promise.all([join(beside), removeRun(removalOf(beside))]);
      expect(await open().logs.read(beside, 1, 100)).to.deep.equal([]);
      const within = await stored();
      const seen = async (): Promise<void> => {
        restore();
        await removeRun(removalOf(within));
      };
      const restore = watchWrites({ seen, done: () => {} });
      await join(within).finally(restore);
      await removeRun(removalOf(within));
      expect(await join(within)).to.deep.equal([]);
      expect(await open().logs.read(within, 1, 100)).to.deep.equal([]);
    });

    it("are due from the time on that was said last, until they are joined", async () => {
      const { logs } = open();
      const [early, late] = [newId("step"), newId("step")];
      const note = (stepRunId: StepRunId, line: number, dueAt: number) =>
        logs.append({ stepRunId, agentId: "a", lines: lines(line, line), joining: { fromLine: line, dueAt } });
      await note(late, 1, -50);
      await note(early, 1, -90);
      await note(late, 2, -40);
      const due = async (now: number, limit = 10) => (await logs.dueJoinings(now, limit)).map((one) => one.stepRunId);
      expect(await due(-41)).to.deep.equal([early]);
      expect(await due(-40)).to.deep.equal([early, late]);
      expect(await due(0, 1)).to.deep.equal([early]);
      const [, joining] = await logs.dueJoinings(-40, 2);
      expect(joining).to.deep.equal({ stepRunId: late, fromLine: 1, dueAt: -40 });
      await note(late, 3, -30);
      await logs.endJoining(joining!);
      expect(await due(-30)).to.deep.equal([early, late]);
      for (const one of await logs.dueJoinings(-30, 2)) await logs.endJoining(one);
      expect(await due(-30)).to.deep.equal([]);
    });

    it("lose, repeat and move no line for a reader at any moment, wherever a join is cut off", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(shape, { minLength: 4, maxLength: 10 }), fc.nat(), async (shapes, seed) => {
          const store = async (): Promise<StepRunId> => {
            const stepRunId = newId("step");
            let through = 0;
            for (const { lines: own, compression } of chunksOf(shapes))
              through = await append(stepRunId, own, compression);
            expect(through).to.be.greaterThan(0);
            return stepRunId;
          };
          const watched = await store();
          const expected = await looksOf(open().logs, watched, seed);
          const look = async (stepRunId: StepRunId, when: string): Promise<void> => {
            expect(await looksOf(open().logs, stepRunId, seed), when).to.deep.equal(expected);
          };
          let statements = 0;
          const seen = () => look(watched, "while the chunks are joined");
          const restore = watchWrites({ seen, done: () => void statements++ });
          await join(watched).finally(restore);
          await look(watched, "joined");
          // Each statement is the last one in one of some logs.
          for (let cut = 1 + (seed % 3); cut <= statements; cut += 3) {
            const stepRunId = await store();
            let left = cut;
            const done = (): void => {
              if (--left <= 0) throw new Error("the node died");
            };
            const mend = watchWrites({ seen: () => Promise.resolve(), done });
            await join(stepRunId)
              .catch(() => {})
              .finally(mend);
            await look(stepRunId, `cut off at statement ${cut}`);
            await join(stepRunId);
            await look(stepRunId, `cut off at statement ${cut}, and joined`);
            // Where the chunks end may depend on the cut; how few they are does not, by more than the one at the cut.
            const most = (await rangesOf(watched)).length + 1;
            expect(await rangesOf(stepRunId)).to.have.length.of.at.most(most);
          }
        }),
        // To look for a smaller example takes longer than the test may take.
        { numRuns: 3, endOnFailure: true },
      );
    }).timeout(60_000);
  });
}

/** What readers see of a log: all lines, lines from some line on, and the first lines of their kind. */
async function looksOf(logs: LogStore, stepRunId: StepRunId, seed: number) {
  const all = await logs.read(stepRunId, 1, 10_000);
  const from = 1 + (seed % Math.max(1, all.length));
  return {
    all,
    rest: await logs.read(stepRunId, from, 10),
    first: await firstLinesOf({ headers: (...call) => logs.headers(...call) }, stepRunId),
  };
}

function chunksOf(shapes: readonly Shape[]) {
  let [end, lost] = [0, 0];
  return shapes.map(({ back, count, kind }) => {
    // What is lost for good does not come again.
    const first = kind === "gap" ? end + 1 : Math.max(lost + 1, end + 1 - back);
    const more = kind === "large" ? 520 : kind === "wide" ? 400 : count - 1;
    const last = Math.max(end + 1, first + more);
    end = last;
    if (kind === "gap") {
      lost = end;
      return { lines: [gap(first, last)], compression: undefined };
    }
    const own = lines(first, last).map((line) => ({
      ...line,
      // All of it follows from the number, because chunks overlap.
      level: line.line % 11 === 10 ? "error" : "info",
      stream: line.line % 17 === 16 ? ("stderr" as const) : ("stdout" as const),
      // A few of these fill a joined chunk, although they take little room when they are compressed.
      content: line.line % 4 === 3 && line.line < 40 ? "é".repeat(40_000) : line.content,
    }));
    return { lines: own, compression: kind === "plain" ? undefined : ("gzip" as const) };
  });
}

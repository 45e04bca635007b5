import { expect } from "chai";
import fc from "fast-check";
import {
  type AgedRun,
  isBefore,
  isBeyond,
  type Limits,
  newestBeyond,
  type RunKey,
} from "../../src/domain/retention.ts";
import { asId, type RunId } from "../../src/domain/ids.ts";
import { formatAge, parseAge, parseBound, UNBOUNDED } from "../../src/domain/retention-text.ts";

const key = (createdAt: number, id = "run_5"): RunKey => ({ createdAt, runId: asId<RunId>(id) });
const ended = (createdAt: number, endedAt: number | null, settled = true): AgedRun => ({
  ...key(createdAt),
  endedAt,
  settled,
});

describe("a run under retention", () => {
  const NOW = 1_000;
  for (const [name, run, limits, expected] of [
    ["stays without a bound", ended(0, 1), { ageMs: null, oldestKept: [null, null] }, false],
    ["is removed at its age, which begins with its end", ended(0, 900), { ageMs: 100, oldestKept: [] }, true],
    ["stays until that age, whenever it was created", ended(0, 901), { ageMs: 100, oldestKept: [] }, false],
    ["stays while it is not settled", ended(0, 1, false), { ageMs: 100, oldestKept: [key(500)] }, false],
    ["stays as the oldest one within the number", ended(500, 501), { ageMs: null, oldestKept: [key(500)] }, false],
    ["is removed beyond the number", ended(499, 999), { ageMs: null, oldestKept: [null, key(500)] }, true],
    ["is removed beyond the number by its id", ended(500, 501), { ageMs: null, oldestKept: [key(500, "run_6")] }, true],
    ["is removed at its age also within the number", ended(500, 501), { ageMs: 100, oldestKept: [key(500)] }, true],
  ] as const satisfies readonly (readonly [string, AgedRun, Limits, boolean])[]) {
    it(name, () => {
      expect(isBeyond(run, limits, NOW)).to.equal(expected);
    });
  }

  it("stays exactly while it is within the number and the age, or is not settled", () => {
    const times = fc.nat(20);
    const runs = fc.uniqueArray(fc.record({ createdAt: times, took: times, id: fc.nat(99), settled: fc.boolean() }), {
      selector: ({ id }) => id,
      maxLength: 30,
    });
    const bounds = { keep: fc.integer({ min: 1, max: 10 }), ageMs: fc.option(fc.integer({ min: 1, max: 40 })) };
    fc.assert(
      fc.property(runs, fc.record(bounds), fc.nat(60), (made, { keep, ageMs }, now) => {
        const all = made
          .map(({ createdAt, took, id, settled }): AgedRun => ({
            createdAt,
            runId: asId<RunId>(`run_${String(id).padStart(2, "0")}`),
            endedAt: settled ? createdAt + took : null,
            settled,
          }))
          .toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
        const limits = { ageMs, oldestKept: [all.at(-keep) ?? null] };
        const removed = all.filter((run) => isBeyond(run, limits, now));
        const upTo = newestBeyond(limits, now);
        for (const run of removed) expect(run.createdAt).to.be.at.most(upTo!);
        for (const [at, run] of all.entries()) {
          const isOld = ageMs !== null && run.endedAt !== null && now - run.endedAt >= ageMs;
          const isSurplus = all.length - at > keep;
          expect(removed.includes(run)).to.equal(run.settled && (isOld || isSurplus));
        }
      }),
    );
  });
});

describe("bounds of retention as text", () => {
  it("are an age, a number for each pipeline, a number for each project, or forever", () => {
    expect(parseBound("forever")).to.deep.equal(UNBOUNDED);
    expect(parseBound("36h")).to.deep.equal({ ...UNBOUNDED, ageMs: 129_600_000 });
    expect(parseBound("5/project, 1d,7/pipeline")).to.deep.equal({ ageMs: 86_400_000, perPipeline: 7, perProject: 5 });
  });

  it("are refused when a part is given twice, none is given, or a value is too small or large", () => {
    for (const text of [
      "",
      "1d,1d",
      "1/pipeline,2/pipeline",
      "0/project",
      "7",
      "7/run",
      "forever,1d",
      "500ms",
      "-1d",
    ]) {
      expect(parseBound(text), text).to.equal(undefined);
    }
    expect(parseAge("36501d")).to.equal(undefined);
  });

  it("have ages that can be read back from their text", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 1e12 }), (ms) => {
        expect(parseAge(formatAge(ms))).to.equal(ms);
      }),
    );
    expect(formatAge(7_776_000_000)).to.equal("90d");
  });
});

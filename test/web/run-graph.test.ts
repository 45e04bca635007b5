import { expect } from "chai";
import fc from "fast-check";
import { blocksOf, cellName, countStatuses, plannedName, worstStatus } from "../../web/src/run/graph/blocks.ts";
import { layOut, NODE, type PlacedBlock } from "../../web/src/run/graph/layout.ts";
import type { Job, PlannedJob } from "../../web/src/run/run-view.ts";

interface Shape {
  readonly name: string;
  readonly stage?: string;
  readonly needs?: readonly string[];
  readonly matrix?: Job["matrix"];
  readonly status?: Job["status"];
}

function jobs(shapes: readonly Shape[]): readonly PlannedJob[] {
  return shapes.map(({ name, stage = "build", needs = [], matrix = {}, status = "pending" }, at) => {
    const newest = { jobId: `job_${at}`, name, stage, needs, matrix, status, steps: [], attempt: 1 } as unknown as Job;
    return { key: newest.jobId, newest, earlier: [] };
  });
}

const overlap = (a: PlacedBlock, b: PlacedBlock): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe("the graph of a run", () => {
  it("has a column for each stage, and a layer behind what a job needs", () => {
    const { blocks, stages } = layOut(
      jobs([
        { name: "compile" },
        { name: "pack", needs: ["compile"] },
        { name: "lint" },
        { name: "ship", stage: "deploy" },
      ]),
    );
    const at = Object.fromEntries(blocks.map(({ name, x, y }) => [name, { x, y }]));
    expect(stages.map(({ name }) => name)).to.deep.equal(["build", "deploy"]);
    expect(at["lint"]!.x).to.equal(at["compile"]!.x);
    expect(at["lint"]!.y).to.be.above(at["compile"]!.y);
    expect(at["pack"]!.x).to.be.above(at["compile"]!.x + NODE.width);
    expect(at["ship"]!.x).to.equal(stages[1]!.x);
  });

  it("draws a line for each need, from block to block", () => {
    const { edges } = layOut(jobs([{ name: "a" }, { name: "b", needs: ["a"] }, { name: "c", needs: ["a", "b"] }]));
    expect(edges.map(({ from, to }) => `${from} ${to}`)).to.deep.equal(["job_0 job_1", "job_0 job_2", "job_1 job_2"]);
    for (const { path } of edges) expect(path).to.match(/^M[\d.]+ [\d.]+C[\d. -]+$/);
  });

  it("makes jobs narrower so that the graph fits its place, down to names that can still be read", () => {
    const chain = jobs(["a", "b", "c", "d"].map((name, at) => ({ name, needs: at === 0 ? [] : ["abcd"[at - 1]!] })));
    const wide = layOut(chain);
    const fitting = layOut(chain, wide.width - 100);
    expect(fitting.width).to.be.within(wide.width - 104, wide.width - 100);
    expect(layOut(chain, 300).blocks.map(({ width }) => width)).to.deep.equal([148, 148, 148, 148]);
    expect(layOut(chain, 5_000)).to.deep.equal(wide);
  });

  it("folds the cells of a matrix into one block, with counts", () => {
    const cells = ["linux", "mac", "win"].map((os, at) => ({
      name: `unit (os=${os})`,
      matrix: { os },
      status: (["success", "failed", "success"] as const)[at]!,
    }));
    const [block, last] = blocksOf(jobs([...cells, { name: "report", needs: ["unit"] }]));
    expect(block).to.include({ kind: "matrix", name: "unit" });
    expect(block!.jobs).to.have.length(3);
    expect([...countStatuses(block!.jobs)]).to.deep.equal([
      ["failed", 1],
      ["success", 2],
    ]);
    expect(worstStatus(block!.jobs)).to.equal("failed");
    expect(last!.needs).to.deep.equal([block!.key]);
  });

  it("names a cell by its values, and a job with brackets by its whole name", () => {
    expect(plannedName({ name: "unit (os=linux)", matrix: { os: "linux" } })).to.equal("unit");
    expect(plannedName({ name: "unit (slow)", matrix: {} })).to.equal("unit (slow)");
    expect(cellName({ matrix: { os: "linux", node: 20 } })).to.equal("os=linux, node=20");
  });

  it("draws 1,000 jobs as cells rather than as 1,000 blocks", () => {
    const { blocks, width, height } = layOut(jobs(Array.from({ length: 1_000 }, (_, at) => ({ name: `job ${at}` }))));
    expect(blocks).to.have.length(1);
    expect(blocks[0]!.cells).to.have.length(1_000);
    expect(width).to.be.below(NODE.widest + 1);
    expect(height).to.be.below(1_500);
  });

  it("leaves cells out of a run of 5,000 jobs, and says how many", () => {
    const { blocks } = layOut(jobs(Array.from({ length: 5_000 }, (_, at) => ({ name: `job ${at}` }))));
    expect(blocks[0]!.cells.length + blocks[0]!.leftOut).to.equal(5_000);
    expect(blocks[0]!.cells.length).to.be.below(2_000);
    const whole = layOut(jobs(Array.from({ length: blocks[0]!.cells.length }, (_, at) => ({ name: `job ${at}` }))));
    expect(blocks[0]!.height - whole.blocks[0]!.height, "room for the words").to.equal(NODE.leftOut);
  });

  it("places every job once, in the order of the plan, and lays no block over another", () => {
    const shape = fc.record({
      stage: fc.constantFrom("build", "test", "deploy"),
      needs: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
      isCell: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 60 }), (shapes) => {
        const order = ["build", "test", "deploy"];
        const sorted = shapes.toSorted((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage));
        const list = jobs(
          sorted.map(({ stage, needs, isCell }, at) => ({
            name: isCell ? `m (k=${at})` : `job ${at}`,
            stage,
            needs: needs.filter((one) => one < at).map((one) => `job ${one}`),
            matrix: isCell ? { k: at } : ({} as Job["matrix"]),
          })),
        );
        const { blocks, width, height } = layOut(list);
        const seen = blocks.flatMap((block) => block.jobs.map(({ key }) => key));
        expect(seen.toSorted()).to.deep.equal(list.map(({ key }) => key).toSorted());
        for (const [at, block] of blocks.entries()) {
          expect(block.x + block.width).to.be.at.most(width);
          expect(block.y + block.height).to.be.at.most(height);
          for (const other of blocks.slice(at + 1)) expect(overlap(block, other)).to.equal(false);
        }
      }),
      { numRuns: 60 },
    );
  });
});

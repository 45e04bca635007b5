import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Journal, lostReport } from "../../src/agent/journal.ts";
import { SILENT } from "./test-agent.ts";

describe("the agent's journal", () => {
  let folder: string;
  let file: string;
  const open: Journal[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-journal-"));
    file = join(folder, "journal.jsonl");
  });
  afterEach(async () => {
    for (const journal of open.splice(0)) journal.close();
    await rm(folder, { recursive: true });
  });

  const reopen = (): Journal => {
    const journal = new Journal(file, SILENT);
    open.push(journal);
    return journal;
  };
  const held = (n: number) => ({ runId: "run_1", jobId: "job_1", stepRunId: `step_${n}`, token: BigInt(n) });
  const success = (n: number) =>
    ({ ...lostReport(held(n), ""), phase: "STEP_PHASE_SUCCEEDED", lastLine: 2n ** 60n }) as const;

  it("remembers over a restart what began, how it ended, and which ends are settled", () => {
    const before = reopen();
    for (const n of [1, 2, 3]) before.begin(held(n));
    before.end(success(1));
    before.end(success(2));
    before.settle("step_2", 2n);
    const after = reopen();
    expect(after.find("step_1", 1n)!.report).to.deep.equal(success(1));
    expect(after.find("step_2", 2n)!.settledAt).to.be.a("number");
    expect(after.find("step_3", 3n)!.report).to.include({ phase: "STEP_PHASE_LOST" });
    expect(after.unsettled().map(({ stepRunId }) => stepRunId)).to.deep.equal(["step_1", "step_3"]);
  });

  it("distinguishes step runs by their tokens", () => {
    const journal = reopen();
    journal.begin(held(1));
    expect(journal.find("step_1", 2n)).to.equal(undefined);
  });

  it("does not settle a step run that is running", () => {
    const journal = reopen();
    journal.begin(held(1));
    journal.settle("step_1", 1n);
    expect(journal.unsettled()).to.have.length(1);
  });

  it("survives an incomplete line", async () => {
    const before = reopen();
    before.begin(held(1));
    await appendFile(file, '{"t":"ended","key":["step_1"');
    const after = reopen();
    expect(after.unsettled()).to.have.length(1);
    after.begin(held(2));
    expect(reopen().unsettled()).to.have.length(2);
  });

  it("keeps its file when the disk has no room for a shorter one", async () => {
    const journal = reopen();
    await mkdir(`${file}.new`);
    for (let n = 1; n <= 200; n++) {
      journal.begin(held(n));
      journal.end({ ...success(n), outputs: { big: "x".repeat(20_000) } });
      journal.settle(`step_${n}`, BigInt(n));
    }
    journal.begin(held(201));
    await rm(`${file}.new`, { recursive: true });
    expect((await readFile(file, "utf8")).split("\n").length).to.be.above(600);
    const after = reopen();
    expect(after.unsettled().map(({ stepRunId }) => stepRunId)).to.deep.equal(["step_201"]);
  });

  it("stays small however many step runs there were, and keeps those that are not settled", async () => {
    const journal = reopen();
    journal.begin(held(0));
    for (let n = 1; n <= 15_000; n++) {
      journal.begin(held(n));
      journal.end(success(n));
      journal.settle(`step_${n}`, BigInt(n));
    }
    expect((await readFile(file, "utf8")).split("\n").length).to.be.below(40_000);
    expect(journal.find("step_0", 0n)).to.not.equal(undefined);
    expect(journal.find("step_15000", 15_000n)).to.not.equal(undefined);
    expect(journal.find("step_1", 1n)).to.equal(undefined);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it("keeps the outputs of a step run until its end is settled", () => {
    const before = reopen();
    for (const n of [1, 2]) {
      before.begin(held(n));
      before.end({ ...success(n), outputs: { a: "x\ny", b: "" } });
    }
    before.settle("step_2", 2n);
    for (const journal of [before, reopen(), reopen()]) {
      expect(journal.find("step_1", 1n)!.report).to.deep.equal({ ...success(1), outputs: { a: "x\ny", b: "" } });
      expect(journal.find("step_2", 2n)!.report).to.deep.equal(success(2));
    }
  });

  it("stays small however large the outputs of settled step runs were", async () => {
    const journal = reopen();
    for (let n = 1; n <= 200; n++) {
      journal.begin(held(n));
      journal.end({ ...success(n), outputs: { big: "x".repeat(65_000) } });
      journal.settle(`step_${n}`, BigInt(n));
    }
    expect((await stat(file)).size).to.be.below(2_000_000);
  });

  it("reads a file of an agent without outputs", async () => {
    const key = ["step_1", "1"];
    const { outputs: _, ...report } = { ...success(1), token: "1", lastLine: "2", startedAtMs: "5", endedAtMs: "6" };
    const records = [
      { t: "begun", at: Date.now(), runId: "run_1", jobId: "job_1", key },
      { t: "ended", key, report },
    ];
    await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    expect(reopen().unsettled()[0]!.report).to.deep.equal({
      ...success(1),
      lastLine: 2n,
      startedAtMs: 5n,
      endedAtMs: 6n,
      outputs: {},
    });
  });
});

/** What an agent does when another process removes files from its scratch folder. */
import { readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { AgentBench } from "../test-agent.ts";

/** Steps that start one after the other until one has lost its permit. */
const MANY_STEPS = 20;

describe("an agent whose scratch folder is cleaned by another process", () => {
  let bench: AgentBench;
  let scratch: string;
  let warnings: string[];
  beforeEach(async () => {
    bench = await new AgentBench().open();
    scratch = join(bench.dataDir, "scratch");
    warnings = [];
    const silent = () => {};
    const log = { debug: silent, info: silent, warn: (_: object, text: string) => warnings.push(text), error: silent };
    await bench.start({ log });
  });
  afterEach(() => bench.end());

  const permits = () => readdirSync(scratch).filter((name) => name.startsWith("permit-"));
  const removePermits = () => {
    for (const name of permits()) rmSync(join(scratch, name), { force: true });
  };
  async function run(stepRunId: string, script: string) {
    bench.gateway.dispatch({ script, stepRunId });
    const { phase, exitCode, reason, lastLine } = await bench.gateway.endOf(stepRunId);
    return { phase, exitCode, reason, lastLine };
  }

  it("gives the next step a new permit, and says that one was gone", async () => {
    const succeeded = { phase: "STEP_PHASE_SUCCEEDED", exitCode: 0, reason: "" };
    expect(await run("step_1", "echo one")).to.include(succeeded);
    const [first, ...others] = permits();
    expect(others).to.deep.equal([]);
    removePermits();
    expect(await run("step_2", "echo two")).to.include(succeeded);
    expect(permits()).to.have.length(1).and.not.include(first);
    expect(warnings.filter((text) => text.includes("permit"))).to.have.length(1);
  });

  it("reports a step as lost, with the reason, when its permit disappears before its program starts", async () => {
    await run("step_0", "true");
    let isOver = false;
    const remove = () => {
      removePermits();
      if (!isOver) setImmediate(remove);
    };
    remove();
    // On a busy machine, a program may start between the creation of its permit and the removal.
    const ends: Awaited<ReturnType<typeof run>>[] = [];
    while (ends.length < MANY_STEPS && ends.at(-1)?.phase !== "STEP_PHASE_LOST") {
      ends.push(await run(`step_${ends.length + 1}`, "echo ran"));
    }
    isOver = true;
    const { phase, reason, lastLine } = ends.pop()!;
    expect(ends.map((end) => end.phase)).to.deep.equal(ends.map(() => "STEP_PHASE_SUCCEEDED"));
    expect(phase).to.equal("STEP_PHASE_LOST");
    expect(reason).to.include("permit").and.include("removed");
    expect(lastLine).to.equal(0n);
    expect(await run("step_last", "true")).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
  });

  it("still ends the running steps of a lease whose permit is gone, when the lease runs out", async () => {
    bench.gateway.dispatch({ script: "echo ready; sleep 60", stepRunId: "step_1", leaseMs: 1_500n });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    removePermits();
    bench.gateway.dispatch({ script: "true", stepRunId: "step_2", leaseMs: 1_500n });
    await bench.gateway.endOf("step_2");
    bench.gateway.acknowledgesHeartbeats = false;
    const end = await bench.gateway.endOf("step_1");
    expect(end.phase).to.equal("STEP_PHASE_LOST");
  });

  it("makes its pipes and its folder again", async () => {
    await run("step_0", "true");
    for (const name of readdirSync(scratch)) rmSync(join(scratch, name), { recursive: true });
    expect(await run("step_1", "echo one")).to.include({ phase: "STEP_PHASE_SUCCEEDED", lastLine: 1n });
    await rm(scratch, { recursive: true });
    expect(await run("step_2", "echo two")).to.include({ phase: "STEP_PHASE_SUCCEEDED", lastLine: 1n });
  });
});

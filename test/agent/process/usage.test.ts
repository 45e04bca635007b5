/** The reported usage of steps, compared with their own measurements. Only Linux reports it. */
import { expect } from "chai";
import type { StepReport } from "../../../proto/generated/agent/v1/agent.ts";
import { PATIENCE } from "../../support/patience.ts";
import { AgentBench } from "../test-agent.ts";

/** A program that computes until it has used this much processor time, including its own start. */
const burn = (ms: number) =>
  `${process.execPath} -e 'for (let used = 0; used < ${ms}000;) { const { user, system } = process.cpuUsage(); used = user + system; }'`;

describe("the reported usage of a step", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start({ slots: 8 });
  });
  afterEach(() => bench.end());

  async function usageOf(script: string): Promise<{ readonly cpuMs: number; readonly maxRssBytes: number }> {
    bench.gateway.dispatch({ script });
    return usageIn(await bench.gateway.endOf());
  }
  const usageIn = ({ usage }: StepReport) => ({
    cpuMs: Number(usage!.cpuMs),
    maxRssBytes: Number(usage!.maxRssBytes),
  });

  it("has the processor time of all processes that the step has waited for", async () => {
    // The time of each process is rounded to a tick of 10 ms, and the shell needs a little time too.
    expect((await usageOf(`${burn(300)}; ${burn(200)}`)).cpuMs).to.be.within(470, 620);
  });

  it("is almost nothing for a step that does nothing", async () => {
    expect((await usageOf("true")).cpuMs).to.be.within(0, 40);
  });

  it("has the sampled time of processes that the step left in the background", async () => {
    // Samples are a second apart: there is one between the first second of work and the end.
    const worker = `${burn(1_000)}; touch worked; exec ${burn(60_000)}`;
    const script = `{ ${worker}; } & until [ -e worked ]; do sleep 0.05; done; sleep ${2.5 * PATIENCE}`;
    const from = performance.now();
    const { cpuMs } = await usageOf(script);
    // The worker used one processor at a time.
    expect(cpuMs).to.be.within(300, performance.now() - from);
  });

  it("is separate for parallel steps, and shared when they end together", async () => {
    const works = [100, 300, 0, 0];
    for (const [index, ms] of works.entries()) {
      const script = ms === 0 ? "sleep 1" : `${burn(ms)}; sleep 0.${index}`;
      bench.gateway.dispatch({ script, stepRunId: `step_${index}` });
    }
    const ends = await Promise.all(works.map((_, index) => bench.gateway.endOf(`step_${index}`)));
    const found = ends.map((end) => usageIn(end).cpuMs);
    expect(found.reduce((sum, ms) => sum + ms, 0)).to.be.within(370, 600);
    for (const [index, ms] of works.entries()) expect(found[index], `step ${index}`).to.be.within(ms - 20, ms + 120);
  });

  it("has the memory of all processes together when the step is long enough for a sample", async () => {
    const hold = (mebibytes: number) =>
      `exec ${process.execPath} -e 'const held = Buffer.alloc(${mebibytes} << 20, 1); require("fs").writeFileSync("held-${mebibytes}", ""); setTimeout(() => held, 60_000)'`;
    const both = `until [ -e held-100 ] && [ -e held-60 ]; do sleep 0.05; done`;
    const script = `${hold(100)} & one=$!; ${hold(60)} & ${both}; sleep ${4 * PATIENCE}; kill $one $!; wait`;
    const { maxRssBytes } = await usageOf(script);
    expect(maxRssBytes / 2 ** 20).to.be.within(160, 400);
  });

  it("is there for a killed step, and missing for a step that never ran", async () => {
    bench.gateway.dispatch({ script: `${burn(60_000)}`, timeoutMs: 2_000n, cancelGraceMs: 0n });
    expect(usageIn(await bench.gateway.endOf()).cpuMs).to.be.within(200, 2_200);
    bench.gateway.dispatch({ uses: "unknown", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).usage).to.equal(undefined);
  });
});

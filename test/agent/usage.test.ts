/** What steps are said to have used up, against what they measure themselves. Linux alone knows it. */
import { expect } from "chai";
import type { StepReport } from "../../proto/generated/agent/v1/agent.ts";
import { AgentBench } from "./test-agent.ts";

/** A program that works until it has had so much of a processor, its own start included. */
const burn = (ms: number) =>
  `${process.execPath} -e 'for (let used = 0; used < ${ms}000;) { const { user, system } = process.cpuUsage(); used = user + system; }'`;

describe("what a step has used up", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start({ slots: 8 });
  });
  afterEach(() => bench.end());

  async function usageOf(script: string): Promise<{ readonly cpuMs: number; readonly maxRssBytes: number }> {
    bench.plane.dispatch({ script });
    return usageIn(await bench.plane.endOf());
  }
  const usageIn = ({ usage }: StepReport) => ({
    cpuMs: Number(usage!.cpuMs),
    maxRssBytes: Number(usage!.maxRssBytes),
  });

  it("is the time on processors of all that it has waited for", async () => {
    // Each end of a process is counted to a tick of 10 ms, and the shell works a little, too.
    expect((await usageOf(`${burn(300)}; ${burn(200)}`)).cpuMs).to.be.within(470, 620);
  });

  it("is hardly anything for one that does nothing", async () => {
    expect((await usageOf("true")).cpuMs).to.be.within(0, 40);
  });

  it("is the time of what it has left in the background, as far as that was seen", async () => {
    // Looks are a second apart: there is one between the first second of work and the end.
    const worker = `${burn(1_000)}; touch worked; exec ${burn(60_000)}`;
    const script = `{ ${worker}; } & until [ -e worked ]; do sleep 0.05; done; sleep 2.5`;
    const from = performance.now();
    const { cpuMs } = await usageOf(script);
    // It had one processor at a time.
    expect(cpuMs).to.be.within(300, performance.now() - from);
  });

  it("is told apart among steps that go on together, and shared when they end together", async () => {
    const works = [100, 300, 0, 0];
    for (const [index, ms] of works.entries()) {
      const script = ms === 0 ? "sleep 1" : `${burn(ms)}; sleep 0.${index}`;
      bench.plane.dispatch({ script, stepRunId: `step_${index}` });
    }
    const ends = await Promise.all(works.map((_, index) => bench.plane.endOf(`step_${index}`)));
    const found = ends.map((end) => usageIn(end).cpuMs);
    expect(found.reduce((sum, ms) => sum + ms, 0)).to.be.within(370, 600);
    for (const [index, ms] of works.entries()) expect(found[index], `step ${index}`).to.be.within(ms - 20, ms + 120);
  });

  it("is the memory of all its processes together, when it goes on for long enough to be seen", async () => {
    const hold = (mebibytes: number) =>
      `exec ${process.execPath} -e 'const held = Buffer.alloc(${mebibytes} << 20, 1); require("fs").writeFileSync("held-${mebibytes}", ""); setTimeout(() => held, 60_000)'`;
    const both = `until [ -e held-100 ] && [ -e held-60 ]; do sleep 0.05; done`;
    const script = `${hold(100)} & one=$!; ${hold(60)} & ${both}; sleep 4; kill $one $!; wait`;
    const { maxRssBytes } = await usageOf(script);
    expect(maxRssBytes / 2 ** 20).to.be.within(160, 400);
  });

  it("is told of a step that was killed, and not of one that never ran", async () => {
    bench.plane.dispatch({ script: `${burn(60_000)}`, timeoutMs: 2_000n, cancelGraceMs: 0n });
    expect(usageIn(await bench.plane.endOf()).cpuMs).to.be.within(200, 2_200);
    bench.plane.dispatch({ uses: "unknown", stepRunId: "step_2" });
    expect((await bench.plane.endOf("step_2")).usage).to.equal(undefined);
  });
});

import { expect } from "chai";
import { DefinitionWork } from "../../src/definition-work/definition-work.ts";
import { Threads, type ThreadBounds } from "../../src/definition-work/threads.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { outcomeOf } from "../support/outcome.ts";

const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** A definition of so many jobs, as text. */
function textOf(jobs: number, script = "echo hello"): string {
  return JSON.stringify({
    jobs: times(jobs, (at) => ({ name: `job-${at}`, steps: [{ uses: "shell", args: { script } }] })),
  });
}

const check = (text: string) => ({ text, format: "json" as const, plugins: null });

describe("the threads for definitions", () => {
  const opened: Threads[] = [];
  const open = (bounds: Partial<ThreadBounds> = {}): Threads => {
    const threads = new Threads(silentLog, { threads: 1, ...bounds });
    opened.push(threads);
    return threads;
  };

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((threads) => threads.close()));
  });

  it("start with the first large definition, answer as the event loop does, and end when they idle", async () => {
    const threads = open({ idleMs: 50 });
    const work = new DefinitionWork(threads);
    const small = await work.check("ann", check(textOf(2)));
    expect(small.known!.definition).not.to.equal(null);
    expect(threads.count).to.equal(0);

    const text = textOf(300);
    const [large, atOnce] = await Promise.all([
      work.check("ann", check(text)),
      new DefinitionWork(null).check("ann", check(text)),
    ]);
    expect(large).to.deep.include({ size: { jobsCount: 300, stepsCount: 300 }, diagnostics: [] });
    expect({ ...large, known: null }).to.deep.equal({ ...atOnce, known: null });
    expect(large.known!.definition).to.equal(null);
    await new Promise<void>((resolve, reject) => {
      const until = Date.now() + 10_000;
      const poll = setInterval(() => {
        if (threads.count > 0 && Date.now() < until) return;
        clearInterval(poll);
        if (threads.count === 0) resolve();
        else reject(new Error("the thread has not ended"));
      }, 5);
    });
    expect((await work.check("ann", check(text))).size).to.deep.equal({ jobsCount: 300, stepsCount: 300 });
  });

  it("plan in the same way as the event loop, also what only its matrix makes large", async () => {
    const text = JSON.stringify({
      jobs: [
        {
          name: "a",
          matrix: { axes: { n: times(600, (at) => at) } },
          steps: [{ uses: "shell", args: { script: "echo ${{ matrix.n }}" } }],
        },
      ],
    });
    const threads = open();
    const request = {
      plugins: [],
      input: {
        trigger: { kind: "manual", ref: "", payload: {} },
        variables: [],
        pipelineId: "pl_1",
        pipelineName: "p",
        projectId: "default",
        repoUrl: "",
      },
    } as never;
    const [near, far] = await Promise.all(
      [new DefinitionWork(null), new DefinitionWork(threads)].map(async (work) => {
        const { known } = await work.check("ann", check(text));
        return work.dryRun("ann", known!, request);
      }),
    );
    expect(threads.count).to.equal(1);
    expect(far).to.deep.equal(near);
    expect(far!.ok).to.equal(true);
  });

  it("refuse a caller who has too many definitions in hand, and serve the others in turns", async () => {
    const threads = open({ tasksOfCaller: 4 });
    const work = new DefinitionWork(threads);
    const order: string[] = [];
    const ask = (caller: string): Promise<string> =>
      outcomeOf(work.check(caller, check(textOf(200)))).then((outcome) => {
        order.push(`${caller} ${outcome}`);
        return outcome;
      });
    const ofAnn = times(6, () => ask("ann"));
    const ofBen = ask("ben");
    expect(await Promise.all(ofAnn)).to.deep.equal(["done", "done", "done", "done", "too_many", "too_many"]);
    expect(await ofBen).to.equal("done");
    expect(order.filter((line) => line.endsWith("done")).indexOf("ben done")).to.be.at.most(2);
    expect(await ask("ann")).to.equal("done");
  });

  it("refuse everybody when too many definitions wait", async () => {
    const work = new DefinitionWork(open({ waiting: 2 }));
    const asked = times(5, (at) => outcomeOf(work.check(`user-${at}`, check(textOf(200)))));
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter((outcome) => outcome === "unavailable")).to.have.length(2);
  });

  it("end a thread whose task takes too long, and go on with another one", async () => {
    const threads = open({ taskMs: 1, threads: 1 });
    const work = new DefinitionWork(threads);
    expect(await Promise.all(times(2, () => outcomeOf(work.check("ann", check(textOf(200))))))).to.deep.equal([
      "deadline_exceeded",
      "deadline_exceeded",
    ]);
    const patient = new DefinitionWork(open());
    expect(await outcomeOf(patient.check("ann", check(textOf(200))))).to.equal("done");
  });

  it("fail only the task that takes too much memory", async () => {
    const work = new DefinitionWork(open({ heapMb: 24 }));
    const large = textOf(8_000);
    expect(await outcomeOf(work.check("ann", check(large)))).to.equal("too_large");
    expect(await outcomeOf(work.check("ann", check(textOf(150))))).to.equal("done");
  });

  it("reject what is in hand when they close, and everything afterwards", async () => {
    const threads = open();
    const work = new DefinitionWork(threads);
    const asked = times(3, () => outcomeOf(work.check("ann", check(textOf(200)))));
    await threads.close();
    expect(await Promise.all(asked)).to.deep.equal(["unavailable", "unavailable", "unavailable"]);
    expect(await outcomeOf(work.check("ann", check(textOf(200))))).to.equal("unavailable");
    expect(threads.count).to.equal(0);
  });
});

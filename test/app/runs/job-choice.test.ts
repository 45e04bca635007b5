import { expect } from "chai";
import { isChosen, jobChoice } from "../../../src/app/runs/job-choice.ts";
import { type DetailSource, type RunDetail, runParts } from "../../../src/app/runs/run-view.ts";
import { LIMITS } from "../../../src/definition/schema/limits.ts";
import { asId, type JobRunId } from "../../../src/domain/ids.ts";
import { LargeRun } from "../../support/large-runs.ts";
import { largeShapes } from "../../support/large-run-shapes.ts";

function runDetail(source: DetailSource): RunDetail {
  const work = runParts(source);
  let next = work.next();
  while (next.done !== true) next = work.next();
  return { ...next.value.run, jobs: [...next.value.jobs] };
}

const id = (text: string): JobRunId => asId<JobRunId>(text);

describe("the choice of a run's jobs", () => {
  it("takes ids and ranges of positions", () => {
    const choice = jobChoice.parse("job_b,2..3,7..7");
    const jobs = ["job_a", "job_b", "job_c", "job_d", "job_e", "job_f", "job_g"].map(id);
    const chosen = jobs.filter((jobId, at) => isChosen(choice, jobId, at + 1));
    expect(chosen).to.deep.equal(["job_b", "job_c", "job_g"]);
    expect(isChosen(jobChoice.parse("job_b"), id("job_a"), 1)).to.equal(false);
    expect(isChosen(jobChoice.parse("none"), id("none"), 1)).to.equal(false);
  });

  for (const text of [
    "",
    ",",
    "job_a,",
    "3..2",
    "0..5",
    "1..",
    "..5",
    "1..2..3",
    "none,job_a",
    "1...3",
    "a b",
    "12345678..2",
  ]) {
    it(`refuses ${JSON.stringify(text)}, and says what is allowed`, () => {
      const { success, error } = jobChoice.safeParse(text);
      expect(success).to.equal(false);
      expect(error!.issues[0]!.message).to.match(
        /^must be `none`, or job ids and ranges such as 1\.\.50.* is neither$/,
      );
    });
  }

  it("costs the work of the chosen jobs, however many the run has and however often they were tried", () => {
    const shape = largeShapes(LIMITS).find(({ name }) => name === "wide stage, all retried")!;
    const plan = shape.plan();
    const run = new LargeRun(plan);
    shape.play(run);
    const aggregate = run.snapshot;
    let reads = 0;
    const counted = new Proxy(plan.jobs, {
      get(jobs, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(jobs, key) as unknown;
      },
    });
    const view = (jobs?: string) => {
      reads = 0;
      const detail = runDetail({
        aggregate,
        plan: { ...plan, jobs: counted },
        agents: { online: [], quotas: [] } as never,
        waitFacts: { approvals: new Map(), groups: new Map() },
        allAttempts: false,
        chosen: jobs === undefined ? undefined : jobChoice.parse(jobs),
        retriedBy: null,
        now: 1_900_000_000_000,
      });
      return { detail, reads, bytes: JSON.stringify(detail).length };
    };
    const [all, none, page] = [view(), view("none"), view("4901..4950")];
    expect(all.detail.jobCount).to.equal(5_000);
    expect(page.detail.jobs).to.deep.equal(all.detail.jobs.slice(4_900, 4_950));
    expect({ ...page.detail, jobs: [] }).to.deep.equal({ ...all.detail, jobs: [] });
    expect(none.detail.jobs).to.deep.equal([]);
    expect(page.bytes, "bytes").to.be.lessThan(all.bytes / 50);
    expect(page.reads - none.reads, "reads of planned jobs for 50 of 5,000").to.be.at.most(
      (all.reads - none.reads) / 50,
    );
  });
});

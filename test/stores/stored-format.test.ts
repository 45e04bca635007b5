import { expect } from "chai";
import fc from "fast-check";
import { asId, type JobRunId } from "../../src/domain/ids.ts";
import {
  formatOf,
  fromStored,
  NewerSchemaError,
  type Part,
  refuseNewer,
  STORED_FORMAT,
  type StoredParts,
  toStored,
} from "../../src/stores/stored-format.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { NEXT_FORMAT, RENAMING } from "../support/next-format.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";

const PLAN = planOf([[{ steps: 2 }], [{ needs: [0] }]]);
const { head, actors } = sampleAggregate({ plan: PLAN, variables: [["a.b", "1"]] });
const state = (kind: "run" | "job" | "step") =>
  actors.find((actor) => actor.kind === kind)!.state as StoredParts["run"];

const SAMPLES: StoredParts = {
  owed: [
    {
      effect: { type: "withdraw", jobId: asId<JobRunId>("job_1"), projectId: head.summary.projectId },
      eventNumber: null,
      at: 1,
    },
  ],
  origin: head.origin,
  run: state("run"),
  job: state("job"),
  step: state("step"),
  plan: PLAN,
  spec: jobSpecsOf(PLAN)[0]!,
  letter: { to: { kind: "job", id: "job_1" }, message: { type: "cancel" } },
};
const PARTS = Object.keys(SAMPLES) as Part[];

describe("the stored format", () => {
  it("reads back what it wrote, with the newest schema and with the one before it", () => {
    const twice = formatOf([RENAMING, { upgrade: {}, downgrade: {} }]);
    for (const format of [STORED_FORMAT, formatOf([RENAMING]), twice, NEXT_FORMAT]) {
      for (const schema of [format.schema, format.schema - 1].filter((each) => each > 0)) {
        for (const part of PARTS) {
          const value = format === NEXT_FORMAT ? SAMPLES[part] : format.read(part, SAMPLES[part], 1);
          const stored = format.write(part, value, schema);
          expect(format.read(part, stored, schema), `${part} with schema ${schema}`).to.deep.equal(value);
        }
      }
    }
  });

  it("gives back any state that went up one schema and down again", () => {
    const format = formatOf([RENAMING]);
    const names = fc.constantFrom("state", "fence", "grant", "remaining", "runId", "attempt", "other");
    fc.assert(
      fc.property(fc.constantFrom("run", "job", "step"), fc.dictionary(names, fc.jsonValue()), (kind, any) => {
        const upgraded = format.read(kind, any, 1);
        expect(format.write(kind, upgraded, 1)).to.deep.equal(any);
      }),
    );
  });

  it("brings what is several schemas old to the newest, step by step", () => {
    const format = formatOf([
      { upgrade: { job: (job) => ({ ...job, trail: ["2"] }) }, downgrade: {} },
      { upgrade: { job: (job) => ({ ...job, trail: [...(job["trail"] as string[]), "3"] }) }, downgrade: {} },
    ]);
    expect(format.schema).to.equal(3);
    expect(format.read("job", {}, 1)).to.deep.equal({ trail: ["2", "3"] });
    expect(format.read("job", { trail: ["2"] }, 2)).to.deep.equal({ trail: ["2", "3"] });
    expect(format.read("job", { trail: [] }, 3)).to.deep.equal({ trail: [] });
  });

  it("keeps the schema in a stored document, and away from those who work with it", () => {
    const stored = toStored(NEXT_FORMAT, "job", SAMPLES.job, 2);
    expect(stored).to.include({ schema: 2, phase: "pending", newestToken: 0 }).and.not.have.any.keys("state", "fence");
    expect(fromStored(NEXT_FORMAT, "job", stored, "a job")).to.deep.equal(SAMPLES.job);
    expect(fromStored(NEXT_FORMAT, "job", SAMPLES.job, "a job"), "one without a schema is of the first").to.deep.equal(
      SAMPLES.job,
    );
  });

  it("refuses what a newer version has stored, and says what to do", () => {
    expect(() => fromStored(STORED_FORMAT, "plan", toStored(NEXT_FORMAT, "plan", PLAN, 2), "the plan of run_1"))
      .to.throw(
        NewerSchemaError,
        "the plan of run_1 was stored with schema 2 by a newer version, and this node reads up to 1",
      )
      .that.includes({ reason: "unavailable" });
    expect(() => refuseNewer("run_1", 1, STORED_FORMAT)).not.to.throw();
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { asId, type JobRunId } from "../../src/domain/ids.ts";
import {
  formatOf,
  fromStored,
  NewerSchemaError,
  refuseNewer,
  STORED_FORMAT,
  toStored,
} from "../../src/stores/format/stored-format.ts";
import type { Part, StoredParts } from "../../src/stores/format/stored-parts.ts";
import { CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS } from "../../src/stores/format/schema-steps.ts";
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
  approval: { state: "pending", votes: 1 },
  group: { seats: [] },
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
          const isOfToday = format === STORED_FORMAT || format === NEXT_FORMAT;
          const value = isOfToday ? SAMPLES[part] : format.read(part, SAMPLES[part], 1);
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
    const stored = toStored(NEXT_FORMAT, "job", SAMPLES.job, NEXT_FORMAT.schema);
    expect(stored)
      .to.include({ schema: NEXT_FORMAT.schema, phase: "pending", newestToken: 0 })
      .and.not.have.any.keys("state", "fence");
    expect(fromStored(NEXT_FORMAT, "job", stored, "a job")).to.deep.equal(SAMPLES.job);
    expect(fromStored(NEXT_FORMAT, "job", SAMPLES.job, "a job"), "one without a schema is of the first").to.deep.equal(
      SAMPLES.job,
    );
  });

  describe("of schema 2", () => {
    const stages = [{ name: "stage-0" }];
    const first = { lostAttempts: 2, steps: [{ name: "s", continueOnError: false, timeoutMs: null }] };
    const plan = { ...PLAN, stages, jobs: [first] } as unknown as StoredParts["plan"];
    const job = { state: "pending", fence: 3 };
    const format = formatOf([CONDITIONS_AND_OUTPUTS]);

    it("takes over runs of schema 1, and gives them back", () => {
      const upgraded = format.read("plan", plan, 1);
      expect(upgraded).to.have.nested.property("jobs[0].retry.attempts", 2);
      expect(upgraded).to.have.nested.property("jobs[0].steps[0].when", null);
      expect(format.read("job", job, 1)).to.include({ state: "pending", fence: 3, stepAttempt: 1, failing: "" });
      expect(format.write("plan", upgraded, 1)).to.deep.equal(plan);
      expect(format.write("job", format.read("job", job, 1), 1)).to.deep.equal(job);
    });

    it("keeps what else a letter and a spec hold", () => {
      const letter = { rootId: "run_1", to: null, message: { type: "reported", token: 1 } };
      expect(format.read("letter", letter, 1)).to.deep.equal({
        ...letter,
        message: { hasOutputs: false, type: "reported", token: 1 },
      });
      expect(format.write("letter", format.read("letter", letter, 1), 1)).to.deep.equal(letter);
      const other = { ...letter, message: { type: "stop" } };
      expect(format.read("letter", other, 1)).to.deep.equal(other);
      const spec = { env: [], steps: [{ name: "s" }], more: 1 } as unknown as StoredParts["spec"];
      expect(format.write("spec", format.read("spec", spec, 1), 1)).to.deep.equal(spec);
    });

    it("is not written as schema 1 where that would lose a condition or a retry", () => {
      const when = { written: "failure()", folded: "failure()" };
      const downgrade = CONDITIONS_AND_OUTPUTS.downgrade.plan!;
      for (const lossy of [planOf([[{ when }]]), planOf([[{ steps: [{ when }] }]]), planOf([[{ maxParallel: 2 }]])]) {
        expect(() => downgrade(lossy)).to.throw("a node of an older version still runs");
      }
      expect(() => downgrade(planOf([[{ steps: 2 }]]))).not.to.throw();
    });
  });

  describe("of schema 3", () => {
    const format = formatOf([CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS]);
    const plan = format.write("plan", PLAN, 2);

    it("takes over runs of schema 2, and gives them back", () => {
      expect(plan).to.not.have.property("group");
      expect(plan).to.not.have.nested.property("jobs[0].approval");
      expect(format.read("plan", plan, 2)).to.deep.equal(PLAN);
      expect(format.read("run", { state: "running" }, 2)).to.deep.equal({
        state: "running",
        place: null,
        stageApproval: null,
        retryOf: null,
      });
      expect(format.read("origin", format.write("origin", head.origin, 2), 2)).to.deep.equal(head.origin);
    });

    it("is not written as schema 2 where that would lose an approval, a group or what was run again", () => {
      const group = { name: "deploy", limit: 1, definedBy: "", onConflict: "queue" } as const;
      for (const lossy of [{ ...PLAN, group }, planOf([[{ group }]])]) {
        expect(() => format.write("plan", lossy, 2)).to.throw("which knows no approvals and groups");
      }
      expect(() => format.write("origin", { ...head.origin, retryOf: head.rootId }, 2)).to.throw("run again");
    });

    it("tells a node of schema 2 of a step that could not be started as of one that is lost", () => {
      const letter = { to: SAMPLES.letter.to, message: { type: "reported", phase: "notStarted" } };
      expect(format.write("letter", letter, 2).message).to.include({ phase: "lost" });
      expect(format.write("letter", letter, 3).message).to.include({ phase: "notStarted" });
    });
  });

  describe("of schema 4", () => {
    const [spec] = jobSpecsOf(PLAN);
    const [step] = spec!.steps;

    it("takes over jobs of schema 3, and gives them back", () => {
      const third = STORED_FORMAT.write("spec", spec!, 3);
      expect(third.steps[0]).to.not.have.any.keys("secrets", "artifacts", "plugin");
      expect(STORED_FORMAT.read("spec", third, 3)).to.deep.equal(spec);
    });

    it("is not written as schema 3 where a step would get nothing for its secret", () => {
      const reading = { ...spec!, steps: [{ ...step!, secrets: ["KEY"] }] };
      expect(() => STORED_FORMAT.write("spec", reading, 3)).to.throw("which knows no secrets");
    });

    it("is not written as schema 3 where that would lose an artifact", () => {
      const artifacts = [{ name: "a", paths: ["a"], ifMissing: "error", retentionMs: null } as const];
      const lossy = { ...spec!, steps: [{ ...step!, artifacts }] };
      expect(() => STORED_FORMAT.write("spec", lossy, 3)).to.throw("which knows no artifacts");
    });

    it("is not written as schema 3 where that would lose a plugin", () => {
      const plugin = { sha256: "a".repeat(64), sizeBytes: 1 };
      const using = { ...spec!, steps: [{ ...step!, plugin }] };
      expect(() => STORED_FORMAT.write("spec", using, 3)).to.throw("which knows no plugins");
    });

    it("keeps from schema 3 what a step has used up, and knows nothing of it from there", () => {
      const { to } = SAMPLES.letter;
      const report = { type: "reported", phase: "succeeded" };
      const written = STORED_FORMAT.write("letter", { to, message: { ...report, usage: { cpuMs: 1 } } }, 3);
      expect(written.message).to.deep.equal(report);
      expect(STORED_FORMAT.read("letter", written, 3).message).to.deep.equal({ ...report, usage: null });
      expect(STORED_FORMAT.read("step", { state: "success" }, 3)).to.include({ usage: null });
      expect(STORED_FORMAT.write("step", { state: "success", usage: { cpuMs: 1 } }, 3)).to.not.have.property("usage");
    });
  });

  it("refuses what a newer version has stored, and says what to do", () => {
    expect(() =>
      fromStored(STORED_FORMAT, "plan", toStored(NEXT_FORMAT, "plan", PLAN, NEXT_FORMAT.schema), "the plan of run_1"),
    )
      .to.throw(
        NewerSchemaError,
        `the plan of run_1 was stored with schema ${NEXT_FORMAT.schema} by a newer version, and this node reads up to ${STORED_FORMAT.schema}`,
      )
      .that.includes({ reason: "unavailable" });
    expect(() => refuseNewer("run_1", 1, STORED_FORMAT)).not.to.throw();
  });
});

import { expect } from "chai";
import fc from "fast-check";
import type { ContainerSpec, ServiceSpec } from "../../src/domain/containers/containers.ts";
import { asId, type DeliveryId, type JobRunId, newId, type ProjectId } from "../../src/domain/ids.ts";
import {
  formatOf,
  fromStored,
  NewerSchemaError,
  refuseNewer,
  STORED_FORMAT,
  toStored,
} from "../../src/stores/format/stored-format.ts";
import type { Part, StoredParts } from "../../src/stores/format/stored-parts.ts";
import {
  CONDITIONS_AND_OUTPUTS,
  ENDED_ATTEMPTS_APART,
  GATES_AND_RERUNS,
  TRUSTED_SELECTORS,
  USAGE_AND_STEP_NEEDS,
  VARIABLES_AND_PERMISSIONS,
} from "../../src/stores/format/schema-steps.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { NEXT_FORMAT, RENAMING } from "../support/next-format.ts";
import { approvalOf, jobSpecsOf, planOf } from "../support/plans.ts";

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
  schedule: { waiting: [] },
  timetable: { schedules: [] },
  plan: PLAN,
  spec: jobSpecsOf(PLAN)[0]!,
  message: { to: { kind: "job", id: "job_1" }, message: { type: "cancel" } },
};
/** The format whose newest schema is 7. */
const SEVENTH = formatOf([
  CONDITIONS_AND_OUTPUTS,
  GATES_AND_RERUNS,
  USAGE_AND_STEP_NEEDS,
  TRUSTED_SELECTORS,
  ENDED_ATTEMPTS_APART,
  VARIABLES_AND_PERMISSIONS,
]);
const PARTS = Object.keys(SAMPLES) as Part[];
/** Parts that no node of schema 6 can read. */
const NEW_PARTS: readonly Part[] = ["schedule", "timetable"];

describe("the stored format", () => {
  it("reads back what it wrote, with the newest schema and with the one before it", () => {
    const twice = formatOf([RENAMING, { upgrade: {}, downgrade: {} }]);
    for (const format of [STORED_FORMAT, SEVENTH, formatOf([RENAMING]), twice, NEXT_FORMAT]) {
      for (const schema of [format.schema, format.schema - 1].filter((number) => number > 0)) {
        for (const part of PARTS) {
          if (format === SEVENTH && schema < format.schema && NEW_PARTS.includes(part)) {
            expect(() => format.write(part, SAMPLES[part], schema)).to.throw("does not support schedules");
            continue;
          }
          const isOfToday = format === STORED_FORMAT || format === SEVENTH || format === NEXT_FORMAT;
          const value = isOfToday ? SAMPLES[part] : format.read(part, SAMPLES[part], 1);
          const stored = format.write(part, value, schema);
          expect(format.read(part, stored, schema), `${part} with schema ${schema}`).to.deep.equal(value);
        }
      }
    }
  });

  it("gives back every state that was upgraded by one schema and downgraded again", () => {
    const format = formatOf([RENAMING]);
    const names = fc.constantFrom("state", "fence", "grant", "remaining", "runId", "attempt", "other");
    fc.assert(
      fc.property(fc.constantFrom("run", "job", "step"), fc.dictionary(names, fc.jsonValue()), (kind, any) => {
        const upgraded = format.read(kind, any, 1);
        expect(format.write(kind, upgraded, 1)).to.deep.equal(any);
      }),
    );
  });

  it("upgrades data that is several schemas old step by step", () => {
    const format = formatOf([
      { upgrade: { job: (job) => ({ ...job, trail: ["2"] }) }, downgrade: {} },
      { upgrade: { job: (job) => ({ ...job, trail: [...(job["trail"] as string[]), "3"] }) }, downgrade: {} },
    ]);
    expect(format.schema).to.equal(3);
    expect(format.read("job", {}, 1)).to.deep.equal({ trail: ["2", "3"] });
    expect(format.read("job", { trail: ["2"] }, 2)).to.deep.equal({ trail: ["2", "3"] });
    expect(format.read("job", { trail: [] }, 3)).to.deep.equal({ trail: [] });
  });

  it("keeps the schema number in the stored document and removes it on reading", () => {
    const stored = toStored(NEXT_FORMAT, "job", SAMPLES.job, NEXT_FORMAT.schema);
    expect(stored)
      .to.include({ schema: NEXT_FORMAT.schema, phase: "pending", newestToken: 0 })
      .and.not.have.any.keys("state", "fence");
    expect(fromStored(NEXT_FORMAT, "job", stored, "a job")).to.deep.equal(SAMPLES.job);
    expect(
      fromStored(NEXT_FORMAT, "job", SAMPLES.job, "a job"),
      "a document without a schema has schema 1",
    ).to.deep.equal(SAMPLES.job);
  });

  describe("of schema 2", () => {
    const stages = [{ name: "stage-0" }];
    const first = { lostAttempts: 2, steps: [{ name: "s", continueOnError: false, timeoutMs: null }] };
    const plan = { ...PLAN, stages, jobs: [first] } as unknown as StoredParts["plan"];
    const job = { state: "pending", fence: 3 };
    const format = formatOf([CONDITIONS_AND_OUTPUTS]);

    it("upgrades runs of schema 1 and downgrades them again", () => {
      const upgraded = format.read("plan", plan, 1);
      expect(upgraded).to.have.nested.property("jobs[0].retry.attempts", 2);
      expect(upgraded).to.have.nested.property("jobs[0].steps[0].when", null);
      expect(format.read("job", job, 1)).to.include({ state: "pending", fence: 3, stepAttempt: 1, failing: "" });
      expect(format.write("plan", upgraded, 1)).to.deep.equal(plan);
      expect(format.write("job", format.read("job", job, 1), 1)).to.deep.equal(job);
    });

    it("keeps the other fields of a message and of a job's spec", () => {
      const addressed = { rootId: "run_1", to: null, message: { type: "reported", token: 1 } };
      expect(format.read("message", addressed, 1)).to.deep.equal({
        ...addressed,
        message: { hasOutputs: false, type: "reported", token: 1 },
      });
      expect(format.write("message", format.read("message", addressed, 1), 1)).to.deep.equal(addressed);
      const other = { ...addressed, message: { type: "stop" } };
      expect(format.read("message", other, 1)).to.deep.equal(other);
      const spec = { env: [], steps: [{ name: "s" }], more: 1 } as unknown as StoredParts["spec"];
      expect(format.write("spec", format.read("spec", spec, 1), 1)).to.deep.equal(spec);
    });

    it("refuses to write a condition or a retry as schema 1", () => {
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

    it("upgrades runs of schema 2 and downgrades them again", () => {
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

    it("refuses to write an approval, a group or a rerun as schema 2", () => {
      const group = { name: "deploy", limit: 1, definedBy: "", onConflict: "queue" } as const;
      for (const lossy of [{ ...PLAN, group }, planOf([[{ group }]])]) {
        expect(() => format.write("plan", lossy, 2)).to.throw("does not support approvals and groups");
      }
      expect(() => format.write("origin", { ...head.origin, retryOf: head.rootId }, 2)).to.throw("run again");
    });

    it("reports a step that was not started as lost to a node of schema 2", () => {
      const addressed = { to: SAMPLES.message.to, message: { type: "reported", phase: "notStarted" } };
      expect(format.write("message", addressed, 2).message).to.include({ phase: "lost" });
      expect(format.write("message", addressed, 3).message).to.include({ phase: "notStarted" });
    });
  });

  describe("of schema 4", () => {
    const [spec] = jobSpecsOf(PLAN);
    const [step] = spec!.steps;
    const format = formatOf([CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS, USAGE_AND_STEP_NEEDS]);

    it("upgrades jobs of schema 3 and downgrades them again", () => {
      const third = format.write("spec", spec!, 3);
      expect(third.steps[0]).to.not.have.any.keys("secrets", "artifacts", "plugin");
      expect(format.read("spec", third, 3)).to.deep.equal(spec);
    });

    it("refuses to write a step with a secret as schema 3", () => {
      const reading = { ...spec!, steps: [{ ...step!, secrets: ["KEY"] }] };
      expect(() => format.write("spec", reading, 3)).to.throw("does not support secrets");
    });

    it("refuses to write a step with an artifact as schema 3", () => {
      const artifacts = [{ name: "a", paths: ["a"], ifMissing: "error", retentionMs: null } as const];
      const lossy = { ...spec!, steps: [{ ...step!, artifacts }] };
      expect(() => format.write("spec", lossy, 3)).to.throw("does not support artifacts");
    });

    it("refuses to write a step with a plugin as schema 3", () => {
      const plugin = { sha256: "a".repeat(64), sizeBytes: 1 };
      const using = { ...spec!, steps: [{ ...step!, plugin }] };
      expect(() => format.write("spec", using, 3)).to.throw("does not support plugins");
    });

    it("leaves the resource usage of a step out of schema 3, and reads it from there as unknown", () => {
      const { to } = SAMPLES.message;
      const report = { type: "reported", phase: "succeeded" };
      const written = format.write("message", { to, message: { ...report, usage: { cpuMs: 1 } } }, 3);
      expect(written.message).to.deep.equal(report);
      expect(format.read("message", written, 3).message).to.deep.equal({ ...report, usage: null });
      expect(format.read("step", { state: "success" }, 3)).to.include({ usage: null });
      expect(format.write("step", { state: "success", usage: { cpuMs: 1 } }, 3)).to.not.have.property("usage");
    });
  });

  describe("of schema 5", () => {
    it("keeps plans as they are, and refuses to write a selector of trusted labels as schema 4", () => {
      const format = formatOf([CONDITIONS_AND_OUTPUTS, GATES_AND_RERUNS, USAGE_AND_STEP_NEEDS, TRUSTED_SELECTORS]);
      expect(format.write("plan", PLAN, 4)).to.deep.equal(PLAN);
      const jobs = PLAN.jobs.map((job) => ({ ...job, selector: { ...job.selector, trusted: true as const } }));
      expect(() => format.write("plan", { ...PLAN, jobs }, 4))
        .to.throw("trusted labels of agents")
        .that.includes({ reason: "unavailable" });
      expect(format.write("plan", { ...PLAN, jobs }, 5)).to.deep.equal({ ...PLAN, jobs });
    });
  });

  it("refuses to write variables of a project or a tenant as schema 6", () => {
    const origin = sampleAggregate().head.origin;
    const before = SEVENTH.schema - 1;
    expect(SEVENTH.write("origin", origin, before)).to.deep.equal(origin);
    expect(() => SEVENTH.write("origin", { ...origin, inherited: [["a", "b"]] }, before))
      .to.throw("variables of projects and tenants")
      .that.includes({ reason: "unavailable" });
  });

  it("refuses to write what runs of events and of protected targets have as schema 6", () => {
    const { origin } = sampleAggregate().head;
    const { schema } = SEVENTH;
    const told = { deliveryId: asId<DeliveryId>("dlv_1"), index: 0, trigger: "1", sha: "", untrusted: true };
    const ofEvent = { ...origin, trigger: { kind: "event", ref: "main", event: told } } as const;
    const [spec] = jobSpecsOf(PLAN);
    for (const [part, value, what] of [
      ["origin", ofEvent, "event triggers"],
      ["plan", { ...PLAN, approval: approvalOf() }, "approvals of runs"],
      ["spec", { ...spec!, refusal: "no" }, "protected targets"],
    ] as const) {
      expect(SEVENTH.write(part, value, schema)).to.deep.equal(value);
      expect(() => SEVENTH.write(part, value, schema - 1))
        .to.throw(what)
        .that.includes({ reason: "unavailable" });
    }
  });

  it("writes the trace context of a trigger, and leaves it out of schema 6", () => {
    const { origin } = sampleAggregate().head;
    const traced = { ...origin, traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
    const { schema } = SEVENTH;
    expect(SEVENTH.write("origin", traced, schema)).to.deep.equal(traced);
    expect(SEVENTH.write("origin", traced, schema - 1)).to.deep.equal(origin);
  });

  it("writes the priority of a job, the metadata of a step and what was pushed, and leaves them out of schema 6", () => {
    const { schema } = SEVENTH;
    const changed = {
      run: { ...SAMPLES.run, pushedEvents: 3 },
      job: { ...SAMPLES.job, priority: 7 },
      step: { ...SAMPLES.step, metadata: [["a", "b"]], eventsThrough: 3 },
    };
    for (const part of ["run", "job", "step"] as const) {
      expect(SEVENTH.write(part, changed[part], schema)).to.deep.equal(changed[part]);
      expect(SEVENTH.write(part, changed[part], schema - 1)).to.deep.equal(SAMPLES[part]);
    }
  });

  it("writes whom a run tells what, and leaves it out of schema 6", () => {
    const message = { to: ["ada@mail.example"] };
    const notification = { job: null, on: ["failure"], longerThanMs: null, channel: "email", message } as const;
    const plan = { ...PLAN, notifications: [notification] };
    const { schema } = SEVENTH;
    expect(SEVENTH.write("plan", plan, schema)).to.deep.equal(plan);
    expect(SEVENTH.write("plan", plan, schema - 1)).to.deep.equal(PLAN);
  });

  it("refuses to write permissions of a job as schema 6", () => {
    const [spec] = jobSpecsOf(PLAN);
    const permissions = { idToken: true, api: null, environment: null };
    const before = SEVENTH.schema - 1;
    expect(SEVENTH.write("spec", spec!, before)).to.deep.equal(spec);
    expect(() => SEVENTH.write("spec", { ...spec!, permissions }, before))
      .to.throw("permissions of jobs")
      .that.includes({ reason: "unavailable" });
  });

  it("refuses to write uploads of a trigger, and a step that fetches one, as schema 6", () => {
    const { origin } = sampleAggregate().head;
    const before = SEVENTH.schema - 1;
    const uploads = [["A", { uploadId: newId("upl"), name: "a.txt", size: 1, sha256: "0".repeat(64) }]] as const;
    expect(() => SEVENTH.write("origin", { ...origin, uploads }, before))
      .to.throw("uploads of triggers")
      .that.includes({ reason: "unavailable" });
    const [spec] = jobSpecsOf(PLAN);
    for (const uses of ["upload", "upload@v1"]) {
      const fetching = { ...spec!, steps: spec!.steps.map((step) => ({ ...step, uses })) };
      expect(() => SEVENTH.write("spec", fetching, before)).to.throw("steps that fetch uploads");
      expect(SEVENTH.write("spec", fetching, SEVENTH.schema)).to.deep.equal(fetching);
    }
  });

  it("refuses to write a step with a plugin of a project as schema 6, whose nodes would hand out another one", () => {
    const [spec] = jobSpecsOf(PLAN);
    const using = (owner: { readonly owner?: `project/${ProjectId}` }) => {
      const plugin = { sha256: "a".repeat(64), sizeBytes: 1, ...owner };
      return { ...spec!, steps: spec!.steps.map((step) => ({ ...step, plugin })) };
    };
    const before = SEVENTH.schema - 1;
    const owned = using({ owner: `project/${newId("prj")}` });
    expect(() => SEVENTH.write("spec", owned, before)).to.throw("plugins of projects and tenants");
    expect(SEVENTH.write("spec", owned, SEVENTH.schema)).to.deep.equal(owned);
    expect(SEVENTH.write("spec", using({}), before)).to.deep.equal(using({}));
  });

  it("refuses to write a step with test reports as schema 6, whose nodes would not ask an agent for them", () => {
    const [spec] = jobSpecsOf(PLAN);
    const reporting = { ...spec!, steps: spec!.steps.map((step) => ({ ...step, junit: ["*.xml"] })) };
    expect(() => SEVENTH.write("spec", reporting, SEVENTH.schema - 1)).to.throw("test reports");
    expect(SEVENTH.write("spec", reporting, SEVENTH.schema)).to.deep.equal(reporting);
  });

  it("refuses to write artifacts that are named during the run as schema 6, whose nodes would not evaluate the names", () => {
    const [spec] = jobSpecsOf(PLAN);
    const named = (pointer: string) => ({ ...spec!, steps: spec!.steps.map((step) => ({ ...step, late: [pointer] })) });
    const before = SEVENTH.schema - 1;
    for (const pointer of ["/artifacts/0/name", "/junit/0"]) {
      expect(() => SEVENTH.write("spec", named(pointer), before), pointer).to.throw("names of artifacts");
      expect(SEVENTH.write("spec", named(pointer), SEVENTH.schema)).to.deep.equal(named(pointer));
    }
    expect(SEVENTH.write("spec", named("/args/artifacts"), before)).to.deep.equal(named("/args/artifacts"));
  });

  it("refuses to write containers and services as schema 6, whose nodes would run the steps on the agent itself", () => {
    const [spec] = jobSpecsOf(PLAN);
    const container: ContainerSpec = {
      image: "node:22.12",
      env: [],
      credential: "",
      pull: "missing",
      late: [],
      user: "",
      entrypoint: [],
      network: "default",
      cpus: null,
      memoryBytes: null,
      pids: null,
    };
    const service: ServiceSpec = { ...container, name: "db", ports: [], health: null };
    for (const contained of [
      { ...spec!, container },
      { ...spec!, services: [service] },
      { ...spec!, steps: spec!.steps.map((step) => ({ ...step, container })) },
    ]) {
      expect(() => SEVENTH.write("spec", contained, SEVENTH.schema - 1)).to.throw("containers");
      expect(SEVENTH.write("spec", contained, SEVENTH.schema)).to.deep.equal(contained);
    }
  });

  it("refuses data that a newer version has stored, and says what to do", () => {
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

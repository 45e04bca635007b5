import { expect } from "chai";
import { asId, type JobRunId } from "../../src/domain/ids.ts";
import { Slots } from "../../src/gateway/slots.ts";

const [A, B, C] = ["job_A", "job_B", "job_C"].map((id) => asId<JobRunId>(id)) as [JobRunId, JobRunId, JobRunId];

describe("the slots of an agent", () => {
  let now: number;
  let slots: Slots;
  beforeEach(() => {
    now = 1_000;
    slots = new Slots(3, () => now);
  });

  /** A reconciliation whose read takes 10 ms, during which `meanwhile` happens. */
  async function reconcile(answer: readonly JobRunId[] | undefined, meanwhile: () => void = () => {}): Promise<void> {
    now += 1;
    await slots.reconcile(async () => {
      now += 5;
      meanwhile();
      now += 5;
      return Promise.resolve(answer);
    });
    now += 1;
  }

  it("are held by jobs, one slot for each job however often it takes one", () => {
    slots.take(A);
    slots.take(A);
    slots.take(B);
    expect([slots.count, slots.free]).to.deep.equal([3, 1]);
    slots.release(A);
    slots.release(A);
    slots.release(C);
    expect(slots.free).to.equal(2);
  });

  it("have a negative number of free slots when more jobs hold one than the agent has", async () => {
    slots = new Slots(1, () => now);
    await reconcile([A, B, C]);
    expect(slots.free).to.equal(-2);
  });

  it("are held by the jobs that a reconciliation reads, and by no others", async () => {
    slots.take(A);
    await reconcile([B, C]);
    expect(slots.free).to.equal(1);
    await reconcile([]);
    expect(slots.free).to.equal(3);
  });

  it("stay free when their job is released while a reconciliation reads", async () => {
    slots.take(A);
    await reconcile([A, B], () => slots.release(A));
    expect(slots.free, "only B holds a slot").to.equal(2);
    await reconcile([A, B]);
    expect(slots.free, "the release counts for one reconciliation").to.equal(1);
  });

  it("stay held when their job takes them while a reconciliation reads", async () => {
    await reconcile([], () => slots.take(A));
    expect(slots.free).to.equal(2);
    await reconcile([]);
    expect(slots.free, "the next reconciliation knows better").to.equal(3);
  });

  it("stay held when their job takes them again after its release while a reconciliation reads", async () => {
    slots.take(A);
    await reconcile([], () => {
      slots.release(A);
      slots.take(A);
    });
    expect(slots.free).to.equal(2);
  });

  it("are not free beyond the jobs that the agent still takes", async () => {
    slots.bound(2, [A]);
    expect(slots.free).to.equal(2);
    await reconcile([A]);
    expect(slots.free, "the agent holds A, and takes two more").to.equal(2);
    slots.take(B);
    slots.take(B);
    expect(slots.free).to.equal(1);
    slots.release(A);
    slots.release(B);
    expect(slots.free, "B was one of the two, though it is over").to.equal(1);
    slots.take(C);
    slots.release(C);
    expect(slots.free).to.equal(0);
    slots.bound(1, []);
    expect(slots.free, "the agent has counted B, and never got C").to.equal(1);
    slots.bound(undefined, []);
    expect(slots.free).to.equal(3);
  });

  it("count a job that is bound in the store and that the agent does not know yet", async () => {
    slots.bound(1, []);
    await reconcile([A]);
    expect(slots.free).to.equal(0);
    slots.bound(0, [A]);
    expect(slots.free).to.equal(0);
    slots.bound(1, []);
    expect(slots.free, "its dispatch is still on its way").to.equal(0);
  });

  it("do not change when a reconciliation has no answer, or cannot read", async () => {
    slots.take(A);
    await reconcile(undefined);
    expect(slots.free).to.equal(2);
    now += 1;
    const failed = await slots.reconcile(() => Promise.reject(new Error("no store"))).catch((error: unknown) => error);
    expect(String(failed)).to.include("no store");
    expect(slots.free).to.equal(2);
  });
});

import { expect } from "chai";
import { Admission } from "../../src/gateway/admission.ts";
import { MillraceError } from "../../src/domain/errors.ts";

/** A clock whose timers fire only when the test lets time pass. */
class Steps {
  now = 1_000;
  readonly #due: { at: number; run: () => void }[] = [];

  monotonic = (): number => this.now;

  after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.now + ms, run };
    this.#due.push(timer);
    return () => void this.#due.splice(this.#due.indexOf(timer), 1);
  };

  async pass(ms: number): Promise<void> {
    for (const until = this.now + ms; this.now < until;) {
      this.now += 10;
      for (const timer of this.#due.filter(({ at }) => at <= this.now)) {
        this.#due.splice(this.#due.indexOf(timer), 1);
        timer.run();
      }
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
    }
  }
}

const PER_SECOND = 10;

describe("the admission of agents", () => {
  let clock: Steps;
  let admission: Admission;
  let admitted: string[];
  let sentAway: { readonly name: string; readonly comeBackMs: number }[];
  beforeEach(() => {
    clock = new Steps();
    admission = new Admission({ perSecond: PER_SECOND, clock, timers: clock });
    admitted = [];
    sentAway = [];
  });

  function come(name: string, holdsSteps: boolean, hungUp = new AbortController().signal): void {
    admission.admit(holdsSteps, hungUp).then(
      () => admitted.push(name),
      (error: MillraceError) => sentAway.push({ name, comeBackMs: error.comeBackMs ?? -1 }),
    );
  }

  const comeMany = (name: string, count: number, holdsSteps: boolean): void => {
    for (let at = 0; at < count; at++) come(`${name}-${at}`, holdsSteps);
  };

  it("admits as many as a second's at once, and the others by rate", async () => {
    comeMany("agent", 40, false);
    await clock.pass(10);
    expect(admitted.length).to.equal(PER_SECOND);
    await clock.pass(1_000);
    expect(admitted.length).to.be.within(2 * PER_SECOND - 1, 2 * PER_SECOND + 1);
    await clock.pass(2_100);
    expect(admitted.length).to.equal(40);
    expect(admitted, "in the order in which they came").to.deep.equal(admitted.toSorted(byNumber));
  });

  it("admits those that hold steps before all others, also when they come last", async () => {
    comeMany("idle", 40, false);
    await clock.pass(10);
    comeMany("busy", 20, true);
    await clock.pass(2_100);
    expect(admitted.filter((name) => name.startsWith("busy")).length).to.equal(20);
    expect(admitted.filter((name) => name.startsWith("idle")).length).to.be.within(PER_SECOND, PER_SECOND + 2);
  });

  it("tells those whose turn is far off when to come back, one after the other", async () => {
    comeMany("agent", 100, false);
    await clock.pass(10);
    // 10 at once, 50 that wait for up to 5 s, and 40 that are sent away.
    expect(sentAway.length).to.equal(40);
    const times = sentAway.map(({ comeBackMs }) => comeBackMs);
    expect(times, "later and later").to.deep.equal(times.toSorted((a, b) => a - b));
    expect(times[0]).to.equal(5_000);
    expect(times.at(-1)).to.equal(8_900);
    await clock.pass(5_100);
    expect(admitted.length).to.equal(60);
  });

  it("keeps no agent away for longer than 10 s", async () => {
    comeMany("agent", 1_000, false);
    comeMany("busy", 1_000, true);
    await clock.pass(10);
    expect(Math.max(...sentAway.map(({ comeBackMs }) => comeBackMs))).to.equal(10_000);
  });

  it("gives the turn of an agent that has hung up to the next", async () => {
    comeMany("first", PER_SECOND, false);
    const impatient = new AbortController();
    come("impatient", false, impatient.signal);
    come("patient", false);
    impatient.abort();
    await clock.pass(130);
    expect(admitted).to.include("patient").and.to.not.include("impatient");
    expect(sentAway).to.deep.equal([{ name: "impatient", comeBackMs: -1 }]);
  });
});

function byNumber(a: string, b: string): number {
  return Number(a.split("-")[1]) - Number(b.split("-")[1]);
}

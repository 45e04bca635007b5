import { expect } from "chai";
import { StateLog } from "../../../src/app/following/state-log.ts";

const KEPT = 10_000;

describe("the log of a state feed", () => {
  it("forgets the objects that have been over for longest, beyond 10,000", () => {
    const log = new StateLog<string>((state) => state === "over");
    const record = (key: string, state: string) => log.record(key, { state, isRemoved: false, changedAt: 0 });
    record("live", "running");
    record("again", "over");
    for (let at = 0; at < KEPT - 1; at++) record(`object ${at}`, "over");
    record("again", "over");
    expect(log.reachesBackTo(0)).to.equal(true);
    for (let at = 0; at < KEPT / 2; at++) {
      record(`later ${at}`, "over");
      expect(log.get(`object ${at}`)).to.equal(undefined);
      expect(log.isOver(`object ${at + 1}`)).to.equal(true);
    }
    expect(log.reachesBackTo(0)).to.equal(false);
    for (const key of ["live", "again", "later 0"]) expect(log.get(key), key).not.to.equal(undefined);
  });
});

import { expect } from "chai";
import { clockDeviation, clockVerdict } from "../../queues/clock-deviation.ts";

const HOUR = 3_600_000;

describe("the deviation of a clock", () => {
  it("is the difference to Redis when there is no other node", () => {
    expect(clockDeviation(7_000, [])).to.equal(7_000);
    expect(clockDeviation(-HOUR, [])).to.equal(-HOUR);
  });

  it("blames the one clock that differs, not those that agree", () => {
    expect(clockDeviation(HOUR, [0]), "this node, of two").to.equal(HOUR);
    expect(clockDeviation(0, [HOUR]), "the other node, of two").to.equal(0);
    expect(clockDeviation(10, [10, HOUR]), "another node, of three").to.equal(0);
    expect(clockDeviation(HOUR, [-20, 10]), "this node, of three").to.equal(HOUR);
  });

  it("does not blame nodes that agree when the clock of Redis is wrong", () => {
    expect(clockDeviation(HOUR, [HOUR])).to.equal(0);
    expect(clockDeviation(-HOUR, [-HOUR, -HOUR - 30])).to.equal(0);
  });

  it("is a warning from 5 s on, and wrong above 60 s, in both directions", () => {
    expect([0, 4_999, 5_000, 60_000, 60_001].map(clockVerdict)).to.deep.equal([
      "right",
      "right",
      "off",
      "off",
      "wrong",
    ]);
    expect([-4_999, -5_000, -60_001].map(clockVerdict)).to.deep.equal(["right", "off", "wrong"]);
  });
});

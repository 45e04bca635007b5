import { expect } from "chai";
import { ChannelInterest } from "../../src/feed/channel-interest.ts";

describe("the interest of nodes in channels", () => {
  let now: number;
  let told: (readonly string[])[];
  let interest: ChannelInterest;
  beforeEach(() => {
    now = 0;
    told = [];
    interest = new ChannelInterest(
      (channels) => {
        told.push(channels);
        return told.length === 3 ? Promise.reject(new Error("no broker")) : Promise.resolve();
      },
      { monotonic: () => now },
    );
  });
  afterEach(() => interest.close());

  it("is told in one message for what begins to be followed at the same time, and once for each channel", async () => {
    const leave = await Promise.all(["a", "b", "a"].map((channel) => interest.enter(channel)));
    expect(told).to.deep.equal([["a", "b"]]);
    leave[0]!();
    leave[0]!();
    await interest.enter("a");
    expect(told).to.have.length(1);
    leave[1]!();
    await interest.enter("b");
    expect(told).to.deep.equal([["a", "b"], ["b"]]);
    interest.tellAll();
    expect(told[2], "also when it cannot be told").to.deep.equal(["a", "b"]);
  });

  it("is told in messages of bounded length", async () => {
    await Promise.all(Array.from({ length: 450 }, (_, at) => interest.enter(`log:${at}`)));
    expect(told.map(({ length }) => length)).to.deep.equal([200, 200, 50]);
  });

  it("of another node ends some seconds after the node has told it last, and takes no memory then", () => {
    interest.hear(["a", "b"]);
    now = 9_000;
    interest.hear(["a"]);
    expect(["a", "b", "c"].map((channel) => interest.isFollowedElsewhere(channel))).to.deep.equal([true, true, false]);
    now = 10_000;
    expect(interest.isFollowedElsewhere("b"), "the node has died").to.equal(false);
    now = 30_000;
    interest.hear(["c"]);
    expect(interest.size).to.equal(1);
  });
});

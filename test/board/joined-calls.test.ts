import { expect } from "chai";
import { JoinedCalls } from "../../src/board/joined-calls.ts";

describe("joined calls", () => {
  it("make one call for what is added in one turn, and another one for what comes later", async () => {
    const calls: (readonly number[])[] = [];
    const joined = new JoinedCalls<number>((items) => Promise.resolve(calls.push([...items])), 100);
    await Promise.all([1, 2, 3].map((item) => joined.add(item)));
    await joined.add(4);
    expect(calls).to.deep.equal([[1, 2, 3], [4]]);
  });

  it("make a call as soon as it has as many items as it may have, and when they are flushed", async () => {
    const calls: (readonly number[])[] = [];
    const joined = new JoinedCalls<number>((items) => Promise.resolve(calls.push([...items])), 2);
    const added = [1, 2, 3].map((item) => joined.add(item));
    expect(calls).to.deep.equal([[1, 2]]);
    joined.flush();
    joined.flush();
    expect(calls).to.deep.equal([[1, 2], [3]]);
    await Promise.all(added);
  });

  it("reject what a failed call was for, and nothing else", async () => {
    let fails = true;
    const joined = new JoinedCalls<number>(() => (fails ? Promise.reject(new Error("gone")) : Promise.resolve()), 100);
    const [first, second] = await Promise.allSettled([joined.add(1), joined.add(2)]);
    expect([first.status, second.status]).to.deep.equal(["rejected", "rejected"]);
    fails = false;
    await joined.add(3);
  });
});

import { expect } from "chai";
import { InTurn } from "../../../src/domain/work/in-turn.ts";

describe("work that is done in turn", () => {
  it("runs one piece at a time for each key, in the order of the calls, also when one fails", async () => {
    const turns = new InTurn(100);
    const order: number[] = [];
    let busy = 0;
    const work = async (index: number) => {
      expect(++busy, `work ${index}`).to.equal(1);
      await new Promise(setImmediate);
      busy--;
      order.push(index);
      if (index % 3 === 0) throw new Error(`fault ${index}`);
      return index;
    };
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => turns.run("a", () => work(index))),
    );
    expect(order).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(results.filter(({ status }) => status === "rejected")).to.have.length(4);
    expect(results[1]).to.deep.equal({ status: "fulfilled", value: 1 });
  });

  it("goes on after work that throws before it waits", async () => {
    const turns = new InTurn();
    const thrown = turns.run("a", () => {
      throw new Error("fault");
    });
    const next = turns.run("a", () => Promise.resolve("next"));
    expect(await thrown.catch((error: unknown) => error)).to.have.property("message", "fault");
    expect(await next).to.equal("next");
  });

  it("does not wait for work of another key, and is refused beyond its bound until a piece has ended", async () => {
    const turns = new InTurn(1);
    let free = (): void => {};
    const held = turns.run("a", () => new Promise<void>((resolve) => (free = resolve)));
    expect(await turns.run("b", () => Promise.resolve("done"))).to.equal("done");
    let isDone = false;
    const more = () => Promise.resolve(void (isDone = true));
    expect(await turns.run("a", more).catch((error: unknown) => error)).to.include({ reason: "too_many" });
    expect(isDone).to.equal(false);
    free();
    await held;
    await turns.run("a", more);
    expect(isDone).to.equal(true);
  });
});

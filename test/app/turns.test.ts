import { expect } from "chai";
import { Turns } from "../../src/app/turns.ts";

describe("turns", () => {
  it("are taken one at a time for each key, in order, also when one fails", async () => {
    const turns = new Turns<string>(100);
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
      Array.from({ length: 10 }, (_, index) => turns.take("a", () => work(index))),
    );
    expect(order).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(results.filter(({ status }) => status === "rejected")).to.have.length(4);
  });

  it("of another key do not wait", async () => {
    const turns = new Turns<string>(1);
    let free = (): void => {};
    const held = turns.take("a", () => new Promise<void>((resolve) => (free = resolve)));
    expect(await turns.take("b", () => Promise.resolve("done"))).to.equal("done");
    const refused = await turns.take("a", () => Promise.resolve()).catch((error: unknown) => error);
    expect(refused).to.include({ reason: "too_many" });
    free();
    await held;
    expect(await turns.take("a", () => Promise.resolve("again"))).to.equal("again");
  });
});

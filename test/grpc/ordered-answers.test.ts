import { expect } from "chai";
import { answerInOrder } from "../../src/grpc/ordered-answers.ts";
import { until } from "../support/until.ts";

describe("answers to the requests of a stream", () => {
  /** The work on each request that has begun, and what ends it. */
  let begun: Map<number, { readonly end: () => void; readonly fail: (error: Error) => void }>;
  let written: number[];
  let over: AbortController;
  beforeEach(() => {
    begun = new Map();
    written = [];
    over = new AbortController();
  });

  async function* counting(count: number): AsyncGenerator<number, undefined> {
    for (let n = 1; n <= count; n++) yield n;
    return undefined;
  }
  const answer = (requests: number, bounds = { requests: 3, bytes: 100, bytesOf: (n: number) => n }) =>
    answerInOrder(
      {
        requests: counting(requests),
        write: (n: number) => Promise.resolve(void written.push(n)),
        hungUp: over.signal,
      },
      (n) => new Promise<number>((resolve, fail) => begun.set(n, { end: () => resolve(n), fail })),
      bounds,
    );
  const begunAre = (...numbers: number[]) =>
    until(`${numbers.join()} begun`, () => [...begun.keys()].join() === numbers.join());

  it("keep the order of the requests, several of which are worked on at once", async () => {
    const answered = answer(4);
    await begunAre(1, 2, 3);
    begun.get(2)!.end();
    begun.get(3)!.end();
    await until("a turn", () => true);
    expect(written).to.deep.equal([]);
    begun.get(1)!.end();
    await begunAre(1, 2, 3, 4);
    begun.get(4)!.end();
    await answered;
    expect(written).to.deep.equal([1, 2, 3, 4]);
  });

  it("wait while the requests in hand are large together, and one request is never too large", async () => {
    const answered = answer(3, { requests: 10, bytes: 100, bytesOf: (n) => (n === 1 ? 5_000 : 60) });
    for (const n of [1, 2, 3]) {
      await begunAre(...Array.from({ length: n }, (_, at) => at + 1));
      begun.get(n)!.end();
    }
    await answered;
    expect(written).to.deep.equal([1, 2, 3]);
  });

  it("end with the first failure, and those behind it are not sent", async () => {
    const answered = answer(5).catch((error: Error) => error.message);
    await begunAre(1, 2, 3);
    begun.get(3)!.end();
    begun.get(2)!.fail(new Error("no store"));
    begun.get(1)!.end();
    expect(await answered).to.equal("no store");
    expect(written).to.deep.equal([1]);
  });

  it("are not sent to a caller that has hung up", async () => {
    const answered = answer(2);
    await begunAre(1, 2);
    over.abort();
    for (const { end } of begun.values()) end();
    await answered;
    expect(written).to.deep.equal([]);
  });
});

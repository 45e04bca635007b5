import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { type LargeRead, LargeReads } from "../../src/app/large-reads.ts";
import { MillraceError } from "../../src/domain/errors.ts";

const ann = "usr_ann";
const bob = "usr_bob";

/** A source whose loads end when the test says so. */
class Source {
  readonly name: string;
  loads = 0;
  renders = 0;
  readonly #release: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  read(view: string, version = 1, isSmall = false): LargeRead<string, Buffer> {
    return {
      of: this.name,
      version,
      view,
      isSmall,
      load: async () => {
        const load = ++this.loads;
        await new Promise<void>((resolve) => this.#release.push(resolve));
        return `${this.name}#${load}`;
      },
      render: async (source) => {
        this.renders++;
        return Buffer.from(`${view} of ${source}`);
      },
    };
  }

  async release(): Promise<void> {
    await nextTurn();
    for (const release of this.#release.splice(0)) release();
    await nextTurn();
  }
}

/** A caller's call, which can be over. */
function call(reads: LargeReads, holder: string, read: LargeRead<string, Buffer>) {
  const controller = new AbortController();
  const answer = reads.read(holder, read, controller.signal).then(
    (bytes) => bytes,
    (error: unknown) => error as MillraceError,
  );
  return { answer, end: () => controller.abort(new Error("gone")) };
}

const textOf = (answer: Buffer | MillraceError) => (Buffer.isBuffer(answer) ? answer.toString() : answer.message);

describe("reads of what is large", () => {
  it("of the same view at the same moment share one load and one answer", async () => {
    const reads = new LargeReads();
    const source = new Source("run");
    const calls = Array.from({ length: 100 }, () => call(reads, ann, source.read("all")));
    await source.release();
    const answers = await Promise.all(calls.map(({ answer }) => answer));
    expect([source.loads, source.renders]).to.deep.equal([1, 1]);
    expect(new Set(answers).size, "the same bytes").to.equal(1);
    expect(textOf(answers[0]!)).to.equal("all of run#1");
    expect(reads.count).to.equal(1);
    for (const { end } of calls) end();
    expect(reads.count).to.equal(0);
  });

  it("of several views that wait share one load", async () => {
    const reads = new LargeReads({ atOnce: 1 });
    const [first, second] = [new Source("first"), new Source("second")];
    const busy = call(reads, bob, first.read("all"));
    const views = ["all", "page 1", "page 2"].map((view) => call(reads, ann, second.read(view)));
    await first.release();
    await second.release();
    expect(textOf(await busy.answer)).to.equal("all of first#1");
    const answers = await Promise.all(views.map(async ({ answer }) => textOf(await answer)));
    expect(answers).to.deep.equal(["all of second#1", "page 1 of second#1", "page 2 of second#1"]);
    expect(second.loads).to.equal(1);
  });

  it("of another view share a load that goes on", async () => {
    const reads = new LargeReads();
    const source = new Source("run");
    const first = call(reads, ann, source.read("all", 2));
    await nextTurn();
    const second = call(reads, bob, source.read("page 1", 2));
    await source.release();
    expect(textOf(await first.answer)).to.equal("all of run#1");
    expect(textOf(await second.answer)).to.equal("page 1 of run#1");
  });

  it("never get an answer that is older than what the caller has seen", async () => {
    const reads = new LargeReads();
    const source = new Source("run");
    const old = call(reads, ann, source.read("all", 1));
    await nextTurn();
    const same = call(reads, bob, source.read("all", 1));
    const newer = call(reads, bob, source.read("all", 2));
    await source.release();
    await source.release();
    const answers = await Promise.all([old, same, newer].map(async ({ answer }) => textOf(await answer)));
    expect(answers).to.deep.equal(["all of run#1", "all of run#1", "all of run#2"]);
    const after = call(reads, bob, source.read("all", 1));
    await source.release();
    expect(textOf(await after.answer), "an answer that is made is not kept").to.equal("all of run#3");
  });

  it("are refused to a caller with four answers in hand, until one is taken", async () => {
    const reads = new LargeReads();
    const source = new Source("run");
    const calls = [1, 2, 3, 4].map((page) => call(reads, ann, source.read(`page ${page}`)));
    const fifth = (await call(reads, ann, source.read("page 5")).answer) as MillraceError;
    expect(fifth).to.include({ reason: "too_many", retryAfterSeconds: 1 });
    expect(fifth.message).to.match(
      /^4 answers .*: try again when one is read, or ask for at most 100 of the jobs, such as jobs=1\.\.50$/,
    );
    const again = call(reads, ann, source.read("page 4"));
    await source.release();
    expect(textOf(await again.answer), "an identical read needs no room").to.equal("page 4 of run#1");
    const other = call(reads, bob, source.read("page 5"));
    await source.release();
    expect(textOf(await other.answer), "another caller has room").to.equal("page 5 of run#2");
    expect(await call(reads, ann, source.read("page 5")).answer, "made, but not taken").to.be.instanceOf(MillraceError);
    calls[3]!.end();
    expect(await call(reads, ann, source.read("page 5")).answer, "taken by one of two").to.be.instanceOf(MillraceError);
    again.end();
    const taken = call(reads, ann, source.read("page 5"));
    await source.release();
    expect(textOf(await taken.answer)).to.equal("page 5 of run#3");
  });

  it("count small answers for themselves, and bound them too", async () => {
    const reads = new LargeReads({ small: { ofCaller: 5, ofAll: 7 } });
    const source = new Source("run");
    const large = [1, 2, 3, 4].map((part) => call(reads, ann, source.read(`part ${part}`)));
    const small = [1, 2, 3, 4, 5].map((page) => call(reads, ann, source.read(`page ${page}`, 1, true)));
    const sixth = (await call(reads, ann, source.read("page 6", 1, true)).answer) as MillraceError;
    expect(sixth).to.include({ reason: "too_many" });
    expect(sixth.message).to.match(/^5 answers .*: try again when one is read$/);
    small.push(call(reads, bob, source.read("page 6", 1, true)), call(reads, bob, source.read("page 7", 1, true)));
    expect(await call(reads, "usr_eve", source.read("page 8", 1, true)).answer).to.include({
      reason: "too_many",
    });
    await source.release();
    const answers = await Promise.all([...large, ...small].map(({ answer }) => answer));
    expect(answers.every((answer) => Buffer.isBuffer(answer))).to.equal(true);
    expect(source.loads).to.equal(1);
  });

  it("count for the caller who takes an answer, also when another caller began it", async () => {
    const reads = new LargeReads({ large: { ofCaller: 1, ofAll: 9 } });
    const source = new Source("run");
    const first = call(reads, ann, source.read("all"));
    const deaf = call(reads, bob, source.read("all"));
    await source.release();
    await Promise.all([first.answer, deaf.answer]);
    first.end();
    expect(await call(reads, bob, source.read("page")).answer).to.be.instanceOf(MillraceError);
    const next = call(reads, ann, source.read("page"));
    await source.release();
    expect(textOf(await next.answer), "a deaf caller takes no room of others").to.equal("page of run#2");
  });

  it("are bounded in all, and few are made at once", async () => {
    const reads = new LargeReads({ large: { ofCaller: 4, ofAll: 3 }, atOnce: 2 });
    const sources = ["a", "b", "c", "d"].map((name) => new Source(name));
    const calls = sources.map((source, at) => call(reads, `user ${at}`, source.read("all")));
    await nextTurn();
    expect(sources.map(({ loads }) => loads)).to.deep.equal([1, 1, 0, 0]);
    expect(await calls[3]!.answer).to.include({ reason: "too_many" });
    await sources[0]!.release();
    expect(sources[2]!.loads).to.equal(1);
  });

  it("that no caller waits for any more do not begin", async () => {
    const reads = new LargeReads({ atOnce: 1 });
    const [first, second] = [new Source("first"), new Source("second")];
    call(reads, ann, first.read("all"));
    const left = call(reads, bob, second.read("all"));
    left.end();
    expect(textOf(await left.answer)).to.equal("gone");
    await first.release();
    expect(second.loads).to.equal(0);
    const late = new AbortController();
    late.abort(new Error("gone"));
    const refused = await reads.read(bob, second.read("all"), late.signal).catch((error: unknown) => error);
    expect(refused).to.have.property("message", "gone");
  });

  it("fail for all who wait when the load fails, and the next read loads again", async () => {
    const reads = new LargeReads();
    const failing: LargeRead<string, Buffer> = {
      ...new Source("run").read("all"),
      load: () => Promise.reject(new MillraceError("unavailable", "no store")),
    };
    const calls = [ann, bob].map((caller) => call(reads, caller, failing));
    for (const { answer, end } of calls) {
      expect(await answer).to.include({ reason: "unavailable" });
      end();
    }
    const source = new Source("run");
    const next = call(reads, ann, source.read("all"));
    await source.release();
    expect(textOf(await next.answer)).to.equal("all of run#1");
    expect(reads.count).to.equal(1);
  });
});

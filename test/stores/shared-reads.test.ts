import { expect } from "chai";
import { SharedReads } from "../../src/stores/mongo/cluster/shared-reads.ts";

/** A store whose commands end when the test says so. */
function openStore() {
  const commands: (readonly string[])[] = [];
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const begun: (() => void)[] = [];
  const reads = new SharedReads<string, string>(async (keys) => {
    commands.push(keys);
    await new Promise<void>((resolve, reject) => {
      ends.push({ resolve, reject });
      for (const tell of begun.splice(0)) tell();
    });
    return new Map(keys.filter((key) => key !== "none").map((key) => [key, [`of ${key}`]]));
  });
  return { reads, commands, ends, nextBegins: () => new Promise<void>((resolve) => begun.push(resolve)) };
}

describe("reads that share a command", () => {
  it("are one command for all that come within a moment, and each gets its own", async () => {
    const { reads, commands, ends, nextBegins } = openStore();
    const begins = nextBegins();
    const answers = Promise.all(["a", "b", "a", "none"].map((key) => reads.of(key)));
    await begins;
    ends[0]!.resolve();
    expect(await answers).to.deep.equal([["of a"], ["of b"], ["of a"], []]);
    expect(commands).to.deep.equal([["a", "b", "none"]]);
  });

  it("are not answered by a command that had begun before", async () => {
    const { reads, commands, ends, nextBegins } = openStore();
    let begins = nextBegins();
    const first = reads.of("a");
    await begins;
    begins = nextBegins();
    const second = reads.of("a");
    ends[0]!.resolve();
    await Promise.all([first, begins]);
    ends[1]!.resolve();
    expect(await second).to.deep.equal(["of a"]);
    expect(commands).to.have.length(2);
  });

  it("are several commands when there are very many keys", async () => {
    const { reads, commands, ends, nextBegins } = openStore();
    const begins = nextBegins();
    const answers = Promise.all(Array.from({ length: 700 }, (_, at) => reads.of(`key ${at}`)));
    await begins;
    while (commands.length < 2) await nextBegins();
    for (const end of ends) end.resolve();
    expect((await answers).at(-1)).to.deep.equal(["of key 699"]);
    expect(commands.map(({ length }) => length)).to.deep.equal([500, 200]);
  });

  it("all fail with their command, and the next ones ask again", async () => {
    const { reads, commands, ends, nextBegins } = openStore();
    let begins = nextBegins();
    const failed = Promise.allSettled([reads.of("a"), reads.of("b")]);
    await begins;
    ends[0]!.reject(new Error("no server"));
    expect((await failed).map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    begins = nextBegins();
    const again = reads.of("a");
    await begins;
    ends[1]!.resolve();
    expect(await again).to.deep.equal(["of a"]);
    expect(commands).to.have.length(2);
  });
});

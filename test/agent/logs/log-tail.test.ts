/** The ring of a log's newest lines. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { LogTail } from "../../../src/agent/logs/log-tail.ts";

const STDOUT = "LOG_STREAM_STDOUT";
const ALL = Number.POSITIVE_INFINITY;

describe("the ring of a log's newest lines", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "millrace-tail-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (lines = 10_000, bytes = 10_000_000) => new LogTail({ folder, lines, bytes });
  const files = () => readdirSync(folder).map((name) => join(folder, name));
  /** Adds lines of about `width` characters, in blocks of `lines` lines. Returns all texts. */
  function fill(tail: LogTail, { blocks = 1, lines = 1, width = 10, room = ALL }): string[] {
    const texts: string[] = [];
    for (let block = 0; block < blocks; block++) {
      const some = Array.from({ length: lines }, (_, index) => `${texts.length + index} `.padEnd(width, "x"));
      tail.add({ stream: STDOUT, timeMs: block, bytes: Buffer.from(`${some.join("\n")}\n`), lines }, room);
      texts.push(...some);
    }
    return texts;
  }
  const contents = (tail: LogTail) => tail.take().map(({ content }) => content);

  it("keeps exactly the newest lines, of few large blocks or many small ones", () => {
    for (const shape of [
      { blocks: 1, lines: 500 },
      { blocks: 500, lines: 1 },
      { blocks: 25, lines: 33 },
    ]) {
      const tail = open(100);
      const texts = fill(tail, shape);
      expect(contents(tail), JSON.stringify(shape)).to.deep.equal(texts.slice(-100));
    }
  });

  it("keeps all lines while they are fewer than the bound, and none before the first", () => {
    const tail = open(100);
    expect(tail.take()).to.deep.equal([]);
    expect(contents(tail)).to.deep.equal([]);
    const texts = fill(tail, { blocks: 3, lines: 10 });
    expect(contents(tail)).to.deep.equal(texts);
  });

  it("keeps short lines in memory, and long lines in files that only this user can read and that it removes", () => {
    const short = open();
    fill(short, { blocks: 1_000, lines: 100, width: 8 });
    expect(files()).to.deep.equal([]);
    const tail = open();
    const texts = fill(tail, { blocks: 600, lines: 10, width: 200 });
    expect(files()).to.have.length.within(2, 8);
    for (const file of files()) expect(statSync(file).mode & 0o077).to.equal(0);
    expect(tail.diskBytes).to.equal(files().reduce((sum, file) => sum + statSync(file).size, 0));
    expect(contents(tail)).to.deep.equal(texts);
    expect([files(), tail.diskBytes]).to.deep.equal([[], 0]);
  });

  it("stays within its bytes, however long the lines are", () => {
    const tail = open(10_000, 1_000_000);
    const texts = fill(tail, { blocks: 5_000, width: 2_000 });
    expect(tail.diskBytes).to.be.at.most(1_300_000);
    const kept = contents(tail);
    expect(kept).to.have.length(500);
    expect(kept).to.deep.equal(texts.slice(-kept.length));
  });

  it("keeps as many bytes as it may, however many of them arrive at once", () => {
    for (const lines of [1, 7, 13, 18, 24, 33]) {
      for (let blocks = 90; blocks < 100; blocks++) {
        const tail = open(10_000, 400_000);
        const texts = fill(tail, { blocks, lines, width: 5_000 });
        const most = Math.min(80, texts.length);
        expect(contents(tail), `${blocks} blocks of ${lines}`).to.deep.equal(texts.slice(-most));
      }
    }
  });

  it("keeps what fits into memory when it may use no disk, or the disk takes no file", () => {
    for (const use of [{ room: 0 }, { gone: true }]) {
      const tail = open();
      if ("gone" in use) rmSync(folder, { recursive: true });
      const texts = fill(tail, { blocks: 2_000, width: 1_000, room: "gone" in use ? ALL : use.room });
      const kept = contents(tail);
      expect(kept).to.have.length.within(100, 256);
      expect(kept).to.deep.equal(texts.slice(-kept.length));
      if ("gone" in use) folder = mkdtempSync(join(tmpdir(), "millrace-tail-"));
    }
  });

  it("has no holes when a file was damaged: the lines before go with those of the file", () => {
    const tail = open();
    const texts = fill(tail, { blocks: 1_000, width: 1_000 });
    const newest = files().toSorted((a, b) => firstOf(b) - firstOf(a))[0]!;
    truncateSync(newest, 10);
    const kept = contents(tail);
    expect(kept.length).to.be.within(1, 300);
    expect(kept).to.deep.equal(texts.slice(-kept.length));
  });
  const firstOf = (file: string) => Number(readFileSync(file, "utf8").split(" ")[0]);

  it("cuts long lines as any log does, and does not cut a line twice", () => {
    const tail = open();
    tail.add(
      { stream: STDOUT, timeMs: 0, bytes: Buffer.from(`${"a".repeat(20_000)}\r\n\xff\n`, "latin1"), lines: 2 },
      ALL,
    );
    const text = `${"b".repeat(16_384)} [cut: 5 bytes]`;
    tail.add({ stream: STDOUT, timeMs: 0, bytes: Buffer.from(`${text}\n`), lines: 1, isCut: true }, ALL);
    expect(contents(tail)).to.deep.equal([`${"a".repeat(16_384)} [cut: 3616 bytes]`, "\ufffd", text]);
  });

  it("leaves no file when it is given up", () => {
    const tail = open();
    fill(tail, { blocks: 1_000, width: 1_000 });
    tail.dispose();
    expect([files(), tail.diskBytes]).to.deep.equal([[], 0]);
  });

  it("holds a suffix of what was written, of at least the bound where its bytes allow, for any blocks", () => {
    const block = fc.array(fc.nat({ max: 3_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 60 }), fc.integer({ min: 1, max: 300 }), (blocks, most) => {
        const tail = open(most);
        const all: string[] = [];
        for (const widths of blocks) {
          const some = widths.map((width, index) => `${all.length + index}:`.padEnd(width, "x"));
          tail.add({ stream: STDOUT, timeMs: 0, bytes: Buffer.from(`${some.join("\n")}\n`), lines: some.length }, ALL);
          all.push(...some);
        }
        expect(contents(tail)).to.deep.equal(all.slice(-most));
      }),
      { numRuns: 40 },
    );
  });
});

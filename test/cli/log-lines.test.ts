import { expect } from "chai";
import { LogLines } from "../../src/cli/log-lines.ts";

const notice = (dropped: number, why: string) => `${dropped} lines are missing (${why})\n`;

/** A file with room for so many bytes. */
class SmallFile {
  content = "";
  room: number;
  constructor(room: number) {
    this.room = room;
  }
  readonly write = (_: number, bytes: Uint8Array): number => {
    const taken = bytes.subarray(0, this.room);
    if (taken.length === 0) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    this.room -= taken.length;
    this.content += Buffer.from(taken).toString();
    return taken.length;
  };
}

describe("log lines", () => {
  it("drops and counts what a full disk does not take, and tells it once when there is room", () => {
    const file = new SmallFile(8);
    const lines = new LogLines({ target: 9, notice, write: file.write });
    for (const line of ["one\n", "two\n", "three\n", "four\n"]) lines.write(line);
    expect(file.content).to.equal("one\ntwo\n");
    file.room = 1_000;
    for (const line of ["five\n", "six\n"]) lines.write(line);
    expect(file.content).to.equal("one\ntwo\n2 lines are missing (ENOSPC)\nfive\nsix\n");
  });

  it("begins a new line after one that was written in part", () => {
    const file = new SmallFile(6);
    const lines = new LogLines({ target: 9, notice, write: file.write });
    for (const line of ["one\n", "two\n"]) lines.write(line);
    file.room = 1_000;
    lines.write("three\n");
    expect(file.content).to.equal("one\ntw\n1 lines are missing (ENOSPC)\nthree\n");
  });

  it("waits a moment for the reader of a full pipe, and not again once a line was dropped", () => {
    let tries = 0;
    const write = () => {
      tries++;
      throw Object.assign(new Error("busy"), { code: "EAGAIN" });
    };
    const lines = new LogLines({ target: 9, notice, write });
    lines.write("one\n");
    expect(tries).to.be.within(2, 60);
    tries = 0;
    lines.write("two\n");
    expect(tries).to.equal(1);
  });

  it("drops lines for a file that cannot be made, and never throws", () => {
    const lines = new LogLines({ target: "/dev/null/log", notice });
    lines.write("one\n");
    expect(lines.tell()).to.equal(false);
  });
});

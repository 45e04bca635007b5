import { expect } from "chai";
import fc from "fast-check";
import { AnnotationCapture } from "../../../src/agent/logs/annotation-capture.ts";
import { LogCommandReader } from "../../../src/agent/logs/log-command-reader.ts";
import { SecretFinder } from "../../../src/agent/logs/secret-finder.ts";

const NONE = { file: "", line: 0, endLine: 0, column: 0, endColumn: 0, title: "", logLine: 0 };

describe("a command in the output of a step", () => {
  const read = (line: string) => new LogCommandReader().read(line);

  it("annotates a place in a file", () => {
    expect(
      read("::error file=src/a.c,line=12,col=3,endLine=14,endColumn=9,title=Type error::x is no number"),
    ).to.deep.equal({
      level: "error",
      file: "src/a.c",
      line: 12,
      endLine: 14,
      column: 3,
      endColumn: 9,
      title: "Type error",
      message: "x is no number",
      logLine: 0,
    });
    expect(read("  ::warning::old")).to.deep.equal({ ...NONE, level: "warning", message: "old" });
    expect(read("::notice file=a,,unknown=1,line=x::")).to.deep.equal({
      ...NONE,
      level: "notice",
      file: "a",
      message: "",
    });
  });

  it("has its escapes removed once, in text and in properties", () => {
    expect(read("::error file=a%3Ab%2Cc%25,title=50%25 %3a::one%0Atwo%0d %25 %3A %2C %250A")).to.deep.include({
      file: "a:b,c%",
      title: "50% :",
      message: "one\ntwo\r % %3A %2C %0A",
    });
  });

  it("is no other line", () => {
    const others = [
      "",
      "error: x",
      ":: error::x",
      "::error",
      "::error file=a",
      "text ::error::x",
      "::group::build",
      "::endgroup::",
      "::debug::x",
      "::ERROR::x",
      "std::error::x",
    ];
    for (const line of others) expect(read(line), line).to.equal(undefined);
  });

  it("has no effect between stop-commands and the word that it names", () => {
    const reader = new LogCommandReader();
    const lines = ["::stop-commands::w0rd", "::error::a", "::other::", "::stop-commands::x", "::w0rd::", "::error::b"];
    expect(lines.map((line) => reader.read(line)?.message)).to.deep.equal([...Array(5).fill(undefined), "b"]);
  });

  it("has bounded texts, cut at whole characters", () => {
    const long = "😀".repeat(5_000);
    const found = read(`::error file=${long},title=${long}::${long}`)!;
    const lengths = [found.file.length, found.title.length, found.message.length];
    expect(lengths.every((length, at) => length <= [512, 256, 2_048][at]! && length > 200)).to.equal(true);
    for (const text of [found.file, found.title, found.message]) expect(Buffer.from(text).toString()).to.equal(text);
  });

  it("is read in time that grows with the line only", () => {
    const before = process.cpuUsage().user;
    for (const part of ["::", "::error ", ",=", " ", "%25", "::error file=a,"]) read(`::error ${part.repeat(8_000)}`);
    expect(process.cpuUsage(undefined).user - before).to.be.below(500_000);
  });

  it("never fails, whatever a line holds", () => {
    const parts = fc.constantFrom("::", "error", " ", "file=", "line=9", ",", "%0A", "%", "\r", "x", "stop-commands");
    fc.assert(fc.property(fc.array(parts), (line) => void read(line.join(""))));
  });
});

describe("the annotations of a step", () => {
  it("keep the number of their line, are masked again after their escapes are removed, and are bounded", () => {
    const capture = new AnnotationCapture(new SecretFinder(["top,secret:value"]));
    const levels: (string | undefined)[] = [];
    let line = 0n;
    const add = (level: string | undefined) => {
      levels.push(level);
      return ++line;
    };
    capture.take("plain", add);
    capture.take("::error file=top%2Csecret%3Avalue::see top,secret:value", add);
    capture.take("::notice::n", add);
    for (let at = 0; at < 60; at++) capture.take("::warning::w", add);
    expect(levels.slice(0, 4)).to.deep.equal([undefined, "error", "info", "warn"]);
    const { list, leftOut } = capture.annotations;
    expect(list[0]).to.deep.include({ file: "***", message: "see ***", logLine: 2 });
    expect([list.length, leftOut]).to.deep.equal([50, 12]);
  });
});

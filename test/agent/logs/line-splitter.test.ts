import { expect } from "chai";
import fc from "fast-check";
import { LINE_BYTES, LineSplitter } from "../../../src/agent/logs/line-splitter.ts";

function split(...chunks: (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.write(Buffer.from(chunk));
  splitter.end();
  return lines;
}

describe("lines of an output", () => {
  it("end at line feeds, with or without a carriage return, and at the end", () => {
    expect(split("a\nb\r\n\n\r\nc")).to.deep.equal(["a", "b", "", "", "c"]);
    expect(split("")).to.deep.equal([]);
    expect(split("a\n")).to.deep.equal(["a"]);
  });

  it("keep a carriage return without a line feed", () => {
    expect(split("10%\r20%\r", "30%\n", "x\r")).to.deep.equal(["10%\r20%\r30%", "x\r"]);
  });

  it("have U+FFFD for bytes that are not UTF-8", () => {
    expect(split(Buffer.from([0x61, 0xff, 0x0a, 0xc3]))).to.deep.equal(["a\ufffd", "\ufffd"]);
  });

  it("are cut at the limit, at whole characters, and say how many bytes are missing", () => {
    const exact = "x".repeat(LINE_BYTES);
    expect(split(exact, "\n", exact, "yz")).to.deep.equal([exact, `${exact} [cut: 2 bytes]`]);
    expect(split(`${"x".repeat(LINE_BYTES - 1)}€uro`)).to.deep.equal([`${"x".repeat(LINE_BYTES - 1)} [cut: 6 bytes]`]);
    expect(split(`${"x".repeat(LINE_BYTES - 3)}€uro`)).to.deep.equal([`${"x".repeat(LINE_BYTES - 3)}€ [cut: 3 bytes]`]);
  });

  it("are the same wherever the chunks end", () => {
    const text = fc.array(fc.constantFrom("a", "é", "€", "😀", "\r", "\n", "\r\n", "x".repeat(40)), { maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 20 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const at = [...cuts.filter((cut) => cut < bytes.length), 0, bytes.length].sort((a, b) => a - b);
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index]!, end));
        const whole = parts.join("").split("\n");
        if (whole.at(-1) === "") whole.pop();
        const last = bytes.at(-1) === 0x0a ? -1 : whole.length - 1;
        const expected = whole.map((line, index) => (index === last ? line : line.replace(/\r$/, "")));
        expect(split(...chunks)).to.deep.equal(expected);
      }),
    );
  });
});

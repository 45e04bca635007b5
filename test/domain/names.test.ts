import { expect } from "chai";
import { PLAIN_TEXT } from "../../src/domain/names.ts";

describe("a name", () => {
  it("holds no control character, separator of lines, mark that reorders text, or half of a pair", () => {
    const codes = [
      0, 1, 9, 10, 13, 27, 31, 127, 128, 0x85, 0x9b, 0x9f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xd800,
    ];
    for (const code of codes) {
      const character = String.fromCharCode(code);
      for (const text of [character, `a${character}b`, `${character}a`, `a${character}`]) {
        expect(PLAIN_TEXT.test(text), `U+${code.toString(16)}`).to.equal(false);
      }
    }
  });

  it("may be of any language", () => {
    for (const text of ["", "build", "Größe 2", "構築", "بناء", "לִבְנוֹת\u200f", "🚀 deploy", "a\u00a0b"]) {
      expect(PLAIN_TEXT.test(text), text).to.equal(true);
    }
  });
});

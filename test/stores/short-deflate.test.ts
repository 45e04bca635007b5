/** Short texts that are deflated against a dictionary, read by zlib. */
import { inflateRawSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { DICTIONARY } from "../../src/stores/format/packing-dictionary.ts";
import { ShortDeflate } from "../../src/stores/format/short-deflate.ts";

const MAX_CHARS = 2_048;

describe("short texts, deflated against a dictionary", () => {
  const short = new ShortDeflate(DICTIONARY, MAX_CHARS);
  const inflated = (bytes: Uint8Array): string => inflateRawSync(bytes, { dictionary: DICTIONARY }).toString();
  const expectSame = (text: string): void => {
    expect(inflated(short.deflate(text))).to.equal(Buffer.from(text).toString());
  };

  it("come back whole, whatever they are made of", () => {
    const piece = fc
      .tuple(fc.nat(DICTIONARY.length - 1), fc.nat(400))
      .map(([from, length]) => DICTIONARY.subarray(from, from + length).toString());
    const repeated = fc.tuple(fc.string({ unit: "binary" }), fc.nat(40)).map(([text, times]) => text.repeat(times));
    const part = fc.oneof(piece, repeated, fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
    const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join("").slice(0, MAX_CHARS));
    fc.assert(fc.property(text, expectSame), { numRuns: 2_000 });
  });

  it("come back whole when they are empty, as long as allowed, all equal, or of the largest characters", () => {
    for (const text of ["", "a", "a".repeat(MAX_CHARS), "\uffff".repeat(MAX_CHARS), "🎉".repeat(MAX_CHARS / 2)]) {
      expectSame(text);
    }
    let noise = "";
    for (let at = 0; at < MAX_CHARS; at++) noise += String.fromCharCode(128 + ((at * at * 7919) % 1_900));
    expectSame(noise);
    expectSame(DICTIONARY.subarray(0, MAX_CHARS).toString());
  });

  it("keep nothing of the text before", () => {
    const first = short.deflate("the same words, then others");
    short.deflate('{"an":"other text","with":["the same words, then others"]}');
    expect(short.deflate("the same words, then others")).to.deep.equal(first);
  });

  it("take a few bytes for what the dictionary has", () => {
    // A match of 258 bytes takes 26 bits at most.
    const text = DICTIONARY.subarray(1_000, 2_032).toString();
    expect(short.deflate(text).length).to.be.below(20);
  });

  it("must not be longer than the window is made for", () => {
    expect(() => short.deflate("a".repeat(MAX_CHARS + 1))).to.throw(RangeError, /2049 characters/);
  });
});

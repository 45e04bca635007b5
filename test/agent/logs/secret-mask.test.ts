import { expect } from "chai";
import fc from "fast-check";
import { SecretFinder } from "../../../src/agent/logs/secret-finder.ts";
import { SecretMask } from "../../../src/agent/logs/secret-mask.ts";

function mask(secrets: readonly string[], ...chunks: string[]): string {
  const out: Buffer[] = [];
  const secretMask = new SecretMask(new SecretFinder(secrets), (bytes) => out.push(bytes));
  for (const chunk of chunks) secretMask.write(Buffer.from(chunk));
  secretMask.end();
  return Buffer.concat(out).toString();
}

describe("the mask over secrets", () => {
  it("covers each secret", () => {
    expect(mask(["hunter22"], "a hunter22 b hunter22")).to.equal("a *** b ***");
  });

  it("covers a secret that arrives in pieces", () => {
    expect(mask(["hunter22"], "a hun", "t", "er22 b")).to.equal("a *** b");
  });

  it("passes text that only begins like a secret", () => {
    expect(mask(["hunter22"], "hunt", "ing hunter2")).to.equal("hunting hunter2");
  });

  it("covers the longest of secrets that begin alike, even in pieces", () => {
    expect(mask(["pass", "password1"], "password1 pass passw", "ord1 passwor", "k")).to.equal("*** *** *** ***work");
  });

  it("shows no part of secrets that overlap", () => {
    expect(mask(["abcdef", "defghi"], "-abcd", "efg", "hi-")).to.equal("-***-");
    expect(mask(["0000"], "00000", "00000", "0001")).to.equal("***1");
  });

  it("leaves out values that are too short to be secrets", () => {
    expect(mask(["abc", ""], "abc")).to.equal("abc");
  });

  it("covers secrets of several lines and characters of several bytes", () => {
    expect(mask(["line1\nliné2"], "x line1\nlin", "é2 y")).to.equal("x *** y");
  });

  it("has the same output wherever the chunks end, without any secret", () => {
    const secrets = ["aaba", "abab", "bbbbb"];
    fc.assert(
      fc.property(fc.stringMatching(/^[abc]{0,60}$/), fc.array(fc.nat(60), { maxLength: 12 }), (text, cuts) => {
        const at = [...cuts.filter((cut) => cut < text.length), 0, text.length].sort((a, b) => a - b);
        const masked = mask(secrets, ...at.slice(1).map((end, index) => text.slice(at[index], end)));
        expect(masked).to.equal(mask(secrets, text));
        expect(secrets.filter((secret) => masked.includes(secret))).to.deep.equal([]);
      }),
    );
  });
});

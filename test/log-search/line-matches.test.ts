import { expect } from "chai";
import fc from "fast-check";
import { matchLines, SEARCHED_CHARS, textFinder } from "../../src/log-search/line-matches.ts";
import { BadPattern, patternFinder } from "../../src/log-search/patterns.ts";
import { SearchThread } from "../../src/log-search/search-thread.ts";

const never = () => false;

describe("texts in lines", () => {
  it("are found wherever a plain search finds them", () => {
    const chars = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "\\", "[", "(", "$", "^", "-", "ä", "😀") });
    fc.assert(
      fc.property(
        chars,
        chars.filter((text) => text !== ""),
        (line, text) => {
          const expected: [number, number][] = [];
          for (let at = line.indexOf(text); at >= 0; at = line.indexOf(text, at + text.length)) {
            expected.push([at, at + text.length]);
          }
          expect(textFinder(text, false)(line) ?? []).to.deep.equal(expected.slice(0, 20));
          expect(textFinder(text, true)(line.toUpperCase()) !== undefined).to.equal(
            line.toUpperCase().includes(text.toUpperCase()),
          );
        },
      ),
    );
  });

  it("are looked for up to a bound of a line, and in one line at least", () => {
    const long = `${"x".repeat(SEARCHED_CHARS)}needle`;
    expect(matchLines([long, "needle"], textFinder("needle", false), never)).to.deep.equal({
      done: 2,
      found: [[1, [[0, 6]]]],
    });
    expect(matchLines(["needle", "needle"], textFinder("needle", false), () => true).done).to.equal(1);
  });
});

describe("patterns in lines", () => {
  it("match what the engine of the language matches, for the operators that both have", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "c",
      ".",
      "[ab]",
      "[^a]",
      String.raw`\d`,
      String.raw`\b`,
      "(?:ab|c)",
      "^",
      "$",
    );
    const pattern = fc
      .array(fc.tuple(atom, fc.constantFrom("", "*", "+", "?", "{2,3}", "*?")), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([one, times]) => (/^[\\^$]b?$/.test(one) ? one : one + times)).join(""));
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", " "), maxLength: 12 });
    fc.assert(
      fc.property(pattern, line, (text, content) => {
        const [first] = patternFinder(text, false)(content) ?? [undefined];
        const match = new RegExp(text, "u").exec(content);
        if (match === null || match[0] === "") expect(first).to.equal(undefined);
        else expect(first).to.deep.equal([match.index, match.index + match[0].length]);
      }),
    );
  });

  it("are refused when they are too large or not linear", () => {
    for (const text of ["a{501}", "((a{1,20}){1,20}){1,20}", String.raw`(a)\1`, "(?=a)", "(?<=a)b", "(", "*"]) {
      expect(() => patternFinder(text, false), text).to.throw(BadPattern);
    }
  });
});

describe("the thread for patterns", () => {
  it("is ended when a line takes too long, and starts again for the next call", async () => {
    const thread = new SearchThread(1);
    const mixed = Array.from({ length: 16_384 }, (_, at) => "ab"[((at * 7_919 * at) % 2) ^ ((at >> 3) % 2)]).join("");
    const request = { pattern: "(a|b)*a(a|b){30}$", ignoreCase: false, lines: Array(50).fill(mixed), withinMs: 0 };
    const error = await thread.match({ ...request, lines: [mixed] }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "deadline_exceeded" });
    const patient = new SearchThread();
    const { done, found } = await patient.match({ ...request, pattern: "b", lines: ["a", "b"], withinMs: 1_000 });
    expect([done, found]).to.deep.equal([2, [[1, [[0, 1]]]]]);
    // A page ends with its time, not with its lines.
    expect((await patient.match(request)).done).to.be.below(50);
  });
});

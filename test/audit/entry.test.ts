import { expect } from "chai";
import fc from "fast-check";
import { differenceOf, lineOf, type ObjectKind, RECORDED_FIELDS } from "../../src/audit/entry.ts";
import { RefusalBounds } from "../../src/audit/refusal-bounds.ts";
import { PLAIN_TEXT } from "../../src/domain/names.ts";

const KINDS = Object.keys(RECORDED_FIELDS) as ObjectKind[];
/** The longest entry has at most this many fields of as many texts. */
const MOST_CHARS = 2 * 5 * 20 * 210;

describe("an entry of the audit log", () => {
  const field = fc.constantFrom(...Object.values(RECORDED_FIELDS).flat(), "password", "value", "token", "__proto__");
  const record = fc.option(fc.dictionary(field, fc.anything({ maxDepth: 2 })), { nil: null });

  it("holds only the fields of its kind, each of one line, whatever is recorded", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), record, record, (kind, before, after) => {
        const shown = differenceOf(kind, before, after);
        for (const side of [shown.before, shown.after]) {
          expect(RECORDED_FIELDS[kind] as readonly string[]).to.include.members(Object.keys(side ?? {}));
          for (const text of Object.values(side ?? {}).flat()) expect(String(text)).to.match(PLAIN_TEXT);
        }
        expect(JSON.stringify(shown).length).to.be.below(MOST_CHARS);
      }),
    );
  });

  it("names what a change replaced, all of what was made, and all of what was removed", () => {
    const [before, after] = [
      { name: "a", role: "viewer", disabled: false, passwordHash: "x" },
      { name: "a", role: "admin", disabled: false, passwordHash: "y" },
    ];
    expect(differenceOf("user", before, after)).to.deep.equal({ before: { role: "viewer" }, after: { role: "admin" } });
    const { passwordHash: _hidden, ...shown } = after;
    expect(differenceOf("user", null, after)).to.deep.equal({ before: null, after: shown });
    expect(differenceOf("user", after, null)).to.deep.equal({ before: shown, after: null });
    expect(differenceOf("user", null, null)).to.deep.equal({ before: null, after: null });
  });

  it("shows texts as one bounded line", () => {
    expect(lineOf("a\r\nb\u001b[31mc\u202ed\u2028e")).to.equal("a\ufffd\ufffdb\ufffd[31mc\ufffdd\ufffde");
    expect(Array.from(lineOf("😀".repeat(500), 10))).to.deep.equal([...Array<string>(9).fill("😀"), "…"]);
  });
});

describe("the bound on refusals", () => {
  it("records some of each caller in a minute, and tells with the next one how many it left out", () => {
    let now = 0;
    const bounds = new RefusalBounds({ monotonic: () => now });
    const admitted = Array.from({ length: 25 }, () => bounds.admit("ann")).filter((one) => one !== undefined);
    expect(admitted).to.have.length(20);
    expect(bounds.admit("ben"), "another caller").to.deep.equal({ leftOut: 0 });
    now += 60_000;
    expect(bounds.admit("ann")).to.deep.equal({ leftOut: 5 });
    expect(bounds.admit("ann")).to.deep.equal({ leftOut: 0 });
  });

  it("records a bounded number of all callers together, however many call", () => {
    let now = 0;
    const bounds = new RefusalBounds({ monotonic: () => now });
    const admitted = Array.from({ length: 10_000 }, (_, n) => bounds.admit(`caller ${n}`)).filter(Boolean);
    expect(admitted).to.have.length(600);
    now += 60_000;
    expect(bounds.admit("caller 9999")).to.deep.equal({ leftOut: 1 });
  });
});

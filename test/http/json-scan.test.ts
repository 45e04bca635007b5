import { expect } from "chai";
import fc from "fast-check";
import { measureJson } from "../../src/http/request/json-scan.ts";
import { repeatedKey } from "../../src/http/request/json-position.ts";

const BOUNDS = { depth: 1_000, values: 1_000_000 };

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, item) => sum + membersOf(item), members);
}

describe("the measure of a JSON text", () => {
  it("counts the members of all objects, however the text is written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(measureJson(Buffer.from(text), BOUNDS)).to.deep.equal({
          exceeded: undefined,
          members: membersOf(value),
        });
      }),
    );
  });

  it("counts a member whose key stands a second time, whose place is found at any depth", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.nat(3)), { maxLength: 5 }), fc.string(), (path, key) => {
        const twice = `{${JSON.stringify(key)}:1,${JSON.stringify(key)}:2}`;
        const text = path.reduceRight<string>(
          (inner, part) =>
            typeof part === "number" ? `[${"0,".repeat(part)}${inner}]` : `{${JSON.stringify(part)}:${inner}}`,
          twice,
        );
        const { members } = measureJson(Buffer.from(text), BOUNDS);
        expect(members - membersOf(JSON.parse(text))).to.equal(1);
        const found = repeatedKey(text);
        expect(found.path).to.deep.equal([...path, key]);
        expect(text.slice(found.offset).startsWith(`${JSON.stringify(key)}:2`)).to.equal(true);
      }),
    );
  });
});

import { expect } from "chai";
import { compareVersions, isVersion, newest, newestMatching } from "../../src/domain/plugin-versions.ts";

const RISING = [
  "0.9.10",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "1.0.1",
  "1.2.0",
  "1.10.0",
  "2.0.0-rc.1",
];

describe("versions of plugins", () => {
  it("have the order of semantic versioning", () => {
    for (const [at, version] of RISING.entries()) {
      for (const [other, against] of RISING.entries()) {
        expect(Math.sign(compareVersions(version, against)), `${version} ${against}`).to.equal(Math.sign(at - other));
      }
    }
    expect(newest(RISING.toReversed())).to.equal("2.0.0-rc.1");
    expect(newest([])).to.equal(undefined);
  });

  it("have three numbers, and a pre-release after them or none", () => {
    for (const version of RISING) expect(isVersion(version), version).to.equal(true);
    for (const text of [
      "1",
      "1.2",
      "v1.2.3",
      "01.2.3",
      "1.2.3-",
      "1.2.3-01",
      "1.2.3+5",
      "1.2.3.4",
      `1.2.${"3".repeat(70)}`,
    ]) {
      expect(isVersion(text), text).to.equal(false);
    }
  });

  for (const [reference, found] of [
    ["1", "1.10.0"],
    ["v1", "1.10.0"],
    ["1.0", "1.0.1"],
    ["1.1", undefined],
    ["1.0.0", "1.0.0"],
    ["v1.0.0", "1.0.0"],
    ["1.0.0-rc.1", "1.0.0-rc.1"],
    ["2", undefined],
    ["2.0.0-rc.1", "2.0.0-rc.1"],
    ["1.0.2", undefined],
    ["latest", undefined],
    ["", undefined],
  ] as const) {
    it(`match the reference ${JSON.stringify(reference)}: ${found ?? "none"}`, () => {
      expect(newestMatching(reference, RISING)).to.equal(found);
    });
  }
});

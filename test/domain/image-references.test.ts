import { expect } from "chai";
import { fullReference } from "../../src/domain/containers/image-references.ts";

describe("the full reference to an image", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const SAME: Readonly<Record<string, readonly string[]>> = {
    "docker.io/library/node:latest": [
      "node",
      "node:latest",
      "library/node",
      "docker.io/node",
      "docker.io/library/node",
    ],
    "docker.io/library/node:22": ["node:22", "docker.io/library/node:22"],
    "docker.io/team/tools:latest": ["team/tools", "docker.io/team/tools:latest"],
    [`docker.io/library/node@${digest}`]: [`node@${digest}`],
    "127.0.0.1:5000/team/tools:latest": ["127.0.0.1:5000/team/tools"],
    "localhost/tools:1": ["localhost/tools:1"],
    "registry.example/tools:1": ["registry.example/tools:1"],
  };

  it("is the same for every way to write it", () => {
    for (const [full, references] of Object.entries(SAME)) {
      for (const reference of references) expect(fullReference(reference), reference).to.equal(full);
      expect(fullReference(full)).to.equal(full);
    }
  });
});

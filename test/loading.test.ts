/** Tests of how mocha and the program load modules. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { TSX } from "./support/test-programs.ts";

/** Prints the packages that a node of the control plane has loaded before it opens its store. */
const LOADED = `
  import { createRequire } from "node:module";
  await import(${JSON.stringify(new URL("../src/node/node.ts", import.meta.url).href)});
  const files = Object.keys(createRequire(import.meta.url).cache).join("\\n");
  console.log(["bullmq", "mongodb"].filter((name) => files.includes("/node_modules/" + name + "/")).join());
`;

describe("mocha", () => {
  it("loads every module of the project exactly once, as an ES module", () => {
    const required = Object.keys(createRequire(import.meta.url).cache);
    expect(required.filter((file) => !file.includes(`${sep}node_modules${sep}`))).to.deep.equal([]);
  });
});

describe("a node of the control plane", () => {
  it("loads no driver of a store before it knows which store it uses", async () => {
    const options = ["--import", TSX, "--input-type=module", "-e", LOADED];
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd });
    expect(stdout.trim()).to.equal("bullmq");
  });
});

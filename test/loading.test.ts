/** Tests of how mocha and the program load modules. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { TSX } from "./support/test-programs.ts";

/** Which of `packages` are loaded after these modules of the program's folder `node`. */
async function loadedBy(modules: readonly string[], packages: readonly string[]): Promise<readonly string[]> {
  const urls = modules.map((name) => new URL(`../src/node/${name}`, import.meta.url).href);
  const program = `
    import { createRequire } from "node:module";
    for (const url of ${JSON.stringify(urls)}) await import(url);
    const files = Object.keys(createRequire(import.meta.url).cache).join("\\n");
    const isLoaded = (name) => files.includes("/node_modules/" + name + "/");
    console.log(JSON.stringify(${JSON.stringify(packages)}.filter(isLoaded)));
  `;
  const options = ["--import", TSX, "--input-type=module", "-e", program];
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd });
  return JSON.parse(stdout) as readonly string[];
}

describe("mocha", () => {
  it("loads every module of the project exactly once, as an ES module", () => {
    const required = Object.keys(createRequire(import.meta.url).cache);
    expect(required.filter((file) => !file.includes(`${sep}node_modules${sep}`))).to.deep.equal([]);
  });
});

describe("a node of the control plane", () => {
  it("loads no driver of a store before it knows which store it uses", async () => {
    expect(await loadedBy(["node.ts"], ["bullmq", "mongodb"])).to.deep.equal(["bullmq"]);
  });

  it("loads no reader of definitions, packages, archives and forms before it needs one", async () => {
    const roles = ["node.ts", "edge-role.ts", "gateway-role.ts", "worker-role.ts"];
    const packages = ["bullmq", "koa", "yaml", "ajv", "tar-stream", "yazl", "@fastify/busboy"];
    expect(await loadedBy(roles, packages)).to.deep.equal(["bullmq", "koa"]);
  });
});

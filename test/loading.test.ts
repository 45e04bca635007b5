/** Tests of how mocha and the program load modules. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { build } from "esbuild";
import { TSX } from "./support/test-programs.ts";

const SOURCES = fileURLToPath(new URL("../src", import.meta.url));

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

describe("the bundled program", () => {
  /** What a file of the sources takes of a package that it loads late: the package, and the names. */
  const late = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [
      ...readFileSync(join(SOURCES, path), "utf8").matchAll(
        /const (\w+|\{.*?\}) = await import\("(?!node:)(\w[^"]*|@[^"]*)"\)/g,
      ),
    ])
    .map(([, taken, name]) => ({
      name: name!,
      names: taken!.startsWith("{") ? [...taken!.matchAll(/(\w+)(?:: \w+)?/g)].map(([, each]) => each!) : undefined,
    }));

  // Of a CommonJS package, the bundler exports nothing but a default, unlike Node.
  it("gets from each package that it loads late what it takes of it", async () => {
    expect(late).to.have.length.of.at.least(4);
    for (const { name, names } of late) {
      const { metafile } = await build({
        stdin: { contents: `export const load = () => import(${JSON.stringify(name)})`, resolveDir: SOURCES },
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "node",
        outdir: "out",
        write: false,
        metafile: true,
        logLevel: "silent",
      });
      const loaded = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint?.includes("node_modules"));
      expect(loaded?.exports, name).to.include.members(names ?? ["a name: the whole of a package is not taken"]);
    }
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

import { expect } from "chai";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COMPILER = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const KINDS = ["run", "job", "step"] as const;

/** Mistakes in a table, each as an edit of its source. */
const MISTAKES = {
  entry: (source: string) => source.replace(/(cancel|stop): +\{ pending: "\w+", +/, "$1: { "),
  row: (source: string) => source.replace(/^ {2}(cancel|stop): +\{.*\n/m, ""),
  state: (source: string) => source.replace(/"cancelling"|"stopping"/g, '"canceling"'),
};

describe("a transition table", function () {
  this.timeout(60_000);
  let folder: string;
  let messages: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-types-"));
    const files: string[] = [];
    for (const kind of KINDS) {
      const source = await readTable(kind);
      const variants = Object.entries(MISTAKES).map(([name, edit]) => [name, edit(source)] as const);
      for (const [name, text] of [["whole", source] as const, ...variants]) {
        if (name !== "whole") expect(text, `${kind} without its ${name}`).not.to.equal(source);
        files.push(`${kind}-${name}.mts`);
        await writeFile(join(folder, files.at(-1)!), text);
      }
    }
    // The imports are absolute here, and the compiler never rewrites absolute imports.
    const compilerOptions = { types: [], rewriteRelativeImportExtensions: false, allowImportingTsExtensions: true };
    const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: [], files };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    messages = await compile(folder);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const kind of KINDS) {
    const of = (name: string) => messages.split("\n").filter((line) => line.startsWith(`${kind}-${name}.mts`));

    it(`of the ${kind} compiles as it is`, () => {
      expect(of("whole")).to.deep.equal([]);
    });

    it(`of the ${kind} does not compile without one of its entries`, () => {
      expect(of("entry").join()).to.contain("Property 'pending' is missing");
    });

    it(`of the ${kind} does not compile without one of its rows`, () => {
      expect(of("row").join()).to.match(/Property '(cancel|stop)' is missing/);
    });

    it(`of the ${kind} does not compile with a state that does not exist`, () => {
      expect(of("state").join()).to.contain(`Type '"canceling"' is not assignable`);
    });
  }
});

/** The real table, with absolute imports, so that it compiles in any folder. */
async function readTable(kind: string): Promise<string> {
  const file = join(ROOT, "actors", kind, "transitions.ts");
  const source = await readFile(file, "utf8");
  return source.replaceAll(/from "(\.[^"]+)"/g, (_, path: string) => `from "${join(dirname(file), path)}"`);
}

function compile(project: string): Promise<string> {
  const child = spawn(process.execPath, [COMPILER, "--noEmit", "--pretty", "false", "-p", project], { cwd: project });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}

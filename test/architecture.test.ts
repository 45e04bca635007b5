import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deriveLintConfig } from "./support/derived-files.ts";
import { FolderTable } from "./support/folder-table.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Static and dynamic imports, exports from elsewhere, and imports of types. */
const IMPORT =
  /(?:^|[\s;}])(?:import|export)\s*(?:type\s+)?(?:[\w$*{][^"'`;]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["'`]([^"'`]+)["'`]/gm;

function importsOf(source: string): readonly string[] {
  return [...source.matchAll(IMPORT)].map(([, written, computed]) => (written ?? computed)!);
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `${folder}/${path}`);
}

describe("the architecture", () => {
  const page = read("docs/architecture.md");
  const table = new FolderTable(page);
  const sources = ["src", "actors", "queues"].flatMap(sourcesIn);

  it("is that of docs/architecture.md: every folder imports what its row allows, and nothing else", () => {
    const refused = sources.flatMap((file) =>
      importsOf(read(file))
        .filter((specifier) => !table.allows(file, specifier))
        .map((specifier) => `${file} may not import ${specifier}`),
    );
    expect(refused).to.deep.equal([]);
  });

  it("has a row for every folder, and every row a folder", () => {
    const places = new Set(sources.map((file) => table.placeOf(file)));
    expect([...places]).to.have.members(table.places.filter((place) => !place.startsWith("proto/")));
  });

  it("is read from every way to write an import", () => {
    const source = `
      import "a";
      import type { B } from "b";
      import c, { type C } from 'c';
      import * as d from "d";
      import {
        e,
      } from "./e.ts";
      export * from "../f.ts";
      export { g } from "g";
      const h = await import("h");
      type I = import("i").I;
      const text = \`import\`; throw new Error("from");
    `;
    expect(importsOf(source)).to.deep.equal(["a", "b", "c", "d", "./e.ts", "../f.ts", "g", "h", "i"]);
  });

  it("refuses what it should: adapters to use cases, the kernel to deciders, unknown packages and folders", () => {
    expect(table.allows("src/app/runs.ts", "../stores/stores.ts")).to.equal(true);
    expect(table.allows("src/app/runs.ts", "../stores/mongo/open.ts")).to.equal(false);
    expect(table.allows("actors/job/decide.ts", "../kernel/kernel.ts")).to.equal(false);
    expect(table.allows("actors/job/decide.ts", "./actor.ts")).to.equal(false);
    expect(table.allows("actors/job/decide.ts", "node:fs")).to.equal(false);
    expect(table.allows("src/http/server.ts", "express")).to.equal(false);
    expect(table.allows("src/elsewhere/new.ts", "node:fs")).to.equal(false);
  });

  it("is what the linter checks too (else run `npm run generate`)", () => {
    const config = read(".oxlintrc.json");
    expect(JSON.parse(config)).to.deep.equal(JSON.parse(deriveLintConfig(config, page)));
  });
});

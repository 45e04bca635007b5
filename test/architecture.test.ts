/**
 * Tests of the import policy: the code, the linter's rules and docs/architecture.md follow scripts/import-policy.json.
 */
import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import picomatch from "picomatch";
import { deriveImportList, deriveLintConfig } from "./support/derived-files.ts";
import { ImportPolicy } from "./support/import-policy.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Matches static and dynamic imports, exports from other modules, imports of types, and modules that a thread gets. */
const IMPORT =
  /(?:^|[\s;}])(?:import|export)\s*(?:type\s+)?(?:[\w$*{][^"'`;]*?\sfrom\s*)?["']([^"']+)["']|\b(?:import|require\.resolve)\(\s*["'`]([^"'`]+)["'`]/gm;

function importsOf(source: string): readonly string[] {
  return [...source.matchAll(IMPORT)].map(([, written, computed]) => (written ?? computed)!);
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => `${folder}/${path}`);
}

describe("the architecture", () => {
  const policy = ImportPolicy.read();
  const sources = ["src", "actors", "queues", "clients/typescript/src", "web/src"].flatMap(sourcesIn);

  it("follows scripts/import-policy.json: every folder imports only what its row allows", () => {
    const refused = sources.flatMap((file) =>
      importsOf(read(file))
        .filter((specifier) => !policy.allows(file, specifier))
        .map((specifier) => `${file} may not import ${specifier}`),
    );
    expect(refused).to.deep.equal([]);
  });

  it("allows no folder what none of its files imports", () => {
    const needed = new Map(policy.places.map((place) => [place, new Set<string>()]));
    for (const file of sources) {
      const ofPlace = needed.get(policy.placeOf(file)!)!;
      for (const specifier of importsOf(read(file)))
        for (const permission of policy.permissionsFor(file, specifier)) ofPlace.add(permission);
    }
    const spare = policy.rows
      .filter(({ places }) => !places[0]!.startsWith("proto/"))
      .flatMap(({ places, mayImport }) =>
        mayImport
          .filter((permission) => !places.some((place) => needed.get(place)!.has(permission)))
          .map((permission) => `${places.join(", ")} does not import ${permission}`),
      );
    expect(spare).to.deep.equal([]);
  });

  it("has one row of the policy for every folder, and no row without a folder", () => {
    const places = new Set(sources.map((file) => policy.placeOf(file)));
    expect([...places]).to.have.members(policy.places.filter((place) => !place.startsWith("proto/")));
  });

  it("has no folder with more than 35 files of its own", () => {
    const counts = new Map<string, number>();
    for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 35)).to.deep.equal([]);
  });

  it("lists every file whose comment says `Pure.` among the linter's pure files", () => {
    const declaredPure = sources.filter((file) => /^\/\*\*((?!\*\/).)*\bPure\./s.test(read(file)));
    expect(declaredPure).to.have.length.above(20);
    expect(declaredPure.filter((file) => !picomatch(policy.pure)(file))).to.deep.equal([]);
  });

  it("is checked for every way to write an import", () => {
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
      const j = require.resolve("j");
      const text = \`import\`; throw new Error("from");
    `;
    expect(importsOf(source)).to.deep.equal(["a", "b", "c", "d", "./e.ts", "../f.ts", "g", "h", "i", "j"]);
  });

  it("refuses adapters to use cases, the kernel to deciders, and unknown packages and folders", () => {
    expect(policy.allows("src/app/runs/runs.ts", "../../stores/ports/stores.ts")).to.equal(true);
    expect(policy.allows("src/app/runs/runs.ts", "../../stores/mongo/open.ts")).to.equal(false);
    expect(policy.allows("src/app/runs/runs.ts", "../triggering/trigger.ts")).to.equal(false);
    expect(policy.allows("src/http/server/server.ts", "../../gateway/agent-session.ts")).to.equal(false);
    expect(policy.allows("actors/job/decide.ts", "../kernel/kernel.ts")).to.equal(false);
    expect(policy.allows("actors/job/decide.ts", "./actor.ts")).to.equal(false);
    expect(policy.allows("actors/job/decide.ts", "node:fs")).to.equal(false);
    expect(policy.allows("src/http/server/server.ts", "express")).to.equal(false);
    expect(policy.allows("src/elsewhere/new.ts", "node:fs")).to.equal(false);
  });

  it("is the same in the linter's rules (else run `npm run generate`)", () => {
    const config = read(".oxlintrc.json");
    expect(JSON.parse(config)).to.deep.equal(JSON.parse(deriveLintConfig(config, policy)));
  });

  it("is the same in docs/architecture.md (else run `npm run generate`)", () => {
    const page = read("docs/architecture.md");
    expect(page).to.include("<!-- imports -->");
    expect(deriveImportList(page, policy)).to.equal(page);
  });
});

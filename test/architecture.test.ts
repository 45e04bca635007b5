/**
 * Tests of the import policy: the code, the linter's rules and docs/architecture.md follow scripts/import-policy.json.
 */
import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
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

/** Circles of folders that import one another. None may come, and those that can be cut may go. */
const KNOWN_CIRCLES = [
  "actors/approval actors/job actors/run actors/step",
  "src/app src/app/identity",
  "src/app/catalogue src/app/commit-statuses src/app/git",
  "src/definition src/definition/checks src/definition/include",
  "src/domain src/domain/containers src/domain/event-table src/domain/work",
  "src/stores/format src/stores/hooks src/stores/mongo src/stores/mongo/runs src/stores/ports src/stores/sqlite src/stores/sqlite/runs",
];

/** The folders that can be reached from `folder`; with itself when it lies in a circle. */
function reachedFrom(folder: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of imports.get(next) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return reached;
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => `${folder}/${path}`);
}

describe("the architecture", () => {
  const policy = ImportPolicy.read();
  const sources = ["src", "actors", "queues", "clients/typescript/src", "web/src"].flatMap(sourcesIn);
  const imports = new Map(sources.map((file) => [file, importsOf(read(file))]));

  it("follows scripts/import-policy.json: every folder imports only what its row allows", () => {
    const refused = sources.flatMap((file) =>
      imports
        .get(file)!
        .filter((specifier) => !policy.allows(file, specifier))
        .map((specifier) => `${file} may not import ${specifier}`),
    );
    expect(refused).to.deep.equal([]);
  });

  it("allows no folder what none of its files imports", () => {
    const needed = new Map(policy.places.map((place) => [place, new Set<string>()]));
    for (const [file, specifiers] of imports) {
      const ofPlace = needed.get(policy.placeOf(file)!)!;
      for (const specifier of specifiers)
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

  it("has no circle of folders but the known ones", () => {
    const byFolder = new Map<string, Set<string>>();
    // The entry imports the commands, and the other files beside it are imported by all.
    const folderOf = (file: string): string => (dirname(file) === "src" ? file : dirname(file));
    for (const [file, specifiers] of imports) {
      if (!/^(?:src|actors|queues)\//.test(file)) continue;
      const from = folderOf(file);
      for (const specifier of specifiers.filter((one) => one.startsWith("."))) {
        const target = folderOf(posix.join(dirname(file), specifier));
        if (target !== from) byFolder.set(from, (byFolder.get(from) ?? new Set<string>()).add(target));
      }
    }
    const reached = new Map([...byFolder.keys()].map((folder) => [folder, reachedFrom(folder, byFolder)]));
    const circles = [...reached.keys()]
      .filter((folder) => reached.get(folder)!.has(folder))
      .map((folder) => [...reached.get(folder)!].filter((other) => reached.get(other)?.has(folder)).toSorted());
    expect([...new Set(circles.map((circle) => circle.join(" ")))].toSorted()).to.deep.equal(KNOWN_CIRCLES);
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

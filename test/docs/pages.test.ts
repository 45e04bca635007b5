/** The pages that users read: their links and paths exist, and each page can be reached. */
import { readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { deriveRolesPage } from "../support/roles-page.ts";
import { deriveShardingTables } from "../support/sharding-page.ts";
import { STATE_TABLES, deriveStatesPage } from "../support/states-page.ts";
import { anchorsOf, blocksOf, exists, PAGES, proseOf, readPage, ROOT, under } from "../support/pages.ts";
import { readTable } from "../support/markdown-table.ts";

const MAX_README_BYTES = 8_000;

interface Link {
  readonly text: string;
  /** Relative to the root. A folder stands for its README.md, if it has one. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** The links of a page to files of the project. */
function linksOf(page: string): readonly Link[] {
  const links = proseOf(readPage(page)).matchAll(/\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
  return [...links].map(([text, target, anchor]) => {
    const path = target === "" ? page : posix.normalize(posix.join(posix.dirname(page), target!)).replace(/\/$/, "");
    return { text, path: exists(`${path}/README.md`) ? `${path}/README.md` : path, anchor };
  });
}

describe("the pages of the project", () => {
  it("link to files that exist, and to headings that exist", () => {
    const broken = PAGES.flatMap((page) =>
      linksOf(page)
        .filter(({ path, anchor }) => {
          if (!exists(path)) return true;
          return anchor !== undefined && (!path.endsWith(".md") || !anchorsOf(readPage(path)).has(anchor));
        })
        .map(({ text }) => `${page}: ${text}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it("can all be reached from the README", () => {
    const reached = new Set(["README.md"]);
    for (const page of reached) for (const { path } of linksOf(page)) if (PAGES.includes(path)) reached.add(path);
    expect([...reached]).to.have.members([...PAGES]);
  });

  it("have anchors as GitHub makes them", () => {
    const anchors = anchorsOf(
      "# One `two` & three\n\n## [Four](x.md), five_six\n\n## Seven\n\n### Seven\n\n```\n# no\n```\n",
    );
    expect([...anchors]).to.deep.equal(["one-two--three", "four-five_six", "seven", "seven-1"]);
  });

  it("name files of the project by paths that exist", () => {
    const top = "src|actors|queues|proto|test|docs|scripts|bench|examples";
    const wrong = PAGES.flatMap((page) =>
      [...proseOf(readPage(page)).matchAll(new RegExp(`\`((?:${top})/[\\w./*-]*)\``, "g"))]
        .map(([, path]) => path!)
        .filter((path) => !isThere(path.replace(/\/\*\/.*/, "/")))
        .map((path) => `${page}: ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });
});

/** A `*` in the last part of the path stands for any characters. */
function isThere(path: string): boolean {
  if (!path.includes("*")) return exists(path) && (!path.endsWith("/") || statSync(join(ROOT, path)).isDirectory());
  const [folder, name] = [posix.dirname(path), posix.basename(path)];
  const pattern = new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return exists(folder) && readdirSync(join(ROOT, folder)).some((each) => pattern.test(each));
}

describe("the README", () => {
  const readme = readPage("README.md");

  it(`has at most ${MAX_README_BYTES} bytes`, () => {
    expect(Buffer.byteLength(readme)).to.be.at.most(MAX_README_BYTES);
  });

  it("shows a pipeline that is valid, without a warning", () => {
    const [example, ...others] = blocksOf(readme).filter(({ info }) => info === "yaml");
    expect(others).to.deep.equal([]);
    expect(parseDefinition(example!.text, "yaml").diagnostics).to.deep.equal([]);
  });

  it("lists every page of docs, with a line each", () => {
    const listed = readTable(under(readme, "Documentation")).map(([page]) => /\]\(([^)]+)\)/.exec(page!)![1]);
    expect(listed).to.include.members(PAGES.filter((page) => page.startsWith("docs/")));
  });
});

describe("the page of states", () => {
  it("has the transition tables of the code (else run `npm run generate`)", () => {
    const page = readPage("docs/states.md");
    const tables = [...page.matchAll(/<!-- table: (\w+) -->/g)].map(([, name]) => name);
    expect(tables).to.deep.equal(Object.keys(STATE_TABLES));
    expect(deriveStatesPage(page)).to.equal(page);
  });
});

describe("the tables about MongoDB", () => {
  it("are those of the code (else run `npm run generate`)", () => {
    const page = readPage("docs/operations.md");
    expect(page.match(/<!-- (?:sharding|mongodb): [\w ]+ -->/g)).to.have.length(4);
    expect(deriveShardingTables(page)).to.equal(page);
  });
});

describe("the page of roles", () => {
  it("has the table of operations of the code (else run `npm run generate`)", () => {
    const page = readPage("docs/roles.md");
    const derived = deriveRolesPage(page);
    expect(readTable(derived).length).to.be.above(35);
    expect(readTable(page)).to.deep.equal(readTable(derived));
  });
});

describe("the page of promises", () => {
  const rows = readTable(readPage("docs/promises.md"));

  it("names for each promise tests that exist", () => {
    expect(rows).to.have.length.of.at.least(20);
    for (const [promise, tests] of rows) {
      const paths = [...tests!.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, path]) => path!);
      expect(paths, promise).to.have.length.of.at.least(1);
      for (const path of paths) expect(holdsTests(path), `${promise}: ${path}`).to.equal(true);
    }
  });
});

/** True for a file of tests, for a program that fails when a promise is broken, and for a folder with either. */
function holdsTests(path: string): boolean {
  if (!exists(path)) return false;
  if (!statSync(join(ROOT, path)).isDirectory()) return path.endsWith(".test.ts") || path === "bench/soak.ts";
  return readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" }).some((name) =>
    /\.(test|foreign)\.ts$|\.json$|main\.ts$/.test(name),
  );
}

import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findUnusedWords } from "./support/unused-words.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["src", "clients", "actors", "queues", "test", "bench", "scripts", "docs", "proto", "examples"];
const PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
/** Files that name the words because they are about them, or because a tool has made them. */
const NOT_READ =
  /^(scripts\/unused-words\.json|test\/words\.test\.ts|proto\/(generated|google|grpc)\/|clients\/.*\/(generated|dist)\/|.*node_modules\/)/;

function files(): readonly string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
  return [...inFolders, ...PAGES].filter((path) => /\.(ts|mjs|md|proto)$/.test(path) && !NOT_READ.test(path));
}

describe("the words of the project", () => {
  it("are those of the glossary: no unused word stands in code, comments or docs", () => {
    const found = files().flatMap((path) =>
      findUnusedWords(readFileSync(join(ROOT, path), "utf8"), /\.(ts|mjs)$/.test(path)).map((use) => `${path}:${use}`),
    );
    expect(found).to.deep.equal([]);
  });

  it("are found in comments, in messages and inside identifiers, and not inside other words", () => {
    expect(findUnusedWords("/** Whoever calls. */", true)).to.have.length(1);
    expect(findUnusedWords('throw new Error("nobody waits")', true)).to.have.length(1);
    expect(findUnusedWords("const claimDesk = 1;", true)).to.have.length(1);
    expect(findUnusedWords("const planeClients = 1;", true)).to.have.length(1);
    expect(findUnusedWords('const text = "the control plane";', true)).to.have.length(0);
    expect(findUnusedWords("const text = `the control plane ${version}`;", true)).to.have.length(0);
    expect(findUnusedWords("const text = `node ${plane.version}`;", true)).to.have.length(1);
    expect(findUnusedWords("const deadLetters = 1; const canewood = 2;", true)).to.have.length(0);
  });
});

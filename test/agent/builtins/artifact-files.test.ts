/** Which files of a workspace an artifact keeps, and which it never keeps. */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { findFiles, piecesOf } from "../../../src/agent/builtins/artifact/artifact-files.ts";
import { readPatterns } from "../../../src/agent/builtins/patterns.ts";
import { PIECE_BYTES } from "../../../src/domain/artifacts.ts";

describe("the files of an artifact", () => {
  let outside: string;
  let workspace: string;
  const never = new AbortController().signal;
  beforeEach(async () => {
    outside = await realpath(await mkdtemp(join(tmpdir(), "millrace-files-")));
    workspace = join(outside, "work");
    await mkdir(workspace);
    await writeFile(join(outside, "secret"), "hunter2");
  });
  afterEach(() => rm(outside, { recursive: true, force: true }));

  const write = async (...paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      await mkdir(join(workspace, dirname(path)), { recursive: true });
      await writeFile(join(workspace, path), `content of ${path}`);
    }
  };
  const found = async (...patterns: readonly string[]) =>
    (await findFiles(workspace, patterns, never)).map(({ path }) => path);
  const refusal = (...patterns: readonly string[]) =>
    findFiles(workspace, patterns, never).then(
      () => "nothing was refused",
      (error: Error) => error.message,
    );
  const contentOf = async (files: Awaited<ReturnType<typeof findFiles>>, from = 0): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    for await (const piece of piecesOf(files, from)) pieces.push(Buffer.from(piece));
    for (const piece of pieces.slice(0, -1)) expect(piece).to.have.length(PIECE_BYTES);
    return Buffer.concat(pieces);
  };

  it("are those that match the patterns, each once, sorted by path", async () => {
    await write("b/1.xml", "b/c/2.xml", "b/c/3.txt", "a.log", "z.log", "b c/[x].txt");
    expect(await found("b/**/*.xml")).to.deep.equal(["b/1.xml", "b/c/2.xml"]);
    expect(await found("*.log", "a.*")).to.deep.equal(["a.log", "z.log"]);
    expect(await found("b/{1,c/2}.xml")).to.deep.equal(["b/1.xml", "b/c/2.xml"]);
    expect(await found("./b/c/", "b/c/2.xml")).to.deep.equal(["b/c/2.xml", "b/c/3.txt"]);
    expect(await found(".")).to.have.length(6);
    expect(await found("b/**", "!**/*.txt", "!b/1.xml")).to.deep.equal(["b/c/2.xml"]);
    expect(await found("b", "!b/c")).to.deep.equal(["b/1.xml"]);
    expect(await found("nothing/**", "none", "a.log/x")).to.deep.equal([]);
  });

  it("are refused by their sizes before they are read, also when they have holes", async () => {
    await write("small", "sparse");
    await truncate(join(workspace, "sparse"), 2 * 2 ** 40);
    const limits = { fileBytes: 1e9, allBytes: 2e9 };
    const told = (pattern: string) =>
      findFiles(workspace, [pattern], never, limits).then(
        () => "nothing was refused",
        (error: Error) => error.message,
      );
    const startedAt = performance.now();
    expect(await told("*")).to.match(
      /^"sparse" has 2199023255552 bytes \(\d+ of them on the disk\); 1000000000 are allowed for a file$/,
    );
    for (const name of ["a", "b", "c"]) {
      await writeFile(join(workspace, `${name}.bin`), "");
      await truncate(join(workspace, `${name}.bin`), 900e6);
    }
    expect(await told("*.bin")).to.equal("its files have 2700000000 bytes; 2000000000 are allowed for an artifact");
    expect(performance.now() - startedAt, "nothing was read").to.be.below(5_000);
    expect(await told("small")).to.equal("nothing was refused");
  });

  it("must have names that are UTF-8, and lie behind no other name", async () => {
    await write("d/x");
    const latin1 = Buffer.concat([Buffer.from(join(workspace, "d/caf")), Buffer.from([0xe9])]);
    await writeFile(latin1, "z");
    expect(await refusal("d")).to.equal('a file cannot be kept under its name "d/caf\\xe9", which is no UTF-8');
    expect(await found("d/x")).to.deep.equal(["d/x"]);
    await symlink(latin1, join(workspace, "link"));
    expect(await refusal("link*")).to.match(/^"link" is a link to ".*\\xe9", which is no UTF-8$/);
  });

  it("have names that begin with a dot only if the pattern does", async () => {
    await write(".env", ".git/config", "src/.cache/x", "src/a");
    expect(await found("**")).to.deep.equal(["src/a"]);
    expect(await found("src")).to.deep.equal(["src/a"]);
    expect(await found(".git", ".env", "src/.*/*")).to.deep.equal([".env", ".git/config", "src/.cache/x"]);
  });

  it("have their size, their checksum and whether they are executable", async () => {
    await write("run.sh", "empty");
    await writeFile(join(workspace, "empty"), "");
    await chmod(join(workspace, "run.sh"), 0o755);
    const [empty, script] = await findFiles(workspace, ["**"], never);
    const content = await readFile(join(workspace, "run.sh"));
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(script).to.include({ sizeBytes: content.length, sha256, executable: true });
    expect(empty).to.include({ sizeBytes: 0, executable: false });
  });

  it("are never outside of the workspace: a matching link that leads out is refused", async () => {
    await write("dist/a");
    await symlink(join(outside, "secret"), join(workspace, "dist", "passwd"));
    await symlink("../..", join(workspace, "dist", "up"));
    await symlink(outside, join(workspace, "away"));
    expect(await refusal("dist")).to.match(/"dist\/(passwd|up)" leads out of the workspace/);
    expect(await refusal("dist/passwd")).to.include('"dist/passwd" leads out of the workspace');
    expect(await refusal("away/secret")).to.include('"away/secret" leads out of the workspace');
    expect(await refusal("away/*")).to.include('"away" leads out of the workspace');
    expect(await found("dist/a", "*/a")).to.deep.equal(["dist/a"]);
    expect(await found("dist", "!dist/passwd", "!dist/up")).to.deep.equal(["dist/a"]);
    // Patterns that the validation of a definition refuses do not lead out either.
    for (const path of ["../secret", "dist/../../secret"]) {
      expect(await refusal(path)).to.include('"../secret" leads out of the workspace');
    }
    expect(await found("{..,dist}/secret")).to.deep.equal([]);
  });

  it("may be links to files of the workspace, but not links to folders or to nothing", async () => {
    await write("v1/lib.so", "v1/deep/x");
    await symlink("lib.so", join(workspace, "v1", "lib.so.1"));
    await symlink("v1", join(workspace, "current"));
    await symlink(".", join(workspace, "v1", "loop"));
    await symlink("nowhere", join(workspace, "v1", "dangling"));
    await symlink("self", join(workspace, "v1", "self"));
    expect(await found("v1")).to.deep.equal(["v1/deep/x", "v1/lib.so", "v1/lib.so.1"]);
    expect(await found("**/x")).to.deep.equal(["v1/deep/x"]);
    expect(await found("current/lib.so"), "one that is named itself").to.deep.equal(["current/lib.so"]);
    const [target, link] = await findFiles(workspace, ["v1/lib.so*"], never);
    expect(link!.sha256).to.equal(target!.sha256);
  });

  it("are regular files only, and the search does not wait for a pipe", async () => {
    await write("a");
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    expect(await found("**", "pipe")).to.deep.equal(["a"]);
  });

  it("have names that every system can read", async () => {
    await write("a\\b");
    expect(await refusal("**")).to.include("cannot be kept under its name");
    await unlink(join(workspace, "a\\b"));
    await write("a\tb");
    expect(await refusal("**")).to.include("cannot be kept under its name");
  });

  it("are read in pieces, starting at any piece", async () => {
    await writeFile(join(workspace, "a"), Buffer.alloc(PIECE_BYTES + 100, "a"));
    await write("b", "e");
    await writeFile(join(workspace, "c"), "");
    await writeFile(join(workspace, "d"), Buffer.alloc(PIECE_BYTES, "d"));
    const files = await findFiles(workspace, ["**"], never);
    const all = Buffer.concat(await Promise.all("abcde".split("").map((name) => readFile(join(workspace, name)))));
    expect((await contentOf(files)).equals(all)).to.equal(true);
    for (const from of [PIECE_BYTES, 2 * PIECE_BYTES]) {
      expect((await contentOf(files, from)).equals(all.subarray(from))).to.equal(true);
    }
    expect(await contentOf(files, all.length)).to.have.length(0);
  });

  it("are not sent when they have changed since their checksum was computed", async () => {
    const changes: readonly ((path: string) => Promise<unknown>)[] = [
      (path) => appendFile(path, "more"),
      (path) => writeFile(path, "other content"),
      (path) => unlink(path),
      (path) => unlink(path).then(() => symlink(join(outside, "secret"), path)),
      async (path) => {
        await writeFile(`${path}.new`, "content of a");
        await rename(`${path}.new`, path);
      },
    ];
    for (const change of changes) {
      await write("a");
      const files = await findFiles(workspace, ["a"], never);
      await change(join(workspace, "a"));
      const error = await contentOf(files).catch((caught: unknown) => caught);
      expect(String(error)).to.include('"a" has changed while it was kept');
      await rm(join(workspace, "a"), { force: true });
    }
  });

  it("are no longer searched after an abort", async () => {
    await write("a");
    const aborted = AbortSignal.abort(new Error("cancelled"));
    const error = await findFiles(workspace, ["**"], aborted).catch((caught: unknown) => caught);
    expect(error).to.have.property("message", "cancelled");
  });

  it("are selected from an artifact by the same patterns", () => {
    const { matches } = readPatterns(["dist/**", "!**/*.map"]);
    expect(["dist/a.js", "dist/b/a.map", "other"].filter(matches)).to.deep.equal(["dist/a.js"]);
  });
});

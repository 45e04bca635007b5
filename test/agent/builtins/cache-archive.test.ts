/** What a cache keeps of a workspace and restores into another, and what it never writes. */
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { expect } from "chai";
import { pack, type Header } from "tar-stream";
import { isInnerLink, readCachePaths } from "../../../src/agent/builtins/cache/cache-paths.ts";
import { packCache } from "../../../src/agent/builtins/cache/cache-pack.ts";
import { unpackCache } from "../../../src/agent/builtins/cache/cache-unpack.ts";

const { signal } = new AbortController();
const MOST_BYTES = 1e9;
const patternsOf = (...paths: string[]) => readCachePaths(paths, (text) => new Error(text));

describe("the archive of a cache", () => {
  let outside: string;
  let from: string;
  let to: string;
  let archive: string;
  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), "millrace-cache-"));
    [from, to, archive] = [join(outside, "from"), join(outside, "to"), join(outside, "archive")];
    await Promise.all([mkdir(from), mkdir(to), writeFile(join(outside, "secret"), "untouched")]);
  });
  afterEach(() => rm(outside, { recursive: true, force: true }));

  const put = async (files: Record<string, string>, folder = from): Promise<void> => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  };
  const packed = (...paths: string[]) =>
    packCache(from, patternsOf(...paths), archive, { signal, mostBytes: MOST_BYTES });
  const unpacked = (...paths: string[]) => unpackCache(archive, to, patternsOf(...paths), signal);
  /** All entries that are not folders. */
  const pathsIn = async (folder: string): Promise<readonly string[]> => {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .toSorted();
  };
  const failure = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => "it went well",
      (error: Error) => error.message,
    );
  const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);
  /** Makes an archive that an agent would not make. */
  const forge = async (
    ...entries: readonly (Partial<Header> & { name: string; content?: string })[]
  ): Promise<void> => {
    const tar = pack();
    for (const { content = "", ...header } of entries) tar.entry({ type: "file", mode: 0o644, ...header }, content);
    tar.finalize();
    await pipeline(tar as AsyncIterable<Uint8Array>, createGzip(), createWriteStream(archive));
  };

  it("restores files, empty folders and links unchanged, including hidden ones", async () => {
    await put({
      "node_modules/.bin/x": "#!/bin/sh\necho ran",
      "node_modules/.package-lock.json": "{}",
      "node_modules/a/index.js": "a".repeat(200_000),
      "node_modules/a/empty": "",
      [`node_modules/${"long-name-".repeat(12)}/ü ✓.js`]: "u",
      "other/x": "not kept",
    });
    await mkdir(join(from, "node_modules/hollow"));
    await chmod(join(from, "node_modules/.bin/x"), 0o755);
    await chmod(join(from, "node_modules/a/empty"), 0o440);
    await symlink("../a/index.js", join(from, "node_modules/.bin/a"));
    await symlink("nowhere", join(from, "node_modules/broken"));
    await chmod(join(from, "node_modules/a"), 0o555);
    try {
      const { count, archive: told } = await packed("node_modules");
      expect(count).to.equal(7);
      expect(told.sha256).to.equal(
        createHash("sha256")
          .update(await readFile(archive))
          .digest("hex"),
      );
      expect(told.sizeBytes).to.equal((await lstat(archive)).size);
      expect(await unpacked("node_modules")).to.equal(7);
      const paths = (await pathsIn(from)).filter((path) => !path.startsWith("other"));
      expect(await pathsIn(to)).to.deep.equal(paths);
      for (const path of paths) {
        const contentIn = async (folder: string) =>
          (await lstat(join(folder, path))).isSymbolicLink()
            ? readlink(join(folder, path))
            : readFile(join(folder, path));
        expect(await contentIn(to), path).to.deep.equal(await contentIn(from));
      }
      for (const path of ["node_modules/.bin/x", "node_modules/a/empty", "node_modules/a", "node_modules/hollow"]) {
        expect(await modeOf(join(to, path)), path).to.equal(await modeOf(join(from, path)));
      }
      const mtimeOf = async (folder: string) =>
        Math.trunc((await lstat(join(folder, "node_modules/a/index.js"))).mtimeMs / 1_000);
      expect(await mtimeOf(to)).to.equal(await mtimeOf(from));
    } finally {
      await Promise.all([from, to].map((folder) => chmod(join(folder, "node_modules/a"), 0o755).catch(() => {})));
    }
  });

  it("holds only what the patterns match", async () => {
    await put({ "p/a/dist/x": "1", "p/b/dist/y": "2", "p/b/src/z": "3", "q/x": "4", "p/a/dist/log.txt": "5" });
    expect((await packed("p/*/dist", "p/a", "!**/*.txt", "none")).count).to.equal(2);
    await unpacked("p/*/dist", "p/a", "!**/*.txt", "none");
    expect(await pathsIn(to)).to.deep.equal(["p/a/dist/x", "p/b/dist/y"]);
  });

  it("is empty without matches, and holds nothing behind a link", async () => {
    await put({ "real/x": "1" });
    await symlink("real", join(from, "alias"));
    expect((await packed("none", "alias/x")).count).to.equal(0);
  });

  it("is not made when a link leads out of the workspace", async () => {
    await mkdir(join(from, "d"));
    for (const target of [join(outside, "secret"), "../../secret", "a/../../../secret", ".."]) {
      await symlink(target, join(from, target === ".." ? "d/up" : "d/link"));
      const isFine = target === "..";
      const told = await failure(packed("d"));
      if (isFine) expect(told).to.equal("it went well");
      else expect(told, target).to.include('the link "d/link" leads out of the workspace');
      await rm(join(from, "d/link"), { force: true });
      await rm(archive, { force: true });
    }
  });

  it("keeps no file with more in holes than an entry may have, and says so at once", async () => {
    await put({ "d/x": "x", "d/sparse": "" });
    await truncate(join(from, "d/sparse"), 200e9);
    expect(await failure(packed("d"))).to.equal(
      '"d/sparse" has 200000000000 bytes (0 of them on the disk); 1000000000 are allowed for an entry',
    );
  });

  it("keeps no entry of more bytes than are allowed", async () => {
    await put({ "d/x": "" });
    await writeFile(join(from, "d/x"), randomBytes(300_000));
    const told = await failure(packCache(from, patternsOf("d"), archive, { signal, mostBytes: 100_000 }));
    expect(told).to.equal("it has more than the 100000 bytes that are allowed for an entry");
  });

  it("keeps nothing when a name or the target of a link is no UTF-8, unless the patterns leave it out", async () => {
    await put({ "d/x": "x", "d/e/y": "y" });
    const latin1 = Buffer.concat([Buffer.from(join(from, "d/e/caf")), Buffer.from([0xe9])]);
    await writeFile(latin1, "z");
    expect(await failure(packed("d"))).to.equal('"d/e/caf\\xe9" cannot be kept under its name, which is no UTF-8');
    await rm(archive, { force: true });
    await packed("d", "!d/e/caf*");
    await unpacked("d");
    expect(await pathsIn(to)).to.deep.equal(["d/e/y", "d/x"]);

    await rm(archive);
    await rm(latin1);
    await mkdir(latin1);
    await writeFile(Buffer.concat([latin1, Buffer.from("/below.txt")]), "z");
    expect(await failure(packed("**/*.txt"))).to.include('"d/e/caf\\xe9/below.txt" cannot be kept');
    await rm(archive, { force: true });
    expect((await packed("**/y")).count, "nothing in the folder matches").to.equal(1);

    await rm(archive);
    await rm(latin1, { recursive: true });
    await symlink(Buffer.from([0xe9]), join(from, "d/link"));
    expect(await failure(packed("d"))).to.equal('the link "d/link" leads to "\\xe9", which is no UTF-8');
  });

  it("is no longer made after an abort", async () => {
    await put({ "d/x": "x" });
    const told = await failure(
      packCache(from, patternsOf("d"), archive, {
        signal: AbortSignal.abort(new Error("no longer")),
        mostBytes: MOST_BYTES,
      }),
    );
    expect(told).not.to.equal("it went well");
  });

  it("replaces existing files, and a link itself, never its target", async () => {
    await put({ "d/x": "new" });
    await packed("d");
    await mkdir(join(to, "d"));
    await symlink(join(outside, "secret"), join(to, "d/x"));
    await unpacked("d");
    expect(await readFile(join(to, "d/x"), "utf8")).to.equal("new");
    expect(await readFile(join(outside, "secret"), "utf8")).to.equal("untouched");
  });

  it("is not written through a link to a folder, nor over a folder", async () => {
    await put({ "d/x": "new" });
    await packed("d");
    await mkdir(join(outside, "elsewhere"));
    await symlink(join(outside, "elsewhere"), join(to, "d"));
    expect(await failure(unpacked("d"))).to.equal('"d" is no folder of the workspace');
    expect(await readdir(join(outside, "elsewhere"))).to.deep.equal([]);
    await rm(join(to, "d"));
    await mkdir(join(to, "d/x"), { recursive: true });
    expect(await failure(unpacked("d"))).to.equal('"d/x" is a folder of the workspace');
  });

  it("writes nothing that was not requested, leads out, or is another kind of entry", async () => {
    for (const [entry, told] of [
      [{ name: "../secret", content: "x" }, "not one of the paths"],
      [{ name: "/etc/x", content: "x" }, "not one of the paths"],
      [{ name: "d/../../secret", content: "x" }, "not one of the paths"],
      [{ name: "d/./x", content: "x" }, "not one of the paths"],
      [{ name: "e/x", content: "x" }, "not one of the paths"],
      [{ name: "d/x", type: "symlink", linkname: "../../secret" }, "leads out of the workspace"],
      [{ name: "d/x", type: "symlink", linkname: "/etc/passwd" }, "leads out of the workspace"],
      [{ name: "d/x", type: "link", linkname: "d/y" }, "is a link"],
      [{ name: "d/x", type: "fifo" }, "is a fifo"],
    ] as const) {
      await forge(entry);
      expect(await failure(unpacked("d")), JSON.stringify(entry)).to.include(told);
    }
    expect(await pathsIn(to)).to.deep.equal([]);
    expect(await readFile(join(outside, "secret"), "utf8")).to.equal("untouched");
  });

  it("reports its first problem, and leaves nothing running", async () => {
    await mkdir(join(to, "d/x"), { recursive: true });
    await forge({ name: "d/x", content: "x" }, { name: "d/y", content: "y" }, { name: "e", content: "e" });
    expect(await failure(unpacked("d"))).to.equal('"e" is not one of the paths that the step asked for');
    expect(await pathsIn(to), "what came before is whole").to.deep.equal(["d/y"]);
    expect(await readFile(join(to, "d/y"), "utf8")).to.equal("y");
  });

  it("restores many files of any size", async () => {
    const files: Record<string, string> = { "d/large": "l".repeat(3_000_000) };
    for (let n = 0; n < 100; n++) files[`d/${n % 7}/${n}`] = "s".repeat(n);
    await put(files);
    expect((await packed("d")).count).to.equal(101);
    expect(await unpacked("d")).to.equal(101);
    for (const [path, content] of Object.entries(files)) {
      expect(await readFile(join(to, path), "utf8"), path).to.equal(content);
    }
  });

  it("does not write through a link of its own", async () => {
    await forge({ name: "d/l", type: "symlink", linkname: ".." }, { name: "d/l/x", content: "x" });
    expect(await failure(unpacked("d"))).to.equal('"l" is no folder of the workspace');
    expect(await pathsIn(to)).to.deep.equal(["d/l"]);
  });

  it("is refused when it is not an archive, or is cut off", async () => {
    await writeFile(archive, "no archive");
    expect(await failure(unpacked("d"))).to.include("it is no gzipped tar");
    await put({ "d/x": "x".repeat(100_000) });
    await rm(archive);
    await packed("d");
    await writeFile(archive, (await readFile(archive)).subarray(0, -20));
    expect(await failure(unpacked("d"))).to.include("it is no gzipped tar");
  });
});

describe("the paths of a cache", () => {
  it("are in the workspace", () => {
    for (const path of ["../x", "a/../../x", "/etc", "~/.npm", "!../x", "a\\b"]) {
      expect(() => patternsOf("fine", path), path).to.throw(`${JSON.stringify(path)} is not within the workspace`);
    }
    expect(patternsOf("a/b", "a", "./c/", "ab/**").starts).to.have.members(["a", "c", "ab"]);
    expect(patternsOf("a", ".").starts).to.deep.equal([""]);
  });

  it("may be targets of links that go up first and then down", () => {
    for (const [path, target] of [
      ["a/b", "../c"],
      ["a/b", "c/d"],
      ["a/b", ".."],
      ["a/b", "."],
      ["a/b/c", "./../../d/"],
    ] as const) {
      expect(isInnerLink(path, target), `${path} -> ${target}`).to.equal(true);
    }
    for (const [path, target] of [
      ["a", ".."],
      ["a", "../x"],
      ["a/b", "../../x"],
      ["a/b", "/a/x"],
      ["a/b", "c/../d"],
      ["a/b", ""],
    ] as const) {
      expect(isInnerLink(path, target), `${path} -> ${target}`).to.equal(false);
    }
  });
});

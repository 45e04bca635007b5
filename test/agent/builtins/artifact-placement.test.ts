/** Where the files of an artifact are written, and where they never are. */
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ArtifactPlacement } from "../../../src/agent/builtins/artifact/artifact-placement.ts";
import type { ArtifactFile } from "../../../src/domain/artifacts.ts";

describe("the placement of an artifact", () => {
  let outside: string;
  let workspace: string;
  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), "millrace-placement-"));
    workspace = join(outside, "work");
    await mkdir(workspace);
    await writeFile(join(outside, "secret"), "untouched");
  });
  afterEach(() => rm(outside, { recursive: true, force: true }));

  const fileOf = (path: string, content: string, executable = false): ArtifactFile => ({
    path,
    sizeBytes: Buffer.byteLength(content),
    sha256: createHash("sha256").update(content).digest("hex"),
    executable,
  });
  const place = async (folder: string, files: Readonly<Record<string, string>>, pieceBytes = 3): Promise<void> => {
    const placement = new ArtifactPlacement(
      workspace,
      folder,
      Object.entries(files).map(([path, text]) => fileOf(path, text)),
    );
    const content = Buffer.from(Object.values(files).join(""));
    try {
      await placement.write(new Uint8Array());
      for (let at = 0; at < content.length; at += pieceBytes)
        await placement.write(content.subarray(at, at + pieceBytes));
    } finally {
      await placement.dispose();
    }
  };
  const refusal = (folder: string, files: Readonly<Record<string, string>>) =>
    place(folder, files).then(
      () => "nothing was refused",
      (error: Error) => error.message,
    );
  const text = (path: string) => readFile(join(workspace, path), "utf8");

  it("writes each file to its path, in whatever pieces the content arrives", async () => {
    for (const pieceBytes of [1, 3, 4, 100]) {
      await place("in/to", { first: "", "a/b": "1234", empty: "", "a/c": "56789", last: "" }, pieceBytes);
      expect(await text("in/to/a/b")).to.equal("1234");
      expect(await text("in/to/a/c")).to.equal("56789");
      for (const name of ["first", "empty", "last"]) expect(await text(`in/to/${name}`)).to.equal("");
      expect(await readdir(join(workspace, "in/to"))).to.have.members(["a", "empty", "first", "last"]);
      await rm(join(workspace, "in"), { recursive: true });
    }
  });

  it("keeps whether a file is executable", async () => {
    const placement = new ArtifactPlacement(workspace, "", [fileOf("run", "x", true), fileOf("read", "x")]);
    await placement.write(Buffer.from("xx"));
    expect((await stat(join(workspace, "run"))).mode & 0o777).to.equal(0o755);
    expect((await stat(join(workspace, "read"))).mode & 0o777).to.equal(0o644);
  });

  it("replaces files and links, and never writes through a link", async () => {
    await symlink(join(outside, "secret"), join(workspace, "link"));
    await writeFile(join(workspace, "file"), "old");
    await place("", { link: "new", file: "new" });
    expect(await text("link")).to.equal("new");
    expect((await lstat(join(workspace, "link"))).isSymbolicLink()).to.equal(false);
    expect(await text("file")).to.equal("new");
    expect(await readFile(join(outside, "secret"), "utf8")).to.equal("untouched");
  });

  it("follows no link to a folder, wherever it leads", async () => {
    await symlink(outside, join(workspace, "out"));
    await mkdir(join(workspace, "real"));
    await symlink("real", join(workspace, "inside"));
    expect(await refusal("", { "out/secret": "x" })).to.include('"out" is no folder');
    expect(await refusal("out", { secret: "x" })).to.include('"out" is no folder');
    expect(await refusal("", { "inside/x": "x" })).to.include('"inside" is no folder');
    expect(await readFile(join(outside, "secret"), "utf8")).to.equal("untouched");
    expect(await readlink(join(workspace, "out"))).to.equal(outside);
  });

  it("refuses paths that lead out of the workspace before it writes anything", async () => {
    for (const path of ["../x", "/x", "a/../../x", "..", "a\\..\\x", "a\0"]) {
      expect(await refusal("", { good: "x", [path]: "x" }), path).to.include("is no path within the workspace");
      if (path !== "") expect(await refusal(path, { good: "x" }), path).to.include("is no path within the workspace");
    }
    expect(await readdir(workspace)).to.deep.equal([]);
    expect(await readdir(outside)).to.have.members(["secret", "work"]);
  });

  it("leaves no part of a file that is incomplete or has another checksum", async () => {
    await writeFile(join(workspace, "kept"), "old");
    const placement = new ArtifactPlacement(workspace, "", [fileOf("kept", "1234")]);
    await placement.write(Buffer.from("12"));
    expect(placement.position).to.deep.equal({ index: 0, offset: 2 });
    await placement.dispose();
    expect(await text("kept")).to.equal("old");
    const other = new ArtifactPlacement(workspace, "", [fileOf("kept", "1234")]);
    const error = await other.write(Buffer.from("1235")).catch((caught: unknown) => caught);
    expect(String(error)).to.include('the file "kept" does not match its checksum');
    await other.dispose();
    expect(await text("kept")).to.equal("old");
    expect(await readdir(workspace)).to.deep.equal(["kept"]);
  });

  it("reports a folder in the place of a file, and a file in the place of a folder", async () => {
    await mkdir(join(workspace, "taken/folder"), { recursive: true });
    await writeFile(join(workspace, "file"), "");
    expect(await refusal("", { taken: "x" })).to.include('the file "taken" cannot be put into the workspace (EISDIR)');
    expect(await refusal("", { "file/x": "x" })).to.include('"file" is no folder');
    expect(await readdir(workspace)).to.have.members(["file", "taken"]);
  });
});

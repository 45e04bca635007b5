import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Trash } from "../../../src/agent/folders/trash.ts";
import { until } from "../../support/until.ts";
import { SILENT } from "../test-agent.ts";

describe("the trash of an agent", () => {
  let root: string;
  let folder: string;
  let trash: Trash;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "millrace-trash-"));
    folder = join(root, "trash");
    await mkdir(folder);
    trash = new Trash(folder, SILENT);
  });
  afterEach(async () => {
    await trash.close();
    await rm(root, { recursive: true, force: true });
  });

  const isEmpty = async () => (await readdir(folder)).length === 0;
  async function made(name: string): Promise<string> {
    await mkdir(join(root, name, "in"), { recursive: true });
    await writeFile(join(root, name, "in", "file"), "text");
    return join(root, name);
  }

  it("moves a folder aside at once, and removes it later", async () => {
    trash.take(await made("first"));
    expect([readdirSync(root), readdirSync(folder).length]).to.deep.equal([["trash"], 1]);
    await until("an empty trash", isEmpty);
    trash.take(await made("first"));
    await until("an empty trash", isEmpty);
  });

  it("removes an empty folder, and accepts one that does not exist", async () => {
    await mkdir(join(root, "empty"));
    for (const name of ["empty", "missing"]) trash.take(join(root, name));
    expect([await readdir(root), await readdir(folder)]).to.deep.equal([["trash"], []]);
  });

  it("removes folders without permissions to read, write or move", async () => {
    const path = await made("locked");
    await mkdir(join(path, "empty"));
    for (const each of [join(path, "empty"), join(path, "in")]) await chmod(each, 0o000);
    await chmod(path, 0o500);
    trash.take(path);
    await until("an empty trash", isEmpty);
  });

  it("follows no link in any place", async () => {
    const precious = await made("precious");
    const path = await made("linked");
    await symlink(precious, join(path, "link"));
    await chmod(join(path, "in"), 0o500);
    await symlink(precious, join(root, "instead"));
    await chmod(join(precious, "in"), 0o555);
    for (const each of [path, join(root, "instead")]) trash.take(each);
    await until("an empty trash", isEmpty);
    expect(await readFile(join(precious, "in", "file"), "utf8")).to.equal("text");
    expect((await readdir(root)).toSorted()).to.deep.equal(["precious", "trash"]);
    await chmod(join(precious, "in"), 0o755);
  });

  it("takes names with spaces, dashes and line ends, and files", async () => {
    await made("odd");
    for (const name of ["-rf", "a b", "line\nend", "*", "$(touch x)"]) await made(join("odd", name));
    trash.take(join(root, "odd"));
    await writeFile(join(root, "file"), "");
    trash.take(join(root, "file"));
    await until("an empty trash", isEmpty);
  });

  it("removes what an earlier agent left, and the rest when it is closed", async () => {
    await made(join("trash", "earlier"));
    const next = new Trash(folder, SILENT);
    await until("an empty trash", isEmpty);
    next.take(await made("last"));
    await next.close();
    expect(await isEmpty()).to.equal(true);
  });
});

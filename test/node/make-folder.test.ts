import { expect } from "chai";
import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../src/make-folder.ts";

describe("a folder that is made", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-make-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const codeOf = (path: string) =>
    makeFolder(path, 0o700).then(
      () => "made",
      ({ code }: NodeJS.ErrnoException) => code,
    );

  it("comes with those above it, in the mode, and may be there already", async () => {
    const path = join(folder, "a", "b", "c");
    await makeFolder(path, 0o700);
    expect(await codeOf(path)).to.equal("made");
    for (const one of [path, join(folder, "a")]) expect((await stat(one)).mode & 0o777).to.equal(0o700);
    await symlink(path, join(folder, "link"));
    expect(await codeOf(join(folder, "link"))).to.equal("made");
    await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, "d", "e", "f"), 0o700)));
  });

  it("cannot be made in place of a file, below one, or where the system makes none", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    expect(await codeOf(file)).to.equal("EEXIST");
    expect(await codeOf(join(file, "a"))).to.equal("ENOTDIR");
    expect(await codeOf("/proc/millrace/a")).to.equal("ENOENT");
    expect(await codeOf("/")).to.equal("made");
  });
});

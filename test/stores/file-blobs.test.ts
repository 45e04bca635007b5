/** Blobs as files when the disk refuses a call. The contract of all stores of blobs is in test/contracts. */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { fileBlobStore } from "../../src/stores/sqlite/blobs.ts";

describe("blobs as files", () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "millrace-blobs-"))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const ID = "art_01ABCDEF";
  const refusal = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => "nothing was refused",
      (error: unknown) => error,
    );

  it("say that the disk is full, and work again when it has room", async () => {
    const store = fileBlobStore(folder);
    await mkdir(join(folder, "EF"));
    await symlink("/dev/full", join(folder, "EF", `${ID}.part`));
    const error = await refusal(store.put(ID, 0, Buffer.from("content")));
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
    expect(error).to.have.property("message").that.includes("is full: free disk space");
    await rm(join(folder, "EF", `${ID}.part`));
    expect(await store.put(ID, 0, Buffer.from("content"))).to.equal("stored");
    expect(await store.complete(ID, 7)).to.equal("complete");
  });

  it("say what is wrong with a folder that cannot be used", async () => {
    await writeFile(join(folder, "file"), "");
    const error = await refusal(fileBlobStore(join(folder, "file")).put(ID, 0, Buffer.from("content")));
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("cannot be read or written");
  });

  it("refuse ids that could be paths: nothing outside the folder is read or written", async () => {
    const store = fileBlobStore(join(folder, "blobs"));
    await writeFile(join(folder, "secret"), "untouched");
    for (const id of ["../../secret", "..", "a/../../../secret", "/etc/passwd", ""]) {
      for (const call of [
        () => store.put(id, 0, Buffer.from("x")),
        () => store.read(id, 0, 10),
        () => store.delete(id),
        () => store.complete(id, 1),
        () => store.storedBytes(id),
      ]) {
        expect(await refusal(call()), id).to.be.instanceOf(MillraceError);
      }
    }
    expect(await readdir(folder)).to.deep.equal(["secret"]);
  });
});

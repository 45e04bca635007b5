/** The trash and what steps have mounted, with real bind mounts. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { mountPointsOf } from "../../../src/agent/folders/mount-points.ts";
import { commandOf } from "../../support/test-programs.ts";

const MAIN = fileURLToPath(new URL("trash-mounts-main.ts", import.meta.url));
/** Ways to get a mount namespace: as root, and as a user who may make user namespaces. */
const NAMESPACES = [["--mount"], ["--user", "--map-root-user", "--mount"]];

describe("mount points", () => {
  it("are read with the escapes of the kernel, and only below the folder", () => {
    const lines = [
      "31 23 0:28 / / rw,relatime - ext4 /dev/vda rw",
      "36 31 0:33 /a /data/trash/one/in rw,relatime shared:1 - ext4 /dev/vda rw",
      String.raw`37 31 0:34 / /data/trash/one/a\040b\134c\011d\012e\043 rw - tmpfs tmpfs rw`,
      "38 31 0:35 / /data/trash/one rw - tmpfs tmpfs rw",
      "39 31 0:36 / /data/trash/one-more rw - tmpfs tmpfs rw",
      "40 31 0:36 / /data/trash rw - tmpfs tmpfs rw",
    ];
    const expected = ["/data/trash/one/in", "/data/trash/one/a b\\c\td\ne#", "/data/trash/one"];
    expect(mountPointsOf(`${lines.join("\n")}\n`, "/data/trash/one")).to.deep.equal(expected);
  });

  const namespace = NAMESPACES.find(canUse);
  const title = "are unmounted before a workspace is removed, and never descended into";
  // Without the right to mount, no step of this machine can mount anything either.
  if (namespace === undefined)
    it(`${title}: this machine mounts nothing`, () => expect(process.getuid!()).not.equal(0));
  else {
    it(title, async () => {
      const root = await realpath(await mkdtemp(join(tmpdir(), "millrace trash-")));
      try {
        const args = [...namespace, process.execPath, ...commandOf(MAIN), root];
        const { stdout } = await promisify(execFile)("unshare", args);
        const { warnings, isElsewhereMounted, refusal } = JSON.parse(stdout) as Output;

        for (const name of await readdir(join(root, "precious")))
          expect(await readFile(join(root, "precious", name, "file"), "utf8"), name).to.equal("text");
        expect(isElsewhereMounted, "the target of a link").to.equal(true);
        expect(refusal, "of a checkout").to.include("checkout/in").and.include("is a mount point");
        // Only the folder is left in which a process keeps the mount in use.
        const left = await readdir(join(root, "trash"));
        expect(left).to.have.length(1);
        expect(existsSync(join(root, "trash", left[0]!, "in"))).to.equal(true);
        expect(warnings).to.have.length(1);
        expect(warnings[0]).to.include({ path: join(root, "trash", left[0]!) });
        expect(warnings[0]!.mountPoints).to.deep.equal([join(root, "trash", left[0]!, "in")]);
        expect(await readdir(join(root, "work"))).to.deep.equal([]);
      } finally {
        await rm(root, { recursive: true, force: true });
      }
    });
  }
});

interface Output {
  readonly warnings: readonly { readonly path: string; readonly mountPoints: readonly string[] }[];
  readonly isElsewhereMounted: boolean;
  readonly refusal: string;
}

function canUse(flags: readonly string[]): boolean {
  try {
    execFileSync("unshare", [...flags, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

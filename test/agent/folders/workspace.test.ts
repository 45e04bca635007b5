import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Trash } from "../../../src/agent/folders/trash.ts";
import { Workspaces } from "../../../src/agent/folders/workspace.ts";
import { SILENT } from "../test-agent.ts";

describe("the workspaces of an agent", () => {
  let root: string;
  let trash: Trash;
  let workspaces: Workspaces;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "millrace-work-")));
    for (const name of ["work", "scratch", "trash", "elsewhere"]) mkdirSync(join(root, name));
    trash = new Trash(join(root, "trash"), SILENT);
    workspaces = new Workspaces({
      workDir: join(root, "work"),
      spareDir: join(root, "scratch"),
      trash,
      user: undefined,
    });
  });
  afterEach(async () => {
    await trash.close();
    await rm(root, { recursive: true, force: true });
  });

  const inodeOf = (path: string) => statSync(path).ino;
  /** The inode of the workspace of a job whose steps made nothing. */
  function givenBack(jobId: string): number {
    const inode = inodeOf(workspaces.open(jobId));
    workspaces.remove(jobId);
    return inode;
  }

  it("is one folder for all steps of a job, which is gone after the job", () => {
    const path = workspaces.open("job_1");
    expect(path).to.equal(join(root, "work", "job_1"));
    writeFileSync(join(path, "file"), "text");
    expect([workspaces.open("job_1"), readdirSync(path)]).to.deep.equal([path, ["file"]]);
    workspaces.remove("job_1");
    workspaces.remove("job_1");
    expect(readdirSync(join(root, "work"))).to.deep.equal([]);
    expect(readdirSync(workspaces.open("job_2"))).to.deep.equal([]);
  });

  it("gives the folder in which no step made anything to the next job", () => {
    const inode = givenBack("job_1");
    expect(readdirSync(join(root, "work"))).to.deep.equal([]);
    expect(inodeOf(workspaces.open("job_2"))).to.equal(inode);
    expect(inodeOf(workspaces.open("job_3"))).not.to.equal(inode);
  });

  const changes: Readonly<Record<string, (path: string) => void>> = {
    "has a file": (path) => writeFileSync(join(path, "file"), "text"),
    "had a file": (path) => {
      // The time of a change is coarse on some systems: the folder must be older than the change.
      const from = statSync(path).ctimeMs;
      do {
        writeFileSync(join(path, "file"), "text");
        rmSync(join(path, "file"));
      } while (statSync(path).ctimeMs === from);
    },
    "has other rights": (path) => chmodSync(path, 0o711),
    "is gone": (path) => rmSync(path, { recursive: true }),
    "is a link": (path) => {
      rmSync(path, { recursive: true });
      symlinkSync(join(root, "elsewhere"), path);
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`gives no folder to the next job that ${name} at the end of a job, or after it`, () => {
      const path = workspaces.open("job_1");
      change(path);
      workspaces.remove("job_1");
      expect([existsSync(path), readdirSync(join(root, "scratch"))]).to.deep.equal([false, []]);
      givenBack("job_2");
      change(join(root, "scratch", readdirSync(join(root, "scratch"))[0]!));
      const next = workspaces.open("job_3");
      expect([readdirSync(next), statSync(next).mode & 0o777]).to.deep.equal([[], 0o777 & ~process.umask()]);
      expect(readdirSync(join(root, "scratch"))).to.deep.equal([]);
    });
  }

  it("makes a workspace that a step has removed again, and tells where a link leads that took its place", () => {
    const path = workspaces.open("job_1");
    rmSync(path, { recursive: true });
    expect([workspaces.open("job_1"), readdirSync(path)]).to.deep.equal([path, []]);
    rmSync(path, { recursive: true });
    symlinkSync(join(root, "elsewhere"), path);
    expect(workspaces.open("job_1")).to.equal(join(root, "elsewhere"));
  });

  it("keeps no more than 64 folders", () => {
    const ids = Array.from({ length: 70 }, (_, index) => `job_${index}`);
    for (const id of ids) workspaces.open(id);
    for (const id of ids) workspaces.remove(id);
    expect([readdirSync(join(root, "scratch")).length, readdirSync(join(root, "work"))]).to.deep.equal([64, []]);
  });

  it("refuses an id that is no plain name", () => {
    for (const call of [() => workspaces.open("../up"), () => workspaces.remove("../up")]) {
      expect(call).to.throw("cannot name a workspace");
    }
  });
});

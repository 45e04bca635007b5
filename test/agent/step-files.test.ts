import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Trash } from "../../src/agent/folders/trash.ts";
import { StepFiles } from "../../src/agent/step-file.ts";
import { SILENT } from "./test-agent.ts";

describe("the files that a step writes for the agent", () => {
  let root: string;
  let folder: string;
  let trash: Trash;
  let files: StepFiles;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "millrace-files-"));
    folder = join(root, "scratch");
    for (const name of ["scratch", "trash", "own"]) mkdirSync(join(root, name));
    trash = new Trash(join(root, "trash"), SILENT);
    files = new StepFiles(folder, trash);
  });
  afterEach(async () => {
    await trash.close();
    await rm(root, { recursive: true, force: true });
  });

  /** The path of a file that no step has written to and that was given back. */
  function givenBack(): string {
    const file = files.make("outputs");
    file.dispose();
    return file.path;
  }

  it("gives a file that no step has touched to the next step", () => {
    const path = givenBack();
    const next = files.make("outputs");
    expect([next.path, next.read(10)]).to.deep.equal([path, { bytes: Buffer.alloc(0), size: 0, problem: undefined }]);
    writeFileSync(next.path, "text", { flag: "a" });
    expect(next.read(3)).to.deep.equal({ bytes: Buffer.from("tex"), size: 4, problem: undefined });
    next.dispose();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it("gives no file to two steps, and none of another name", () => {
    const path = givenBack();
    const made = [files.make("outputs"), files.make("outputs"), files.make("events")];
    expect(made[0]!.path).to.equal(path);
    expect(new Set(made.map((file) => file.path)).size).to.equal(3);
  });

  const changes: Readonly<Record<string, (path: string) => void>> = {
    "has text": (path) => writeFileSync(path, "text"),
    "is gone": (path) => rmSync(path),
    "is another file": (path) => {
      writeFileSync(`${path}-other`, "");
      renameSync(`${path}-other`, path);
    },
    "is a link": (path) => {
      rmSync(path);
      symlinkSync("/etc/hosts", path);
    },
    "is a folder": (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    "has other rights": (path) => chmodSync(path, 0o644),
    "has a second name": (path) => linkSync(path, join(root, "own", "second")),
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`gives no file to the next step that ${name} at the end of a step, or after it`, () => {
      const used = files.make("outputs");
      change(used.path);
      used.dispose();
      expect(existsSync(used.path)).to.equal(false);
      const path = givenBack();
      expect(path).not.to.equal(used.path);
      rmSync(join(root, "own", "second"), { force: true });
      change(path);
      expect(files.make("outputs").path).not.to.equal(path);
      expect(existsSync(path)).to.equal(false);
    });
  }

  it("keeps no more than 64 files of a name", () => {
    const made = Array.from({ length: 70 }, () => files.make("outputs"));
    for (const file of made) file.dispose();
    expect(readdirSync(folder)).to.have.length(64);
  });

  it("makes a file in a step's own folder for that step alone", () => {
    const path = givenBack();
    const own = files.make("outputs", join(root, "own"));
    expect(own.path.startsWith(join(root, "own"))).to.equal(true);
    own.dispose();
    expect([readdirSync(join(root, "own")), files.make("outputs").path]).to.deep.equal([[], path]);
  });
});

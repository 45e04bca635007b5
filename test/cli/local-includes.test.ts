import { expect } from "chai";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readLocalIncludes } from "../../src/cli/local-includes.ts";
import { LIMITS } from "../../src/definition/schema/limits.ts";

const TEMPLATE = "ci/lint.yaml";
const text = `include: [${TEMPLATE}]\n`;

describe("the files that a definition on this machine includes", () => {
  let root: string;
  const file = () => join(root, ".millrace", "pipeline.yaml");
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  const filesOf = async (definition: string) =>
    (await readLocalIncludes(file(), { text: definition, format: "yaml" }))!.files;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "millrace-includes-"));
    await mkdir(join(root, ".millrace"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("are found from the folder around .millrace, and from the repository where there is one", async () => {
    await write(TEMPLATE, "jobs: []\n");
    const found = { path: ".millrace/pipeline.yaml", files: [{ path: TEMPLATE, text: "jobs: []\n" }] };
    expect(await readLocalIncludes(file(), { text, format: "yaml" })).to.deep.equal(found);

    await mkdir(join(root, ".millrace", ".git"));
    await write(`.millrace/${TEMPLATE}`, "env: {}\n");
    const nearer = { path: "pipeline.yaml", files: [{ path: TEMPLATE, text: "env: {}\n" }] };
    expect(await readLocalIncludes(file(), { text, format: "yaml" })).to.deep.equal(nearer);
  });

  it("come with those that they include themselves", async () => {
    await write(TEMPLATE, "include: [ci/shared.yaml]\n");
    await write("ci/shared.yaml", "jobs: []\n");
    expect((await filesOf(text)).map(({ path }) => path)).to.deep.equal([TEMPLATE, "ci/shared.yaml"]);
  });

  it("are no links, no folders, and nothing outside the repository", async () => {
    await mkdir(join(root, "ci"));
    const problemOf = async () => (await filesOf(text)).map((each) => ("problem" in each ? each.problem : "none"));
    expect((await problemOf())[0]).to.match(/^is not there/);
    await symlink("/etc/passwd", join(root, TEMPLATE));
    expect((await problemOf())[0]).to.match(/^is a symbolic link/);
    await rm(join(root, TEMPLATE));
    await mkdir(join(root, TEMPLATE));
    expect(await problemOf()).to.deep.equal(["is no file"]);
    expect(await filesOf("include: [../outside.yaml]\n")).to.deep.equal([]);
  });

  it("are read to just beyond the bound of a definition", async () => {
    await write(TEMPLATE, "#".repeat(2 * LIMITS.textBytes));
    const [found] = await filesOf(text);
    expect(found)
      .to.have.property("text")
      .with.lengthOf(LIMITS.textBytes + 1);
  });

  it("are not looked for by a definition that includes nothing", async () => {
    expect(await readLocalIncludes(file(), { text: "jobs: []\n", format: "yaml" })).to.equal(undefined);
  });
});

import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUF = join(ROOT, "node_modules", ".bin", "buf");

interface Scripts {
  readonly scripts: Readonly<Record<string, string>>;
}

describe("the contract of the five modules", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-contract-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** What `npm run check:breaking` says of the contract after an edit of one file. */
  async function check(file: string, edit: (text: string) => string): Promise<{ passes: boolean; said: string }> {
    await cp(join(ROOT, "proto"), join(folder, "proto"), { recursive: true });
    await cp(join(ROOT, "buf.yaml"), join(folder, "buf.yaml"));
    const path = join(folder, "proto", file);
    const text = await readFile(path, "utf8");
    const edited = edit(text);
    expect(edited, "the edit changes something").not.to.equal(text);
    await writeFile(path, edited);
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Scripts;
    const [, ...args] = scripts["check:breaking"]!.split(" ");
    const { status, stdout, stderr } = spawnSync(BUF, args, { cwd: folder, encoding: "utf8" });
    return { passes: status === 0, said: `${stdout}${stderr}` };
  }

  it("may grow", async () => {
    const grown = await check("agent/v1/agent.proto", (text) =>
      text.replace("message Release {\n", "message Release {\n  string why_so = 99;\n"),
    );
    expect(grown, grown.said).to.include({ passes: true });
  });

  for (const [what, file, edit, names] of [
    ["loses a field", "gateway/v1/gateway.proto", /  int64 stored_through = 4;\n/, "stored_through"],
    ["loses an operation", "pipeline/v1/pipeline.proto", /  rpc StopPipeline\(.*\n/, "StopPipeline"],
    ["loses a value", "steprun/v1/steprun.proto", /  STEP_RUN_STATUS_SKIPPED = 8;\n/, "StepRunStatus"],
  ] as const) {
    it(`cannot be changed unnoticed: what ${what} fails the check`, async () => {
      const { passes, said } = await check(file, (text) => text.replace(edit, ""));
      expect(passes, said).to.equal(false);
      expect(said).to.include(file).and.to.include(names);
    });
  }

  it("keeps the number of each field", async () => {
    const { passes, said } = await check("agent/v1/agent.proto", (text) =>
      text.replace("string agent_token = 2;", "string agent_token = 3;"),
    );
    expect(passes, said).to.equal(false);
  });
});

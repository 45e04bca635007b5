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

  /** The output of `npm run check:breaking` after an edit of one file. */
  async function check(file: string, edit: (text: string) => string): Promise<{ passes: boolean; output: string }> {
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
    return { passes: status === 0, output: `${stdout}${stderr}` };
  }

  it("may get new fields, messages and operations", async () => {
    const grown = await check("agent/v1/agent.proto", (text) =>
      text.replace("message Release {\n", "message Release {\n  string why_so = 99;\n"),
    );
    expect(grown, grown.output).to.include({ passes: true });
  });

  for (const [what, file, edit, names] of [
    ["removes a field", "gateway/v1/gateway.proto", /  int64 stored_through = 4;\n/, "stored_through"],
    ["removes an operation", "pipeline/v1/pipeline.proto", /  rpc StopPipeline\(.*\n/, "StopPipeline"],
    ["removes a value", "steprun/v1/steprun.proto", /  STEP_RUN_STATUS_SKIPPED = 8;\n/, "StepRunStatus"],
  ] as const) {
    it(`fails the check after a change that ${what}`, async () => {
      const { passes, output } = await check(file, (text) => text.replace(edit, ""));
      expect(passes, output).to.equal(false);
      expect(output).to.include(file).and.to.include(names);
    });
  }

  it("keeps the number of each field", async () => {
    const { passes, output } = await check("agent/v1/agent.proto", (text) =>
      text.replace("string agent_token = 2;", "string agent_token = 3;"),
    );
    expect(passes, output).to.equal(false);
  });
});

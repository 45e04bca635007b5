import { expect } from "chai";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Exit, ProcessWorld, type StartedProcess, type StartOptions } from "../support/processes.ts";

const GOOD = "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: echo } }]\n";
const WARNED = GOOD.replace("echo", '"echo ${{ trigger.ref }}"');
const BAD = "jobs:\n  - env: {}\n    stepz: []\n";

describe("validate", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
    const files = { "good.yaml": GOOD, "warned.yml": WARNED, "bad.yaml": BAD, "broken.JSON": '{ "jobs": [,] }' };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(world.folder, name), text)));
    await mkdir(join(world.folder, "folder"));
  });
  after(() => world.end());

  async function validate(args: readonly string[], options: StartOptions = {}): Promise<StartedProcess & Exit> {
    const started = world.start(["validate", ...args], { cwd: world.folder, ...options });
    return Object.assign(started, await started.exited);
  }

  it("finds no problem in a valid file, with exit status 0", async () => {
    const { code, stdout, stderr } = await validate(["good.yaml"]);
    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: "1 file checked: no problems\n", stderr: "" });
  });

  it("exits with 0 when there are only warnings", async () => {
    const { code, stdout } = await validate(["warned.yml", "good.yaml"]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^warned\.yml:3:\d+: warning: .* \[script-injection\]\n/);
    expect(stdout).to.match(/\n2 files checked: 1 warning\n$/);
  });

  it("shows all problems of all files with their places and counts, and exits with 1", async () => {
    const { code, stdout, stderr } = await validate(["bad.yaml", "good.yaml", "broken.JSON"]);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^bad\.yaml:2:5: error: .*\[missing-key\]$/m);
    expect(stdout).to.contain('bad.yaml:3:5: error: unknown key "stepz"').and.to.contain("    3 |     stepz: []\n");
    expect(stdout).to.match(/^broken\.JSON:1:1\d: error: this is not valid JSON.*\[syntax\]$/m);
    expect(stdout.trimEnd().split("\n").at(-1)).to.equal("3 files checked: 3 errors");
    expect(stderr).to.equal("");
  });

  it("validates the other files when one cannot be read, and exits with 2", async () => {
    const { code, stdout, stderr } = await validate(["missing.yaml", "bad.yaml", "folder"]);
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      "error: cannot read missing.yaml: there is no such file (ENOENT)\nerror: cannot read folder: it is a folder; name its files\n",
    );
    expect(stdout).to.contain("bad.yaml:3:5: error:");
    expect(stdout.trimEnd().split("\n").at(-1)).to.equal("1 file checked: 2 errors; 2 files could not be read");
  });

  it("reads standard input as YAML, or in the format of --format", async () => {
    const [yaml, json, wrong] = await Promise.all([
      validate(["-"], { input: BAD }),
      validate(["-", "--format", "json"], { input: BAD }),
      validate(["-", "--format", "toml"], { input: "" }),
    ]);
    expect(yaml.stdout).to.contain("<stdin>:3:5: error:");
    expect(json.stdout).to.match(/^<stdin>:1:\d+: error: this is not valid JSON/);
    expect([yaml.code, json.code, wrong.code]).to.deep.equal([1, 1, 2]);
  });

  it("refuses an endless text as too large", async () => {
    const { code, stdout } = await validate(["/dev/zero"]);
    expect(code).to.equal(1);
    expect(stdout).to.contain("[size-limit]").and.to.have.length.below(1_000);
  });

  it("prints with --json a list of files with their diagnostics, and nothing else", async () => {
    const { code, stdout, stderr } = await validate(["--json", "bad.yaml", "warned.yml", "missing.yaml"]);
    expect(code).to.equal(2);
    expect(stderr).to.equal("error: cannot read missing.yaml: there is no such file (ENOENT)\n");
    const [bad, warned, ...rest] = JSON.parse(stdout) as { file: string; valid: boolean; diagnostics: object[] }[];
    expect(rest).to.deep.equal([]);
    expect(bad).to.include({ file: "bad.yaml", valid: false }).and.to.have.keys("file", "valid", "diagnostics");
    expect(warned).to.include({ file: "warned.yml", valid: true });
    expect(bad!.diagnostics).to.have.length(2);
    expect(bad!.diagnostics[1]).to.deep.include({
      code: "unknown-key",
      severity: "error",
      pointer: "/jobs/0/stepz",
      line: 3,
      column: 5,
      endLine: 3,
      endColumn: 10,
    });
  });

  it("loads only packages that reading definitions needs", () => {
    const loaded = loadedBy(fileURLToPath(new URL("../../src/cli/commands/validate.ts", import.meta.url)));
    const packages = [...loaded].filter((name) => !name.startsWith("node:"));
    const names = new Set(packages.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]));
    expect([...names]).to.have.members(["@actions/expressions", "croner", "yaml", "zod"]);
  });
});

/** The packages that a module and its imports load. Imports of types only do not count. */
function loadedBy(file: string, seen = new Set<string>(), packages = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, name] of readFileSync(file, "utf8").matchAll(/^(?:im|ex)port (?!type )[^;]*?from "([^"]+)";/gm)) {
    if (name!.startsWith(".")) loadedBy(resolve(dirname(file), name!), seen, packages);
    else packages.add(name!);
  }
  return packages;
}

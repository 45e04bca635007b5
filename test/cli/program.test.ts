import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Exit, ProcessWorld, type StartedProcess } from "../support/processes.ts";

describe("the command line", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
  });
  after(() => world.end());

  async function outcome(args: readonly string[], env: Record<string, string> = {}): Promise<StartedProcess & Exit> {
    const started = world.start(args, { env });
    return Object.assign(started, await started.exited);
  }

  it("shows its version and its help with exit status 0", async () => {
    const [version, help] = await Promise.all([outcome(["--version"]), outcome(["--help"])]);
    expect(version.stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    expect(help.stdout).to.contain("start").and.to.contain("run").and.to.contain("serve").and.to.contain("agent");
    expect([version.code, help.code]).to.deep.equal([0, 0]);
  });

  it("shows the help of a command that `help` names, with exit status 0", async () => {
    const [all, one, unknown] = await Promise.all([
      outcome(["help"]),
      outcome(["help", "start"]),
      outcome(["help", "nope"]),
    ]);
    expect(all.stdout).to.contain("Usage: millrace [options] [command]");
    expect(one.stdout).to.contain("Usage: millrace start [options]");
    expect([all.code, one.code, unknown.code]).to.deep.equal([0, 0, 2]);
  });

  it("refuses unknown options, commands and missing arguments with exit status 2", async () => {
    const outcomes = await Promise.all([
      outcome(["start", "--nope"]),
      outcome(["nope"]),
      outcome(["run"]),
      outcome([]),
    ]);
    expect(outcomes.map(({ code }) => code)).to.deep.equal([2, 2, 2, 2]);
    expect(outcomes[0]!.stderr).to.contain("unknown option '--nope'");
    expect(outcomes[1]!.stderr).to.contain("unknown command 'nope'");
    expect(outcomes[2]!.stderr).to.contain("missing required argument 'file'");
  });

  it("says what is wrong with a command line as JSON when JSON is asked for", async () => {
    const cases: readonly (readonly [args: readonly string[], text: string])[] = [
      [["pipelines", "--limit", "0", "--json"], "It must be a whole number from 1 on."],
      [["runs", "--json", "--nope"], "unknown option '--nope'"],
      [["trigger", "--json"], "missing required argument"],
      [["runs", "--status", "sleepy", "--json"], "Allowed choices are"],
      [["secrets", "nope", "--json"], "too many arguments for 'secrets'"],
    ];
    for (const [args, text] of cases) {
      const { code, stdout, stderr } = await outcome(args);
      expect([code, stdout], args.join(" ")).to.deep.equal([2, ""]);
      const { error } = JSON.parse(stderr) as { error: { message: string } };
      expect(error).to.include({ exitStatus: 2, next: "see --help" });
      expect(error.message)
        .to.contain(text)
        .and.not.to.match(/^error/);
    }
    expect((await outcome(["runs", "--nope"])).stderr).to.match(/^error: unknown option '--nope'\n\(see --help\)/);
  });

  it("names every wrong setting at once, with exit status 2", async () => {
    const { code, stderr } = await outcome(["serve", "--roles", "cook"], { MILLRACE_GRPC_ADDRESS: "nowhere" });
    expect(code).to.equal(2);
    expect(stderr).to.contain("MILLRACE_ROLES").and.to.contain("MILLRACE_GRPC_ADDRESS");
  });

  it("prints the problems of a definition with their places, and exits with 1", async () => {
    const file = join(world.folder, "bad.yaml");
    await writeFile(file, "jobs:\n  - name: a\n    stepz: []\n");
    const { code, stderr } = await outcome(["run", file]);
    expect(code).to.equal(1);
    expect(stderr).to.contain(`${file}:3:5: error:`).and.to.contain("^^^^^");
  });

  it("refuses a missing file and a variable without a name with exit status 2", async () => {
    const [missing, nameless] = await Promise.all([
      outcome(["run", "/nowhere.yaml"]),
      outcome(["run", "x", "--var", "=1"]),
    ]);
    expect([missing.code, nameless.code]).to.deep.equal([2, 2]);
    expect(missing.stderr).to.contain("cannot read /nowhere.yaml: there is no such file (ENOENT)");
    expect(nameless.stderr).to.contain("must be name=value");
  });
});

/** The scripts of `millrace completion`, in the shells that this machine has. bash must be there. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { ProcessWorld } from "../support/processes.ts";

describe("completion", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => (world = await ProcessWorld.create()));
  after(() => world.end());

  async function scriptFor(shell: string): Promise<string> {
    const started = world.start(["completion", shell]);
    expect(await started.exited, started.stderr).to.deep.equal({ code: 0, signal: null });
    return started.stdout;
  }

  it("completes commands, commands of groups, and options in bash", async () => {
    const script = await scriptFor("bash");
    /** What bash offers behind these words. */
    const offered = async (...words: readonly string[]) => {
      const ask = `${script}\nCOMP_WORDS=(millrace "$@"); COMP_CWORD=$#; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await promisify(execFile)("bash", ["-c", ask, "bash", ...words]);
      return stdout.trim().split("\n");
    };
    expect(await offered("pipe")).to.deep.equal(["pipelines"]);
    expect(await offered("pipelines", "s")).to.deep.equal(["statuses", "save", "show"]);
    expect(await offered("pipelines", "save", "--m")).to.deep.equal(["--message"]);
    expect(await offered("trigger", "hello", "--wa")).to.deep.equal(["--watch"]);
    expect(await offered("contexts", "--json", "u")).to.deep.equal(["use"]);
    expect(await offered("users", "")).to.include.members(["invite", "make-owner", "--json"]);
  });

  for (const [shell, check] of [
    ["zsh", ["-n"]],
    ["fish", ["--no-execute"]],
  ] as const) {
    it(`names every command in the script for ${shell}, which is well-formed where ${shell} is installed`, async () => {
      const script = await scriptFor(shell);
      for (const word of ["pipelines", "trigger", "invite", "make-owner", "watch"]) expect(script).to.contain(word);
      const checked = promisify(execFile)(shell, [...check, "-c", script]).then(
        () => "",
        (error: NodeJS.ErrnoException & { readonly stderr?: string }) => (error.code === "ENOENT" ? "" : error.stderr),
      );
      expect(await checked).to.equal("");
    });
  }
});

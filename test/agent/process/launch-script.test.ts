/** The launch script, read by every shell of this machine that can be `/bin/sh`. */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { expect } from "chai";
import { checkLaunch, launchScript } from "../../../src/agent/process/launch-script.ts";
import { MillraceError } from "../../../src/domain/errors.ts";

type Shell = readonly [program: string, ...args: string[]];

/** Command lines that make each shell behave as `sh`, for the shells of this machine. */
const SHELLS = ([["/bin/sh"], ["dash"], ["bash"], ["busybox", "sh"]] as readonly Shell[]).filter(
  ([program, ...args]) => spawnSync(program, [...args, "-c", "exit 0"]).error === undefined,
);

/** A program that prints its arguments and variables exactly. */
const SHOW = [
  process.execPath,
  "-e",
  "console.log(JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(1), env: process.env }))",
] as const;

describe("the launch script", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-order-"));
    await writeFile(join(folder, "permit"), "");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const launch = (command: readonly [string, ...string[]], env: Record<string, string>, cwd = folder) => ({
    command,
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdout: join(folder, "out"),
    stderr: join(folder, "err"),
    leaseMark: "",
    permitFile: join(folder, "permit"),
  });

  async function runScript([program, ...args]: Shell, script: string): Promise<number | null> {
    const shell = spawn(program, [...args, "-s", "one", "two"], {
      argv0: args.length > 0 ? program : "sh",
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    shell.stdin.on("error", () => {});
    shell.stdin.write("true before\n");
    shell.stdin.end(script);
    const [code] = await once(shell, "exit");
    return code as number | null;
  }

  for (const shell of SHELLS) {
    it(`makes ${shell.join(" ")} pass every argument, variable and folder exactly`, async () => {
      // Every byte that a text can hold, above all those that have a meaning in shells or that shells use internally.
      const odd = Array.from({ length: 0x17f }, (_, index) => String.fromCodePoint(index + 1)).join("");
      const env = {
        PLAIN: "x",
        ODD: odd,
        QUOTED: `'"\\'$(exit 3)\`exit 4\`'\n\n`,
        EMPTY: "",
        IFS: "abc",
        UID: "4711",
        PPID: "1",
        OPTIND: "none",
        BASH_ENV: "/nowhere",
        PS4: "$(exit 5)",
        LC_ALL: "C",
      };
      const args = ["", "-n", "a b", "*", odd, "--", "'", "\n"];
      const cwd = join(folder, "it's\n$here");
      await mkdir(cwd);
      const code = await runScript(shell, launchScript(launch([...SHOW, "--", ...args], env, cwd)));
      expect(code, await readFile(join(folder, "err"), "utf8").catch(() => "no output")).to.equal(0);
      const seen = JSON.parse(await readFile(join(folder, "out"), "utf8")) as Record<string, unknown>;
      const { PWD: _pwd, _: _last, SHLVL: _level, ...others } = seen["env"] as Record<string, string>;
      expect(seen["args"]).to.deep.equal(args);
      expect(seen["cwd"]).to.equal(cwd);
      expect(others).to.deep.equal({ ...env, PATH: process.env["PATH"] });
    });

    it(`makes ${shell.join(" ")} open the file for standard input, or an empty input without one`, async () => {
      const stdin = join(folder, "it's input");
      await writeFile(stdin, "one\ntwo");
      for (const [given, read] of [
        [{ stdin }, "one\ntwo"],
        [{}, ""],
      ] as const) {
        expect(await runScript(shell, launchScript({ ...launch(["cat"], {}), ...given }))).to.equal(0);
        expect(await readFile(join(folder, "out"), "utf8")).to.equal(read);
      }
    });

    it(`makes ${shell.join(" ")} start nothing without the permit`, async () => {
      await rm(join(folder, "permit"));
      const code = await runScript(shell, launchScript(launch(["touch", join(folder, "started")], {})));
      expect(code).to.equal(125);
      expect(await readFile(join(folder, "started")).catch(() => "missing")).to.equal("missing");
    });
  }

  it("is refused for arguments and variables that no process can get", () => {
    const cases: [Parameters<typeof checkLaunch>[0], RegExp][] = [
      [{ command: ["true", "a\0b"], env: {} }, /null bytes/],
      [{ command: ["true"], env: { NUL: "\0" } }, /null bytes/],
    ];
    if (process.platform === "linux") {
      cases.push([{ command: ["true"], env: { SECRET: "s".repeat(200_000) } }, /^E2BIG: .* "SECRET" is longer/]);
      cases.push([{ command: ["true", "ä".repeat(65_536)], env: {} }, /^E2BIG: the argument 1 is longer/]);
    }
    for (const [asked, reason] of cases) {
      expect(() => checkLaunch(asked))
        .to.throw(MillraceError, reason)
        .with.property("reason", "malformed_request");
    }
    checkLaunch({ command: ["true", "x".repeat(131_071)], env: { X: "x".repeat(131_000) } });
  });
});

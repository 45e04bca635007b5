/** The units for systemd: checked by systemd itself where it is found, and read here in any case. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { KNOWN_VARIABLES } from "../../src/settings/config.ts";

const folder = (path: string) => fileURLToPath(new URL(`../../${path}/`, import.meta.url));
const UNITS = ["ops/systemd", "examples/agent"].flatMap((path) =>
  readdirSync(folder(path)).flatMap((name) => (name.endsWith(".service") ? [join(folder(path), name)] : [])),
);
const SYSTEMD = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].find((path) => existsSync(path));
const SECTIONS = ["Unit", "Service", "Install"];

type Unit = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Reads a unit. Throws for a line that is neither a comment, nor a section, nor an assignment in one. */
function parseUnit(text: string): Unit {
  const unit: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> | undefined;
  for (const [at, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([A-Z]\w*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && SECTIONS.includes(name) && !(name in unit)) section = unit[name] = {};
    else if (section !== undefined && key !== undefined) (section[key] ??= []).push(value!);
    else throw new Error(`line ${at + 1} is no line of a unit: ${line}`);
  }
  return unit;
}

describe("units for systemd", function () {
  this.timeout(30_000);

  for (const file of UNITS) {
    it(`start the program with settings that it knows, without more rights than it needs: ${file.split("/").at(-1)}`, () => {
      const { Service: service = {}, Install: install = {} } = parseUnit(readFileSync(file, "utf8"));
      const [command = ""] = service["ExecStart"] ?? [];
      expect(command).to.match(/^\/usr\/bin\/node \/opt\/millrace\/dist\/src\/main\.js (serve|agent|autoscale)\b/);
      const variables = (service["Environment"] ?? []).flatMap((line) =>
        line.split(" ").map((pair) => pair.split("=")[0]!),
      );
      expect([...KNOWN_VARIABLES, "NODE_ENV"]).to.include.members(variables);
      for (const [key, value] of Object.entries({
        NoNewPrivileges: "yes",
        ProtectSystem: "strict",
        ProtectHome: "yes",
        CapabilityBoundingSet: "",
        Restart: "always",
      })) {
        expect(service[key], key).to.deep.equal([value]);
      }
      expect(install["WantedBy"]).to.deep.equal(["multi-user.target"]);
    });
  }

  it("are refused when a line is wrong", () => {
    expect(() => parseUnit("[Service]\nExecStart /usr/bin/node")).to.throw("line 2");
    expect(() => parseUnit("[Servce]\nUser=a")).to.throw("line 1");
  });

  it("pass systemd's own check, which finds a wrong key", async function () {
    if (SYSTEMD === undefined) return this.skip();
    const root = await mkdtemp(join(tmpdir(), "millrace-units-"));
    try {
      for (const file of UNITS) {
        const name = file.split("/").at(-1)!.replace("@.", "@main.");
        // The program and its users are not on this machine.
        const text = readFileSync(file, "utf8")
          .replace(/^ExecStart=\S+ \S+/m, "ExecStart=/bin/true")
          .replace(/^(User|Group)=.*\n/gm, "");
        expect(verify(join(root, name), text), name).to.equal("");
        expect(verify(join(root, name), text.replace("KillMode=", "KilMode=")), name).to.match(/Unknown key.*KilMode/);
      }
    } finally {
      await rm(root, { recursive: true, force: true });
    }

    function verify(path: string, text: string): string {
      writeFileSync(path, text);
      try {
        return execFileSync("/bin/sh", ["-c", '"$1" verify --man=no "$2" 2>&1', "sh", SYSTEMD!, path], {
          encoding: "utf8",
        });
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    }
  });
});

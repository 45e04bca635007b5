import { expect } from "chai";
import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { type ConformanceReport } from "../../src/cli/conformance/report.ts";
import { ProcessWorld, PROGRAM, type StartedProcess } from "../support/processes.ts";

const OWN_AGENT = [process.execPath, PROGRAM, "agent"];

describe("agent-conformance", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  beforeEach(async () => void (world = await ProcessWorld.create()));
  afterEach(() => world.end());

  async function ended(suite: StartedProcess): Promise<{ code: number | null; report: ConformanceReport }> {
    const { code } = await suite.exited;
    expect(suite.stdout, suite.stderr).to.match(/^\{/);
    return { code, report: JSON.parse(suite.stdout) as ConformanceReport };
  }

  it("is passed by the agent of this project, and leaves nothing behind", async () => {
    const { code, report } = await ended(world.start(["agent-conformance", "--json", "--", ...OWN_AGENT]));
    expect(report.cases.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(report).to.include({ passed: report.cases.length, failed: 0, skipped: 0 });
    expect(report.passed).to.be.at.least(19);
    expect(await world.alive()).to.deep.equal([]);
    expect((await readdir(world.folder)).filter((name) => name.startsWith("millrace-"))).to.deep.equal([]);
  });

  it("waits for an agent that the user starts, and skips cases that need its command", async () => {
    const suite = world.start(["agent-conformance", "--json", "--only", "takes no more jobs"]);
    const printed = await suite.prints(/MILLRACE_REGISTRATION_TOKEN=.+\n/);
    const valueOf = (name: string) => new RegExp(`${name}=(.+)`).exec(printed)![1]!;
    const agent = world.start(["agent"], {
      env: {
        MILLRACE_GATEWAY: valueOf("MILLRACE_GATEWAY"),
        MILLRACE_REGISTRATION_TOKEN: valueOf("MILLRACE_REGISTRATION_TOKEN"),
        MILLRACE_DATA_DIR: join(world.folder, "agent"),
      },
    });
    const { code, report } = await ended(suite);
    expect(report.cases.map(({ outcome }) => outcome)).to.deep.equal(["passed", "skipped"]);
    expect(code).to.equal(0);
    agent.kill("SIGKILL");
  });

  it("is failed by an agent inside a shell, since SIGTERM ends only the shell", async () => {
    const argv = ["sh", "-c", '"$@"; exit 0', "sh", ...OWN_AGENT];
    const { code, report } = await ended(
      world.start(["agent-conformance", "--json", "--only", "takes no more jobs", "--", ...argv]),
    );
    expect(report.cases.map(({ outcome }) => outcome)).to.deep.equal(["passed", "failed"]);
    expect(report.cases[1]!.detail).to.equal("expected: the agent ends with exit status 0, not SIGTERM");
    expect(code).to.equal(1);
    expect(await world.alive()).to.deep.equal([]);
  });

  it("is failed at once by a program that is not an agent, whose output is shown", async () => {
    const suite = world.start(["agent-conformance", "--", "sh", "-c", "echo no agent at all; exit 4"]);
    expect((await suite.exited).code).to.equal(1);
    expect(suite.stdout).to.include("FAIL registers and says hello").and.include("0 passed, 1 failed, 0 skipped");
    expect(suite.stderr).to.include("no agent at all");
  });

  it("refuses an invalid address", async () => {
    const odd = world.start(["agent-conformance", "--address", "nowhere"]);
    expect((await odd.exited).code).to.equal(2);
    expect(odd.stderr).to.include("host:port");
  });
});

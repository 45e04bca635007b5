/** `millrace agent`: the sources of its settings. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ProcessWorld } from "../support/processes.ts";

describe("the settings of an agent", function () {
  this.timeout(30_000);
  let world: ProcessWorld;
  let file: string;
  before(async () => {
    world = await ProcessWorld.create();
    file = join(world.folder, "agent.yaml");
  });
  after(() => world?.end());

  it("come from options, then the environment, then the file, and are shown without secrets", async () => {
    await writeFile(file, "registration-token: hunter2\nname: of-file\nslots: 2\nlog-level: warn\nlabels: { a: b }\n");
    const env = { MILLRACE_AGENT_CONFIG: file, MILLRACE_AGENT_SLOTS: "3", MILLRACE_AGENT_NAME: "of-environment" };
    const shown = world.start(["agent", "--slots", "4", "--min-free-disk", "5%", "--print-config"], { env });
    expect(await shown.exited).to.include({ code: 0 });
    expect(JSON.parse(shown.stdout)).to.deep.include({
      name: "of-environment",
      slots: 4,
      labels: { a: "b" },
      facts: true,
      registrationToken: "(set)",
      gateway: "127.0.0.1:9090",
      drainTimeoutMs: 25_000,
      logLevel: "warn",
    });
    expect(shown.stdout + shown.stderr).not.to.include("hunter2");
  });

  it("are refused with every problem, and exit status 2", async () => {
    await writeFile(file, "slots: 0\nsecurty: tls\n");
    const refused = world.start(["agent", "--config", file]);
    expect(await refused.exited).to.include({ code: 2 });
    expect(refused.stderr).to.include(`${file}:1:8: slots must be from 1 to 1000`);
    expect(refused.stderr).to.include(`${file}:2:1: unknown key "securty"`);
    const missing = world.start(["agent", "--config", `${file}.not`]);
    expect(await missing.exited).to.include({ code: 2 });
    expect(missing.stderr).to.include(`cannot read the agent's config file ${file}.not (ENOENT)`);
  });

  it("cause a warning when a folder of plugins does not exist", async () => {
    const env = { MILLRACE_DATA_DIR: join(world.folder, "agent") };
    const dirs = [world.folder, join(world.folder, "not-there")];
    const agent = world.start(["agent", "--gateway", "127.0.0.1:1", "--plugin-dirs", dirs.join(",")], { env });
    await agent.exited;
    expect(agent.stderr.match(/"dir":"[^"]*"/g)).to.deep.equal([`"dir":"${dirs[1]}"`]);
  });

  it("cause a warning when every user can read the token in the file", async () => {
    await writeFile(file, "gateway: 127.0.0.1:1\nregistration-token: hunter2\n");
    await chmod(file, 0o644);
    const env = { MILLRACE_DATA_DIR: join(world.folder, "agent") };
    const open = world.start(["agent", "--config", file], { env });
    await open.prints("cannot register yet");
    expect(open.stdout + open.stderr).to.match(/"gateway":"[^"]*127\.0\.0\.1:1"/);
    expect(open.stderr).to.include(`every user of this machine can read the token in ${file}: chmod 600 it`);
    open.kill("SIGTERM");
    expect(await open.exited).to.include({ code: 0 });
    await chmod(file, 0o600);
    const closed = world.start(["agent", "--config", file], { env });
    await closed.prints("cannot register yet");
    expect(closed.stderr).not.to.include("can read the token").and.not.include("hunter2");
    closed.kill("SIGTERM");
    expect(await closed.exited).to.include({ code: 0 });
  });
});

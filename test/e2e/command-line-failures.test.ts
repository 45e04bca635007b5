/** The commands that call a server, where the server is another program, refuses, or does not answer. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ProcessWorld } from "../support/processes.ts";
import { ScriptedServer, refuse, succeed } from "../support/scripted-server.ts";

describe("the command line at a server that is none, or that refuses", function () {
  this.timeout(30_000);
  let world: ProcessWorld;
  let server: ScriptedServer;
  before(async () => {
    world = await ProcessWorld.create();
    server = await ScriptedServer.start();
  });
  after(async () => {
    await server?.close();
    await world?.end();
  });
  async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
    const started = world.start(args, { env: { XDG_CONFIG_HOME: join(world.folder, "config"), ...env } });
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }
  const at = (args: readonly string[]) => run(args, { MILLRACE_URL: server.url, MILLRACE_TOKEN: "t" });

  it("says that the server is no millrace when it answers with a page", async () => {
    server.answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    const { code, stderr } = await at(["pipelines"]);
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain("did not answer as millrace does: HTTP 200, text/html")
      .and.to.contain("next: check the address");
  });

  it("waits as 429 asks and says so, and gives up when the wait is too long", async () => {
    let calls = 0;
    server.answer = (_, response) => {
      if (++calls === 1) refuse(response, 429, "too_many", { "retry-after": "1" });
      else succeed(response, { list: [], total: 0 });
    };
    const waited = await at(["agents"]);
    expect(waited).to.include({ code: 0 });
    expect(waited.stderr).to.contain("trying again in 1 s");
    server.answer = (_, response) => refuse(response, 429, "too_many", { "retry-after": "7200" });
    const refused = await at(["agents"]);
    expect(refused).to.include({ code: 6 });
    expect(refused.stderr).to.contain("next: wait 7200 s, and repeat the command");
  });

  it("shows control characters in names and errors as escapes", async () => {
    const name = "evil\u001b]0;owned\u0007\u202eeman\u009b2J\nline";
    const agent = {
      agentId: "agt",
      name,
      labels: {},
      trusted: [],
      overruled: {},
      slots: 1,
      version: "1",
      online: true,
      busy: 0,
    };
    server.answer = (_, response) => succeed(response, { list: [agent], total: 1 });
    const escaped = String.raw`evil\u001b]0;owned\u0007\u202eeman\u009b2J\nline`;
    expect((await at(["agents"])).stdout).to.contain(escaped);
    const machine = (await at(["agents", "--json"])).stdout;
    expect(machine).to.contain(escaped);
    expect(JSON.parse(machine)[0].name, "JSON keeps the value").to.equal(name);
    server.answer = (_, response) => refuse(response, 409, "\u001b[2J" as string);
    // oxlint-disable-next-line no-control-regex
    expect((await at(["agents"])).stderr).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it("is not asked for what cannot be there, and programs get each failure as JSON", async () => {
    server.answer = (_, response) => refuse(response, 500, "internal");
    const name = await at(["secrets", "delete", ".."]);
    expect([name.code, name.stderr]).to.deep.equal([2, 'error: nothing on a server can have the name ".."\n']);
    const file = join(world.folder, "bad.yaml");
    await writeFile(file, "jobs:\n  - name: greet\n    stepz: []\n");
    const saved = await at(["pipelines", "save", "one", file, "--json"]);
    expect([saved.code, saved.stdout]).to.deep.equal([1, ""]);
    const { error } = JSON.parse(saved.stderr);
    expect(error).to.include({ exitStatus: 1, reason: "invalid_definition" });
    expect(error.problems[0]).to.include({ code: "unknown-key", pointer: "/jobs/0/stepz", line: 3, column: 5 });
  });

  it("ends with a next step when nothing listens", async () => {
    const { code, stderr } = await run(["agents"], { MILLRACE_URL: "http://127.0.0.1:1", MILLRACE_TOKEN: "t" });
    expect(code).to.equal(6);
    expect(stderr).to.contain("127.0.0.1:1 does not answer").and.to.contain("next: check that the server runs");
  });
});

/** Options of commands that call a server, against one installation in real processes. */
import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";

describe("options of the command line for a server", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    world = await ProcessWorld.create();
    const installation = await EmbeddedInstallation.create(world);
    const { http } = await installation.serve(join(world.folder, "data"));
    await installation.agent("one");
    env = {
      XDG_CONFIG_HOME: join(world.folder, "config"),
      MILLRACE_URL: `http://${http}`,
      MILLRACE_TOKEN: installation.adminToken,
    };
  });
  after(() => world.end());

  async function run(args: readonly string[], input = "") {
    const started = world.start(args, { env, input });
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function json(args: readonly string[], input = ""): Promise<any> {
    const { code, stdout, stderr } = await run([...args, "--json"], input);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  }

  it("name a GitHub App, whose key comes from standard input and is not shown", async () => {
    const app = ["secrets", "set-github-app", "APP", "--app", "12345", "--installation", "678"];
    const wrong = await run(app, "no key");
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.contain("send the .pem file of the App");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
    expect((await run(app, pem)).stdout).to.contain("set APP, version 1\n");
    await json(["secrets", "delete", "APP"]);
  });

  it("are not needed at the wrong turns of a newcomer, where each command names the next step", async () => {
    const url = env["MILLRACE_URL"]!;
    const good = `jobs: [{ name: one, steps: [{ uses: shell, args: { script: "true" } }] }]`;
    const created = await run(["pipelines", "create", "fresh"]);
    expect(created.stdout).to.contain("\nnext: millrace pipelines save fresh FILE\n");
    for (const [args, code] of [
      [["trigger", "fresh"], 1],
      [["pipelines", "show", "fresh"], 5],
    ] as const) {
      expect(await run(args)).to.deep.equal({
        code,
        stdout: "",
        stderr: "error: the pipeline fresh has no definition\nnext: millrace pipelines save fresh FILE\n",
      });
    }
    const wrong = await run(["pipelines", "save", "fresh", "-"], "jobz: []");
    expect(wrong).to.include({ code: 1, stdout: "" });
    expect(wrong.stderr).to.match(/\nnext: correct <stdin>, and save again\n$/);
    expect((await run(["pipelines", "save", "fresh", "-"], good)).stdout).to.match(
      /^saved fresh as rev_\w+\nnext: millrace trigger fresh --watch\n$/,
    );
    expect((await run(["pipelines", "save", "fresh", "-"], good)).stdout).to.contain("has this definition already");
    expect((await run(["pipelines", "create", "fresh"])).stderr).to.contain("\nnext: choose another name");
    await json(["pipelines", "delete", "fresh"]);

    const [first = "", ...lines] = (await run(["whoami"])).stdout.trimEnd().split("\n");
    expect(first).to.equal(`admin on ${url}`);
    expect(lines.map((line) => line.split(" ")[0]).filter((word) => word !== "")).to.deep.equal([
      "role",
      "scopes",
      "reads",
      "writes",
      "creates",
      "manages",
      "deletes",
      "also",
    ]);

    expect(await run(["login", url, "--with-token", "--context", "spare"], env["MILLRACE_TOKEN"])).to.include({
      code: 0,
    });
    const { XDG_CONFIG_HOME } = env;
    await rm(join(XDG_CONFIG_HOME!, "millrace", "current"));
    const lost = world.start(["runs"], { env: { XDG_CONFIG_HOME: XDG_CONFIG_HOME! } });
    expect((await lost.exited).code).to.equal(3);
    expect(lost.stderr).to.contain("next: millrace contexts use NAME (the contexts are spare), or millrace login URL");
  });

  it("create a project in the tenant that has the name or the id", async () => {
    const { tenantId } = (await json(["api", "POST", "/tenants", "--field", "name=Mall"])).detail;
    expect(await json(["projects", "create", "Cellar", "--tenant", "Mall"])).to.include({ name: "Cellar", tenantId });
    expect(await json(["projects", "create", "Attic", "--tenant", tenantId])).to.include({ name: "Attic", tenantId });
    const homeless = await run(["projects", "create", "Roof", "--tenant", "Maul"]);
    expect(homeless).to.include({ code: 5 });
    expect(homeless.stderr).to.contain('no tenant "Maul"').and.to.contain("millrace api GET /tenants");
  });

  it("list the runs of a user, and say of a name without runs where names stand", async () => {
    expect(await json(["runs", "--by", "noone"])).to.deep.equal([]);
    expect((await run(["runs", "--by", "noone"])).stdout).to.match(/^no runs by noone: .*`millrace users`\n$/);
  });

  it("search the log of a run, with the lines around each match", async () => {
    const step = { name: "say", uses: "shell", args: { script: "seq 1 30" } };
    await json(["pipelines", "create", "counting"]);
    const spec = JSON.stringify({ jobs: [{ name: "hello", steps: [step] }] });
    await json(["pipelines", "save", "counting", "-", "--format", "json"], spec);
    await run(["trigger", "counting", "--watch"]);
    const search = async (...options: string[]) => {
      const { stdout } = await run(["logs", "counting", "--search", "4", ...options]);
      return stdout.replaceAll("default/hello/say | ", "").trimEnd().split("\n");
    };
    expect(await search()).to.deep.equal(["4", "14", "24"]);
    expect(await search("--around", "1")).to.deep.equal([
      "3",
      "4",
      "5",
      "--",
      "13",
      "14",
      "15",
      "--",
      "23",
      "24",
      "25",
    ]);
    const joined = await search("-C", "5");
    expect(joined, "lines near two matches once").to.deep.equal(Array.from({ length: 29 }, (_, at) => `${at + 1}`));
    expect(await run(["logs", "counting", "--search", "4", "-C", "11"])).to.include({ code: 2, stdout: "" });
    expect(await run(["logs", "counting", "--search", "forty"])).to.include({ code: 1, stdout: "" });
  });
});

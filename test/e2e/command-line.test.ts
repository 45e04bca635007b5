/**
 * The commands that call a server, against one installation in real processes, as people and scripts use them. The walk of
 * docs/getting-started.md runs in test/docs/shell-blocks.test.ts.
 */
import { expect } from "chai";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoginTokens } from "../../clients/typescript/src/index.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const PASSWORD = "a good password of bea";

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("the command line for a server", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let url: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    const { http } = await installation.serve(join(world.folder, "data"));
    url = `http://${http}`;
    await installation.agent("one");
    expect(await run(["login", url, "--with-token", "--context", "admin"], installation.adminToken)).to.include({
      code: 0,
    });
  });
  after(() => world.end());
  // A login makes its context the current one.
  beforeEach(() => writeFile(join(config(), "millrace", "current"), "admin\n"));

  const config = () => join(world.folder, "config");
  const contextFile = (name: string) => join(config(), "millrace", "contexts", `${name}.json`);

  function start(args: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): StartedProcess {
    return world.start(args, { env: { XDG_CONFIG_HOME: config(), ...env }, input });
  }

  async function run(
    args: readonly string[],
    input = "",
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const started = start(args, input, env);
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }

  /** The JSON that a command prints with `--json`, which must succeed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function json(args: readonly string[], input = ""): Promise<any> {
    const { code, stdout, stderr } = await run([...args, "--json"], input);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  }

  /** Makes a pipeline without a process for each call: other tests make theirs by commands. */
  async function pipeline(name: string, script: string): Promise<void> {
    await installation.pipeline(name, [{ name: "hello", steps: [{ name: "say", uses: "shell", args: { script } }] }]);
  }

  it("saves a definition as it was typed, with its comments", async () => {
    const typed = `# new\njobs:\n    - name: hello # one\n      steps: [{ uses: shell, args: { script: "true" } }]\n`;
    await pipeline("commented", "true");
    await json(["pipelines", "save", "commented", "-"], typed);
    expect((await run(["pipelines", "show", "commented"])).stdout).to.equal(typed);
    await json(["pipelines", "delete", "commented"]);
  });

  it("keeps credentials in files that only the user may read, and shows them nowhere", async () => {
    expect((await stat(contextFile("admin"))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(config(), "millrace", "contexts"))).mode & 0o777).to.equal(0o700);
    for (const args of [["contexts"], ["contexts", "--json"], ["whoami"]]) {
      const { code, stdout, stderr } = await run(args);
      expect(code).to.equal(0);
      expect(stdout + stderr).not.to.contain(installation.adminToken);
    }
    await chmod(contextFile("admin"), 0o644);
    const refused = await run(["whoami"]);
    expect(refused).to.include({ code: 2 });
    expect(refused.stderr).to.contain("other users of this machine may read").and.to.contain("chmod 600");
    await chmod(contextFile("admin"), 0o600);
  });

  it("invites a user who chooses a password at the command line and may read, but not trigger", async () => {
    await pipeline("hello", "echo good morning");
    const { link } = await json(["users", "invite", "bea", "--role", "viewer"]);
    const weak = await run(["login", "--link", link, "--context", "bea"], "short");
    expect(weak).to.include({ code: 1 });
    expect(weak.stderr).to.contain("at least 12 characters").and.to.contain("next: choose another password");
    expect(await json(["login", "--link", link, "--context", "bea"], PASSWORD)).to.deep.include({ user: "bea" });
    const used = await run(["login", "--link", link, "--context", "other"], PASSWORD);
    expect(used.stderr).to.contain("was used").and.to.contain("ask an administrator for a new link");

    const list = await json(["pipelines", "--context", "bea"]);
    expect(list.map(({ name }: { name: string }) => name)).to.deep.equal(["hello"]);
    const refused = await run(["trigger", "hello", "--context", "bea"]);
    expect(refused).to.include({ code: 4, stdout: "" });
    expect(refused.stderr).to.match(/^error: this operation needs the role operator.*\nnext: .*higher role\n$/);
    const machine = await run(["trigger", "hello", "--context", "bea", "--json"]);
    expect(JSON.parse(machine.stderr)).to.have.nested.include({ "error.reason": "forbidden", "error.exitStatus": 4 });
    expect(machine.stdout).to.equal("");
    await json(["contexts", "use", "admin"]);
    const sessions = await installation.call(
      "GET",
      `/users/${(await json(["users"])).find((user: { name: string }) => user.name === "bea").userId}/sessions`,
    );
    expect(sessions.body.detail.list, "the browser's session of the link has ended").to.have.length(1);
  });

  it("invites a user into one project alone", async () => {
    const made = await json(["users", "invite", "carl", "--in-project", "default=operator", "--days", "1"]);
    expect(made.user.role).to.equal(null);
    const members = await json(["projects", "members", "default"]);
    expect(members[0]).to.include({ name: "carl", role: "operator" });
    expect((await run(["users", "invite", "dora"])).stderr).to.contain("--in-project");
    expect((await run(["users", "invite", "dora", "--in-tenant", "default=chief"])).stderr).to.contain("NAME=ROLE");
    await json(["users", "delete", "carl"]);
    const token = await json(["tokens", "create", "narrow", "--project", "default"]);
    expect(token.projects).to.deep.equal(["default"]);
  });

  it("triggers and watches runs, and exits as they end", async () => {
    await pipeline("broken", "echo to the log; exit 3");
    const good = await run(["trigger", "hello", "--watch", "--logs"]);
    expect(good.code, good.stderr).to.equal(0);
    expect(good.stdout).to.contain("default/hello/say | good morning").and.to.contain("✔ hello  success");
    const bad = await run(["trigger", "broken", "--watch", "--json"]);
    expect(bad.code).to.equal(1);
    expect(JSON.parse(bad.stdout)).to.include({ status: "failed" });
    expect((await run(["logs", "broken"])).stdout).to.equal("default/hello/say | to the log\n");
    const [line] = (await run(["logs", "broken", "--json"])).stdout.trim().split("\n");
    expect(JSON.parse(line!)).to.include({ job: "hello", step: "say", line_number: 1, content: "to the log" });
    const unknown = await run(["logs", "broken", "--job", "hallo"]);
    expect(unknown).to.include({ code: 5, stdout: "" });
    expect(unknown.stderr).to.match(/^error: run run_\w+ has no job "hallo"\nnext: its jobs are hello\n$/);
    const again = await run(["rerun", "broken", "--failed", "--watch"]);
    expect(again).to.include({ code: 1 });
    expect(again.stdout).to.contain("attempt 2");
    const runs = await json(["runs", "broken"]);
    expect(runs.map(({ attempt }: { attempt: number }) => attempt)).to.deep.equal([2, 1]);
    expect(await json(["runs", "broken", "--status", "success"])).to.deep.equal([]);
    expect((await run(["runs", "show", runs[0].runId])).stdout).to.contain("✘ broken  failed");
    const all = await run(["runs", "--status", "failed", "--status", "success", "--since", "1h", "--mine"]);
    const shown = all.stdout.split("\n").map((row) => row.split(/ +/));
    expect(
      shown.slice(1, -1).map(([name, , status]) => [name, status]),
      "of all pipelines, the newest first",
    ).to.deep.equal([
      ["broken", "failed"],
      ["broken", "failed"],
      ["hello", "success"],
    ]);
    expect(await json(["runs", "--by", "bea"])).to.deep.equal([]);
    expect(await json(["runs", "--limit", "1"])).to.have.length(1);
    expect(await run(["runs", "--since", "yesterday"])).to.include({ code: 2 });
  });

  it("changes settings and variables, sends files, and shows who did it", async () => {
    const set = await run(["settings", "set", "log.lines", "5000", "--project", "default"]);
    expect(set, set.stderr).to.include({ code: 0, stdout: "log.lines is 5000, from the level project\n" });
    await json(["settings", "set", "jobs.api", "read", "--project", "default"]);
    const unset = await json(["settings", "unset", "jobs.api", "--project", "default"]);
    const own = unset.settings.filter((one: { own: boolean }) => one.own);
    expect(own).to.deep.equal([{ name: "log.lines", value: 5_000, source: "project", own: true }]);
    const wrong = await run(["settings", "set", "log.line", "1"]);
    expect(wrong).to.include({ code: 2 });
    expect(wrong.stderr).to.contain("the settings are retention.runs");
    await json(["variables", "set", "REGION", "north = up"]);
    expect((await run(["variables"])).stdout).to.match(/^NAME +VALUE +CHANGED +BY\nREGION +north = up +\S+ +admin\n$/);
    expect(await json(["variables", "--tenant", "default"])).to.deep.equal([]);

    // More than one part.
    const content = Buffer.alloc(9 * 1_024 * 1_024, "0123456789");
    const [file, copy] = [join(world.folder, "digits.txt"), join(world.folder, "copy.txt")];
    await writeFile(file, content);
    const { uploadId } = await json(["uploads", "put", file, "--type", "text/plain"]);
    expect(await run(["uploads", "get", uploadId, "--output", copy])).to.include({ code: 0 });
    expect((await readFile(copy)).equals(content)).to.equal(true);
    expect(await json(["uploads"])).to.have.nested.property("[0].status", "stored");
    await json(["uploads", "delete", uploadId]);
    expect(await run(["uploads", "get", uploadId])).to.include({ code: 5 });

    const shown = await run(["audit", "--operation", "setProjectSettings", "--since", "1h"]);
    expect(shown.stdout).to.contain("jobs.api: read -> null").and.to.contain("log.lines: null -> 5000");
    const lines = (await run(["audit", "export", "--operation", "putProjectVariable"])).stdout.trim().split("\n");
    const entries = lines.map((line) => JSON.parse(line));
    expect(entries.map(({ object, before, after }) => [object, before, after])).to.deep.equal([
      [{ kind: "variable", id: "project/default/REGION", name: "REGION" }, null, { bytes: 10 }],
    ]);
    expect((await json(["system-events", "--objects", "variable"]))[0].type).to.equal("svc.variable.created");
    const stats = await run(["stats", "hello"]);
    expect(stats, stats.stderr).to.include({ code: 0 });
    expect(stats.stdout).to.match(/^NAME +ENDED +SUCCESS +FLAKY +P50 +P95 +AGENT P95\nhello +\d/);
  });

  it("sends files and gives them to the run that it triggers, once for all repeats", async () => {
    const steps = [
      { uses: "upload", args: { name: "NOTE", as: "note" } },
      { name: "say", uses: "shell", args: { script: "cat note" } },
    ];
    await json(["pipelines", "create", "noted"]);
    await json(
      ["pipelines", "save", "noted", "-", "--format", "json"],
      JSON.stringify({ jobs: [{ name: "j", steps }] }),
    );
    const file = join(world.folder, "note.txt");
    await writeFile(file, "a note\n");
    const wrong = await run(["trigger", "noted", "--upload", `a-b=${file}`]);
    expect([wrong.code, wrong.stderr]).to.deep.equal([
      2,
      `error: --upload a-b=${file}: must be NAME=FILE or NAME=ID of an upload\n`,
    ]);
    const first = ["trigger", "noted", "--upload", `NOTE=${file}`, "--request-id", "note-1"];
    const { runId } = await json(first);
    expect((await json(first)).runId).to.equal(runId);
    const [upload, ...others] = await json(["uploads"]);
    expect(others).to.deep.equal([]);
    const shown = await run(["trigger", "noted", "--upload", `NOTE=${upload.uploadId}`, "--watch", "--logs"]);
    expect(shown.code, shown.stderr).to.equal(0);
    expect(shown.stdout).to.contain("default/j/say | a note");
  });

  it("goes on watching when the server was gone, and says so", async () => {
    const proxy = await TcpProxy.start(Number(new URL(url).port));
    try {
      const env = { MILLRACE_URL: `http://127.0.0.1:${proxy.port}`, MILLRACE_TOKEN: installation.adminToken, GO: "" };
      const go = join(world.folder, "go");
      await pipeline("long", `echo one; until [ -e ${go} ]; do sleep 0.05; done; echo two`);
      const watching = start(["trigger", "long", "--watch", "--logs"], "", env);
      await watching.prints("default/hello/say | one");
      await proxy.goDown();
      await watching.prints("does not answer; trying again");
      await proxy.comeUp();
      await watching.prints("connected again");
      await writeFile(go, "");
      expect((await watching.exited).code, watching.stderr).to.equal(0);
      expect(watching.stdout.match(/\| (one|two)$/gm)).to.deep.equal(["| one", "| two"]);
    } finally {
      await proxy.close();
    }
  });

  it("stops a run that it only watched when it is told to, and not by Ctrl-C", async () => {
    await pipeline("endless", "echo begun; sleep 600");
    const watching = start(["trigger", "endless", "--watch", "--logs"]);
    await watching.prints("| begun");
    watching.pressCtrlC();
    expect(await watching.exited).to.include({ code: 130 });
    const [, runId] = /millrace runs watch (run_\w+)/.exec(watching.stderr)!;
    expect((await json(["runs", "endless"]))[0]).to.include({ runId, status: "running" });
    await json(["stop", runId!, "--reason", "enough"]);
    const ended = await until("the run ends", async () => {
      const [found] = await json(["runs", "endless"]);
      return found.endTime !== null && found;
    });
    expect(ended).to.include({ status: "cancelled" });
  });

  it("approves what a run waits for", async () => {
    const step = { name: "deploy", uses: "shell", args: { script: "true" } };
    const spec = JSON.stringify({ jobs: [{ name: "deploy", approval: { message: "Deploy?" }, steps: [step] }] });
    await json(["pipelines", "create", "gated"]);
    await json(["pipelines", "save", "gated", "-", "--format", "json"], spec);
    const watching = start(["trigger", "gated", "--watch"]);
    await watching.prints("job deploy waits for an approval: millrace approve run_");
    const changed = await run(["runs", "update", "gated", "deploy", "--priority", "5", "--note", "ticket=7"]);
    expect(changed.stdout, changed.stderr).to.equal("deploy has the priority 5\nnote     ticket=7\n");
    const { runId, metadata } = await json(["runs", "update", "gated", "deploy/deploy", "--note", "seen=yes"]);
    expect(metadata).to.deep.equal({ ticket: "7", seen: "yes" });
    const { list } = (await installation.call("GET", `/pipelines/runs/${runId}/timeline`)).body.detail;
    const updates = list.filter(({ lifecycle }: { lifecycle: string }) => lifecycle === "updated");
    expect(
      updates.map((event: Record<string, unknown>) => [event["priority"], event["metadataKeys"], event["by"]]),
    ).to.deep.equal([
      [5, "ticket", "admin"],
      [null, "ticket,seen", "admin"],
    ]);
    expect(await run(["runs", "update", "gated", "none", "--priority", "5"])).to.include({ code: 5 });
    const vote = await run(["approve", "gated", "--comment", "seen"]);
    expect(vote.stdout, vote.stderr).to.equal("approved deploy\n");
    expect((await watching.exited).code).to.equal(0);
    expect(await run(["approve", "gated"])).to.include({ code: 1 });
  });

  it("renews an access token that has expired, and says what to do when the login is over", async () => {
    const stored = async () => JSON.parse(await readFile(contextFile("bea"), "utf8")) as { credentials: LoginTokens };
    const before = await stored();
    const expired = { ...before, credentials: { ...before.credentials, expiresAt: Date.now() - 1 } };
    await writeFile(contextFile("bea"), JSON.stringify(expired), { mode: 0o600 });
    const [one, other] = await Promise.all([
      run(["whoami", "--context", "bea"]),
      run(["pipelines", "--context", "bea"]),
    ]);
    expect([one!.code, other!.code], one!.stderr + other!.stderr).to.deep.equal([0, 0]);
    const after = await stored();
    expect(after.credentials.refreshToken).not.to.equal(before.credentials.refreshToken);
    expect((await stat(contextFile("bea"))).mode & 0o777).to.equal(0o600);

    const wrong = { ...after, credentials: { ...after.credentials, accessToken: "expired" } };
    await writeFile(contextFile("bea"), JSON.stringify(wrong), { mode: 0o600 });
    expect(await run(["whoami", "--context", "bea"]), "a token that the server refuses").to.include({ code: 0 });

    expect(
      (
        await installation.call("PATCH", `/users/${(await json(["whoami", "--context", "bea"])).user.userId}`, {
          disabled: true,
        })
      ).status,
    ).to.equal(200);
    const over = await run(["whoami", "--context", "bea"]);
    expect(over).to.include({ code: 3, stdout: "" });
    expect(over.stderr).to.contain("next: log in again: millrace login");
    await json(["users", "enable", "bea"]);
  });

  it("logs in by the device flow, which a user confirms in a browser", async () => {
    const login = start(["login", url, "--context", "device", "--json"]);
    await login.prints("confirm the code");
    const [, code] = /confirm the code (\S+)/.exec(login.stderr)!;
    const form = (path: string, fields: Readonly<Record<string, string>>, cookie = "") =>
      fetch(url + path, {
        method: "POST",
        headers: { origin: url, cookie, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(fields).toString(),
        redirect: "manual",
      });
    const entered = await form("/login", { name: "bea", password: PASSWORD, next: "/device" });
    const cookie = entered.headers.getSetCookie()[0]!.split(";")[0]!;
    expect((await form("/device", { user_code: code!, decision: "admit" }, cookie)).status).to.equal(200);
    expect((await login.exited).code, login.stderr).to.equal(0);
    expect(JSON.parse(login.stdout)).to.include({ context: "device", user: "bea" });
    expect(await json(["whoami", "--context", "device"])).to.have.nested.include({ "user.name": "bea" });
    expect(await run(["logout", "--context", "device"])).to.include({ code: 0 });
    expect((await run(["whoami", "--context", "device"])).stderr).to.contain('there is no context "device"');
  });

  it("manages secrets, tokens, projects and agents without showing a value", async () => {
    expect((await run(["secrets", "set", "DEPLOY_TOKEN"], "the-value\n")).stdout).to.equal(
      "set DEPLOY_TOKEN, version 1\n",
    );
    expect((await run(["secrets", "set", "DEPLOY_TOKEN"], "another\n")).stdout).to.equal(
      "set DEPLOY_TOKEN, version 2\n",
    );
    expect((await run(["secrets"])).stdout).to.match(/^NAME .*\nDEPLOY_TOKEN  project  2 /);
    await json(["secrets", "delete", "DEPLOY_TOKEN"]);
    expect(await json(["secrets"])).to.deep.equal([]);
    const { stdout: token } = await run(["tokens", "create", "script", "--scope", "read", "--expires-in", "1h"]);
    const scripted = { MILLRACE_URL: `${url}/api/v1/`, MILLRACE_TOKEN: token.trim() };
    expect(await run(["pipelines"], "", scripted)).to.include({ code: 0 });
    expect(await run(["trigger", "hello"], "", scripted), "a narrowed token").to.include({ code: 4 });
    await json(["projects", "create", "Shop"]);
    await json(["projects", "grant", "Shop", "bea", "operator"]);
    expect((await json(["projects", "members", "Shop"]))[0]).to.include({ name: "bea", role: "operator" });
  });

  it("makes hooks, and shows what became of their deliveries", async () => {
    await json(["secrets", "set", "HOOK_KEY"], "a long random text");
    const args = ["hooks", "create", "importer", "--kind", "generic", "--proof", "token", "--secret", "HOOK_KEY"];
    const made = await json(args);
    expect(made).to.deep.include({ kind: "generic", proof: "token", perMinute: 600 });
    const called = await fetch(`${url}${made.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer a long random text" },
      body: JSON.stringify({ event: "data", ref: "refs/heads/main", actor: "importer" }),
    });
    expect(called.status).to.equal(200);
    const [{ deliveryId }] = await json(["hooks", "deliveries", "importer"]);
    await until("the delivery has ended", async () => {
      return (await json(["hooks", "delivery", "importer", deliveryId])).state === "done";
    });
    const shown = await run(["hooks", "delivery", "importer", deliveryId]);
    expect(shown.stdout).to.contain(`${deliveryId}  done`).and.contain("event    data main by importer");
    expect(await json(["hooks", "redeliver", "importer", deliveryId])).to.include({ state: "owed" });
    const changed = await json(["hooks", "update", "importer", "--disable", "--per-minute", "10"]);
    expect(changed).to.include({ enabled: false, perMinute: 10 });
    expect((await run(["hooks", "show", "importer"])).stdout).to.match(/^importer {2}generic {2}disabled/);
    expect((await run(["hooks"])).stdout)
      .to.contain("token (HOOK_KEY)")
      .and.to.contain(made.path);
    expect(await run(["hooks", "update", "importer"])).to.include({ code: 2 });
    expect(await json(["hooks", "delete", "importer"])).to.deep.equal({ hookId: made.hookId, deleted: true });
    expect(await run(["hooks", "show", "importer"])).to.include({ code: 5 });
  });

  it("shows agents, and drains them until they may work again", async () => {
    expect((await json(["agents"]))[0]).to.include({ name: "one", online: true });
    expect(await json(["agents", "drain", "one", "--reason", "new disk"])).to.include({ name: "one", draining: true });
    expect((await run(["agents"])).stdout).to.contain("online, drained");
    expect((await run(["agents", "show", "one"])).stdout).to.match(/^drained +by admin .*new disk$/m);
    expect(await json(["agents", "undrain", "one"])).to.include({ draining: false });
    expect((await run(["agents", "show", "one"])).stdout)
      .to.contain("name=one")
      .and.not.to.contain("drained");
    expect(await run(["agents", "show", "two"])).to.include({ code: 5 });
    expect((await run(["agents", "reach", "one", "--project", "default"])).stdout).to.equal(
      "one gets jobs of default\n",
    );
    expect(await json(["agents", "reach", "one", "--all"])).to.include({ reach: null });
    expect(await run(["agents", "reach", "one"])).to.include({ code: 2 });
  });

  it("calls the API as it is", async () => {
    const made = await run(["api", "POST", "/pipelines", "-f", "name=raw", "-f", 'metadata={"a":"b"}']);
    expect(JSON.parse(made.stdout)).to.have.nested.include({ "detail.name": "raw", "detail.metadata.a": "b" });
    expect(await run(["api", "GET", "/api/v1/pipelines/nothing"])).to.include({ code: 5, stdout: "" });
    expect(await run(["api", "GET", "https://elsewhere.example/"])).to.include({ code: 2 });
  });

  it("refuses what cannot be meant with exit status 2, and names what there is", async () => {
    const outcomes = await Promise.all([
      run(["pipelines", "--context", "nowhere"]),
      run(["pipelines", "--context", "../../etc/passwd"]),
      run(["login", "ftp://ci.example"]),
      run(["login", "https://bea:word@ci.example", "--with-token"], "x"),
      run(["pipelines"], "", { MILLRACE_URL: url }),
      run(["pipelines", "--limit", "0"]),
      run(["completion", "tcsh"]),
    ]);
    expect(outcomes.map(({ code }) => code)).to.deep.equal([2, 2, 2, 2, 2, 2, 2]);
    expect(outcomes[0]!.stderr).to.contain("next: the contexts are admin, bea");
    const loggedOut = await run(["pipelines"], "", { XDG_CONFIG_HOME: join(world.folder, "empty") });
    expect(loggedOut).to.include({ code: 3 });
    expect(loggedOut.stderr).to.contain("next: millrace login URL");
    expect(await run(["runs", "nothing"])).to.include({ code: 5 });
  });
});

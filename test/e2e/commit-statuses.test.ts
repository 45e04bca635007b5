/**
 * A push to a real Git server, whose hook posts a delivery; the run of the pushed commit; and its status at a server of the host's
 * API that checks every call. The node dies while the host is away: afterwards the host is told the newest state, and no other.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { BareRepository } from "../support/bare-repository.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { GitHttpServer } from "../support/git-server.ts";
import { ProcessWorld } from "../support/processes.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";
import { until } from "../support/until.ts";

const KEY = "the key with which the host signs";
const PATH = ".millrace/pipeline.yaml";

/** A definition whose run ends when the file is there. */
function definition(gate: string): string {
  return `
triggers: { event: [{ provider: gitea, event: push }] }
jobs:
  - name: build
    steps:
      - uses: shell
        args: { script: "until [ -e '${gate}' ]; do sleep 0.1; done" }
`;
}

/** The program that the repository runs after a push: it posts a signed delivery, as Gitea does. */
function postingHook(url: string, cloneUrl: string): string {
  return `
import { createHmac, randomUUID } from "node:crypto";
let text = "";
for await (const piece of process.stdin) text += piece;
const [before, after, ref] = text.trim().split(" ");
const repository = { full_name: "team/app", clone_url: ${JSON.stringify(cloneUrl)} };
const body = JSON.stringify({ ref, before, after, repository, sender: { login: "ann" }, head_commit: { id: after, message: "m" } });
const signature = createHmac("sha256", ${JSON.stringify(KEY)}).update(body).digest("hex");
const headers = { "content-type": "application/json", "x-gitea-event": "push", "x-gitea-delivery": randomUUID(), "x-gitea-signature": signature };
const answer = await fetch(${JSON.stringify(url)}, { method: "POST", headers, body });
if (answer.status !== 200) process.stderr.write(await answer.text());
`;
}

describe("a push", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let host: ProviderServer;
  let server: GitHttpServer;
  before(async () => {
    world = await ProcessWorld.create();
    host = await new ProviderServer("gitea").start();
    server = await new GitHttpServer(world.folder, { user: "ann", password: "deep-secret" }).start();
    server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
  });
  after(async () => {
    await world?.end();
    await host?.stop();
    await server?.stop();
  });

  it("ends in a run and in the status of its commit, also when the node dies while the host is away", async () => {
    const installation = await EmbeddedInstallation.create(world);
    const dataDir = join(world.folder, "data");
    const env = { MILLRACE_GIT_NETWORKS: "127.0.0.0/8", MILLRACE_PUBLIC_URL: "https://ci.example" };
    await installation.serve(dataDir, env);
    await installation.agent("one");
    const call = async (method: string, path: string, body?: object) => {
      const answer = await installation.call(method, path, body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body.detail;
    };
    const gate = join(world.folder, "gate");
    const origin = new BareRepository(world.folder, "team/app");
    origin.commit({ [PATH]: definition(gate), "README.md": "one" });
    for (const [name, value] of Object.entries({ CODE: "ann:deep-secret", API: TOKEN, KEY })) {
      await call("POST", "/projects/default/secrets", { name, value });
    }
    const repoUrl = `${server.origin}/team/app.git`;
    const fields = { repoUrl, repoCredential: "CODE", repoApiCredential: "API", repoProvider: "gitea" };
    await call("POST", "/pipelines", { name: "app", ...fields });
    const hook = await call("POST", "/projects/default/hooks", { name: "code", kind: "gitea", secret: "KEY" });
    const program = join(world.folder, "post.mjs");
    writeFileSync(program, postingHook(`http://${installation.node.http}${hook.path}`, repoUrl));
    origin.hook("post-receive", `unset $(git rev-parse --local-env-vars); exec ${process.execPath} ${program}`);

    const clone = join(world.folder, "clone");
    const identity = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
    // The server is in this process, which must go on meanwhile.
    const git = (cwd: string, ...args: string[]) => promisify(execFile)("git", [...identity, ...args], { cwd });
    const address = `http://ann:deep-secret@${new URL(repoUrl).host}/team/app.git`;
    await git(world.folder, "clone", "--quiet", address, clone);
    writeFileSync(join(clone, "README.md"), "two");
    await git(clone, "commit", "--quiet", "--all", "--message", "Say two");
    await git(clone, "push", "--quiet", "origin", "main");
    const commit = origin.tip()!;
    const first = await until("the run is told", async () => host.statuses[0], 30_000);
    expect(first).to.deep.include({ commit, name: "millrace/app", state: "pending" });
    const runId = first.url.split("/").at(-1)!;
    expect(first.url).to.match(/^https:\/\/ci\.example\/api\/v1\/pipelines\/pl_/);
    expect(await call("GET", `/pipelines/runs/${runId}`)).to.include({ commitSha: commit, status: "running" });

    host.intercept = (_, response) => response.writeHead(503).end() !== undefined;
    const tried = host.calls;
    writeFileSync(gate, "");
    await until("the end of the run was tried", async () => (host.calls > tried ? true : undefined), 30_000);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    host.intercept = () => false;
    await installation.serve(dataDir, env);
    await until(
      "the end is told",
      async () => (host.shown(commit, "millrace/app") === "success" ? true : undefined),
      40_000,
    );
    const { commitStatus } = await until("the host has it", async () => {
      const run = await call("GET", `/pipelines/runs/${runId}`);
      return run.commitStatus?.state === "delivered" ? run : undefined;
    });
    expect(commitStatus).to.include({ commit, status: "success", error: "" });
    const states = host.statuses.map(({ state }) => state);
    expect(states.lastIndexOf("pending"), states.join()).to.be.lessThan(states.indexOf("success"));
    expect(new Set(host.statuses.map(({ url }) => url)).size, "runs of the push").to.equal(1);
  });
});

/**
 * Real work in a real installation: a run checks a project out of a Git repository, builds, tests and releases it. With
 * `RELEASE_EXAMPLE=whole` (`npm run test:release`) the project is this one with its history; otherwise it is a small
 * part of this one, because the whole takes minutes.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { parse } from "yaml";
import type { RunDetail } from "../../src/cli/run-tree.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { git } from "../support/git-server.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PLUGIN = join(ROOT, "examples/plugins/json-patch");
const TOKEN = randomBytes(24).toString("hex");
const DEADLINE_MS = 300_000;

interface Announcement {
  readonly authorization: string | undefined;
  readonly body: string;
}

describe("the release example", function () {
  this.timeout(2 * DEADLINE_MS);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let site: Server;
  let dataDir: string;
  let target: string;
  let repository: string;
  let commit: string;
  let pipelineId: string;
  let first: RunDetail;
  const announced: Announcement[] = [];

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    [dataDir, target] = [join(world.folder, "data"), join(world.folder, "site")];
    await installation.serve(dataDir);
    await installation.agent("builder");
    await push(PLUGIN);

    repository = join(world.folder, "millrace.git");
    // Git refuses a repository of another user by default; another user may have checked this project out.
    await writeFile(join(world.folder, ".gitconfig"), "[safe]\n\tdirectory = *\n");
    const project = process.env["RELEASE_EXAMPLE"] === "whole" ? ROOT : await smallProject(join(world.folder, "small"));
    git(world.folder, "clone", "--quiet", "--bare", project, repository);
    commit = git(repository, "rev-parse", "HEAD");
    // `main` is the commit that is checked out here.
    git(repository, "update-ref", "refs/heads/main", commit);
    git(repository, "symbolic-ref", "HEAD", "refs/heads/main");

    site = createServer((request, response) => {
      void readAnnouncement(request).then((announcement) => {
        announced.push(announcement);
        response.writeHead(201).end();
      });
    }).listen(0, "127.0.0.1");
    await once(site, "listening");

    ({ pipelineId } = await installation.api.createPipeline("release", ""));
    const spec: unknown = parse(await readFile(join(ROOT, "examples/release/pipeline.yaml"), "utf8"));
    await installation.api.saveSpec(pipelineId, spec);
    await call("POST", `/pipelines/${pipelineId}/secrets`, { name: "RELEASE_TOKEN", value: TOKEN });
  });
  after(async () => {
    site?.close();
    await world?.end();
  });

  const readAnnouncement = async (request: IncomingMessage): Promise<Announcement> => ({
    authorization: request.headers.authorization,
    body: await text(request),
  });
  async function push(folder: string): Promise<void> {
    const program = world.start(["plugin", "push", folder, "--server", `http://${installation.node.http}`], {
      env: { MILLRACE_TOKEN: installation.adminToken },
    });
    await program.exited;
    expect(program.stdout).to.include("is registered");
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await installation.call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  const trigger = async (): Promise<string> => {
    const { port } = site.address() as AddressInfo;
    const variables = { repository: `file://${repository}`, target, announceTo: `http://127.0.0.1:${port}/releases` };
    return (await installation.api.trigger(pipelineId, variables)).runId;
  };
  /** Approves the release after the build and answers the ended run. */
  async function approveAndFinish(runId: string): Promise<RunDetail> {
    const approval = await until(
      "the end of the build and a pending approval",
      async () => {
        const run = await installation.api.run(runId);
        if (run.endTime !== null) throw new Error(`the run is ${run.status}: ${await logsOf(run)}`);
        return run.approvals.find(({ status }) => status === "pending");
      },
      DEADLINE_MS,
    );
    expect(approval.message).to.equal(`Release ${commit}?`);
    await installation.api.approve(pipelineId, runId, approval.approvalId);
    return until(
      "the end of the release",
      async () => {
        const run = await installation.api.run(runId);
        return run.endTime === null ? undefined : run;
      },
      DEADLINE_MS,
    );
  }
  const stepsOf = (run: RunDetail) => run.jobs.flatMap(({ steps }) => steps);
  const stepOf = (run: RunDetail, name: string) => stepsOf(run).find((step) => step.name === name)!;
  async function logOf(run: RunDetail, name: string): Promise<string> {
    const store = new SqliteConnection(storeFile(dataDir), { readonly: true });
    try {
      const rows = store
        .prepare("SELECT body FROM log_chunks WHERE step_run_id = ? ORDER BY last_line")
        .all(stepOf(run, name).stepRunId) as { body: string }[];
      return rows.map(({ body }) => String(body)).join("\n");
    } finally {
      store.close();
    }
  }
  const logsOf = async (run: RunDetail): Promise<string> =>
    (await Promise.all(stepsOf(run).map(async ({ name }) => `${name}: ${await logOf(run, name)}`))).join("\n");

  it("builds and tests the project, and releases the stored build after an approval", async () => {
    first = await approveAndFinish(await trigger());
    expect(first.status, await logsOf(first)).to.equal("success");
    expect(stepsOf(first).map(({ status }) => status)).to.deep.equal(stepsOf(first).map(() => "success"));
    expect(announced).to.deep.equal([{ authorization: `Bearer ${TOKEN}`, body: JSON.stringify({ commit }) }]);
    expect(await logsOf(first), "no log holds the token").not.to.include(TOKEN);
    expect(await logOf(first, "test")).to.match(/[1-9]\d* passing/);

    expect(await readlink(join(target, "current"))).to.equal(commit);
    const manifest = await readFile(join(target, "current/package.json"), "utf8");
    expect(JSON.parse(manifest), "the plugin has set gitHead").to.include({ name: "millrace", gitHead: commit });
    const main = await readFile(join(target, "current/dist/src/main.js"), "utf8");
    const { list } = await call("GET", `/pipelines/runs/${first.runId}/artifacts?name=release`);
    const kept = await fetch(
      `http://${installation.node.http}/api/v1/pipelines/runs/${first.runId}/artifacts/${list[0].artifactId}/content/dist/src/main.js`,
      { headers: { authorization: `Bearer ${installation.adminToken}` } },
    );
    expect(await kept.text(), "the released file is the stored one").to.equal(main);
  });

  it("restores its dependencies from the cache in the second run, and logs how long that took", async () => {
    const isKept = async () => /is kept: \d+ files/.test(await logOf(first, "dependencies"));
    await until("the cache has the dependencies", isKept, DEADLINE_MS);
    const second = await approveAndFinish(await trigger());
    expect(second.status, await logsOf(second)).to.equal("success");
    expect(stepOf(second, "install dependencies").status).to.equal("skipped");
    expect(announced).to.have.length(2);
    expect(await logOf(second, "dependencies")).to.match(
      /the cache .* is here: \d+ files of \d+ bytes packed, made .* ago, in /,
    );
  });
});

/** Makes a repository with a part of this project whose build and tests take seconds, and answers its folder. */
async function smallProject(folder: string): Promise<string> {
  const read = async (file: string) => JSON.parse(await readFile(join(ROOT, file), "utf8"));
  const [manifest, lock] = await Promise.all([read("package.json"), read("package-lock.json")]);
  const { dependencies, devDependencies } = manifest;
  const small = {
    name: manifest.name,
    version: manifest.version,
    type: "module",
    scripts: { build: "mkdir -p dist && cp -R src dist" },
    dependencies: { ulid: dependencies.ulid },
    devDependencies: Object.fromEntries(
      ["chai", "fast-check", "mocha", "tsx"].map((name) => [name, devDependencies[name]]),
    ),
  };
  // npm takes the versions from the lock file, and installs only what the manifest needs.
  lock.packages[""] = { ...lock.packages[""], ...small, scripts: undefined };
  await mkdir(join(folder, "src"), { recursive: true });
  await Promise.all([
    cp(join(ROOT, "src/domain"), join(folder, "src/domain"), { recursive: true }),
    cp(join(ROOT, "test/domain"), join(folder, "test/domain"), { recursive: true }),
    writeFile(join(folder, "src/main.js"), 'console.log("millrace");\n'),
    writeFile(join(folder, "package.json"), JSON.stringify(small, null, 2)),
    writeFile(join(folder, "package-lock.json"), JSON.stringify(lock, null, 2)),
  ]);
  git(folder, "init", "--quiet");
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message", "A part of millrace");
  return folder;
}

/** Commit statuses of runs, with a real Git server and a small server of its host's API that checks every call. */
import { expect } from "chai";
import { Dispatcher } from "../../src/app/telling/dispatcher.ts";
import { asId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { dyingAt, withEveryDeath } from "../support/dying-stores.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { at, DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";
import { saveTurn } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";

const PUBLIC_URL = "https://ci.example";
const CANCELLED = {
  object: "pipeline",
  lifecycle: "cancelled",
  jobId: null,
  stepRunId: null,
  status: "cancelled",
  data: {},
} as const;

describe("the commit statuses of runs", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let fields: object;
  let head: string;
  let origin: BareRepository;
  before(async () => {
    git = await GitEdge.open();
    host = await new ProviderServer("gitea").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    await git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "API", value: TOKEN } });
    origin = new BareRepository(git.world.folder, "team/app");
    head = origin.commit({ [DEFINITION_PATH]: textOf("echo 1") });
    const repoUrl = `${git.world.server.origin}/team/app.git`;
    fields = { repoUrl, repoCredential: "CODE", repoApiCredential: "API", repoProvider: "gitea" };
  });
  after(async () => {
    await git.close();
    await host.stop();
  });
  beforeEach(() => {
    host.intercept = () => false;
    host.statuses.length = host.calls = 0;
  });

  /** A node of its own that owns all shards. */
  function newDispatcher(more: object = { publicUrl: PUBLIC_URL }): Dispatcher {
    const { context } = git.edge;
    const shards = Array.from({ length: context.shards }, (_, shard) => shard);
    const request = () => Promise.reject(new Error("nothing else is sent"));
    return new Dispatcher({ ...context, ...more }, () => shards, { request, mail: null });
  }
  async function told(dispatcher: Dispatcher): Promise<void> {
    // One of a lane is dealt with in each pass; the second finds what the first has left.
    for (let pass = 0; pass < 2; pass++) {
      await dispatcher.pass();
      await dispatcher.settled();
    }
  }
  async function pipelineWith(name: string, more: object = {}): Promise<string> {
    const created = await git.create({ ...fields, name, ...more });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    return created.body.detail.pipelineId;
  }
  async function trigger(pipelineId: string): Promise<string> {
    return (await git.edge.call("POST", at(pipelineId, "/trigger"), { body: {} })).body.detail.runId;
  }
  const statusOf = async (runId: string) =>
    (await git.edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body.detail.commitStatus;
  const listOf = async (runId: string, query = "") =>
    (await git.edge.call("GET", `/api/v1/pipelines/runs/${runId}/commit-statuses${query}`)).body.detail;

  it("are set for a pipeline that names a token for the API, and shown with the run", async () => {
    const pipelineId = await pipelineWith("on");
    const runId = await trigger(pipelineId);
    expect(await statusOf(runId), "before it is told").to.equal(null);
    await told(newDispatcher());
    const url = `${PUBLIC_URL}/api/v1/pipelines/${pipelineId}/runs/${runId}`;
    const status = { commit: head, name: "millrace/on", description: "Is running." };
    expect(host.statuses).to.deep.equal([{ ...status, state: "pending", url }]);
    const shown = await statusOf(runId);
    expect(shown).to.include({ ...status, job: null, status: "running", state: "delivered", attempts: 1, error: "" });
    expect(await listOf(runId, "?state=delivered")).to.deep.equal({ list: [shown], next: null });
    await told(newDispatcher());
    expect(host.calls, "calls after the host has it").to.equal(1);
  });

  it("are set as the pipeline says, without a link where the installation has no address", async () => {
    const runs = [
      await trigger(await pipelineWith("without a token", { repoApiCredential: "" })),
      await trigger(await pipelineWith("off", { commitStatuses: "off" })),
      await trigger(await pipelineWith("jobs", { commitStatuses: "jobs" })),
    ];
    await told(newDispatcher({}));
    const names = host.statuses.map(({ name, url }) => `${name} ${url}`);
    expect(names.toSorted()).to.deep.equal(["millrace/jobs ", "millrace/jobs/build "]);
    expect(await Promise.all(runs.slice(0, 2).map(statusOf))).to.deep.equal([null, null]);
    expect((await listOf(runs[2]!)).list.map(({ job }: { job: string | null }) => job).toSorted()).to.deep.equal([
      "build",
      null,
    ]);
    const unknown = await git.create({ ...fields, name: "x", commitStatuses: "run", repoProvider: "" });
    expect(unknown.body.errors?.[0]?.pointer, JSON.stringify(unknown.body)).to.equal("/repoProvider");
    const inline = await git.create({ commitStatuses: "run" });
    expect(inline.body.errors[0].pointer).to.equal("/commitStatuses");
  });

  it("name the project of a pipeline where an older one has the same name and repository", async () => {
    const made = await git.edge.call("POST", "/api/v1/projects", { body: { name: "The Shop" } });
    const { projectId, slug } = made.body.detail;
    const { user, password } = git.world.server.expected!;
    for (const [name, value] of Object.entries({ API: TOKEN, CODE: `${user}:${password}` })) {
      await git.edge.call("POST", `/api/v1/projects/${projectId}/secrets`, { body: { name, value } });
    }
    // A pipeline of another repository, of which this host knows nothing, and one that reports nothing leave the plain name to others.
    const elsewhere = `${git.world.server.origin}/team/other.git`;
    new BareRepository(git.world.folder, "team/other").commit({ [DEFINITION_PATH]: textOf("echo 1") });
    const own = { projectId, commitStatuses: "jobs", repoUrl: `${git.world.server.origin}/team/app.git/` };
    const pipelineIds = [
      await pipelineWith("quiet", { commitStatuses: "off" }),
      await pipelineWith("quiet", own),
      await pipelineWith("apart", { repoUrl: elsewhere }),
      await pipelineWith("apart", own),
      await pipelineWith("same"),
      await pipelineWith("same", own),
    ];
    for (const pipelineId of pipelineIds) await trigger(pipelineId);
    await told(newDispatcher());
    expect(host.statuses.map(({ name }) => name).toSorted()).to.deep.equal([
      "millrace/apart",
      "millrace/apart/build",
      "millrace/quiet",
      "millrace/quiet/build",
      "millrace/same",
      `millrace/same (${slug})`,
      `millrace/same (${slug})/build`,
    ]);
  });

  it("wait as long as the host says, and the newest one alone is set then", async () => {
    const pipelineId = await pipelineWith("limited");
    const [first, dispatcher] = [await trigger(pipelineId), newDispatcher()];
    host.intercept = (_, response) =>
      response.writeHead(429, { "retry-after": "600" }).end('{ "message": "slow down" }') !== undefined;
    await told(dispatcher);
    expect(host.calls).to.equal(1);
    const waiting = await statusOf(first);
    expect(waiting).to.include({ state: "owed", attempts: 1 });
    expect(waiting.error).to.include("429 slow down");
    const second = await trigger(pipelineId);
    const other = await trigger(await pipelineWith("limited, too"));
    host.intercept = () => false;
    try {
      for (const seconds of [0, 300, 590]) {
        git.edge.skewMs = seconds * 1_000;
        await told(dispatcher);
        expect(host.calls, `after ${seconds} s`).to.equal(1);
      }
      git.edge.skewMs = 601_000;
      await told(dispatcher);
    } finally {
      git.edge.skewMs = 0;
    }
    const runs = host.statuses.map(({ url }) => url.split("/").at(-1)!);
    expect(runs).to.have.members([second, other]);
    expect(await statusOf(first), "a status that was overtaken").to.equal(null);
  });

  it("are set after an hour without the API, on another node", async () => {
    const runId = await trigger(await pipelineWith("away"));
    host.intercept = (_, response) => response.writeHead(503).end() !== undefined;
    const calls: number[] = [];
    try {
      for (let minute = 0; minute <= 60; minute++) {
        git.edge.skewMs = minute * 60_000;
        await told(newDispatcher());
        calls.push(host.calls);
      }
      expect(calls[60], "tries of an hour").to.be.within(4, 12);
      host.intercept = () => false;
      git.edge.skewMs = 3 * 3_600_000;
      await told(newDispatcher());
    } finally {
      git.edge.skewMs = 0;
    }
    expect(host.statuses).to.have.length(1);
    expect(await statusOf(runId)).to.include({ state: "delivered", error: "" });
  });

  it("that the host refuses are given up, and the run does not care", async () => {
    const runId = await trigger(await pipelineWith("refused"));
    const message = "This SHA and context has reached the maximum number of statuses.";
    host.intercept = (_, response) => response.writeHead(422).end(JSON.stringify({ message })) !== undefined;
    await told(newDispatcher());
    const shown = await statusOf(runId);
    expect(shown).to.include({ state: "failed", attempts: 1, nextTry: null });
    expect(shown.error).to.include(message).and.not.to.include(TOKEN);
    host.intercept = () => false;
    await told(newDispatcher());
    expect(host.calls).to.equal(1);
  });

  it("of one name are set one after the other, and the newest is set again after a frozen node has set an older one", async () => {
    const pipelineId = await pipelineWith("frozen");
    const first = await trigger(pipelineId);
    const frozen = newDispatcher();
    let thaw = () => {};
    host.intercept = (_, response, act) => {
      host.intercept = () => false;
      thaw = () => {
        act();
        response.writeHead(201).end("{}");
      };
      return true;
    };
    await frozen.pass();
    await until("the call is on its way", async () => (host.calls === 1 ? true : undefined));
    const second = await trigger(pipelineId);
    await frozen.pass();
    expect(host.calls, "while the first one is on its way").to.equal(1);
    const shown = () => host.statuses.at(-1)?.url.split("/").at(-1);
    await told(newDispatcher());
    expect(shown()).to.equal(second);
    thaw();
    await frozen.settled();
    expect(shown(), "what the frozen node has set").to.equal(first);
    await told(newDispatcher());
    expect(shown()).to.equal(second);
  });

  it("are set in order and to the end, whichever call of the store their worker dies at", async () => {
    const pipelineId = await pipelineWith("mortal");
    const { stores } = git.edge.context;
    const calls = await withEveryDeath(
      async (death) => {
        host.statuses.length = 0;
        const runId = await trigger(pipelineId);
        const mortal = dyingAt(stores, death);
        await told(newDispatcher({ publicUrl: PUBLIC_URL, stores: mortal.stores })).catch(() => {});
        const run = { state: "cancelled", endedAt: git.edge.context.clock.now() } as const;
        const stored = { runId: asId<RunId>(runId), pipelineId: asId<PipelineId>(pipelineId), jobIds: [], stepIds: [] };
        await saveTurn(git.edge.context, stored, { run, events: [CANCELLED] });
        // What was put off for a failure is due a moment later.
        git.edge.skewMs += 60_000;
        await told(newDispatcher());
        const states = host.statuses.map(({ state, url }) => `${state} ${url.endsWith(runId) ? "" : url}`.trim());
        const text = `${JSON.stringify(death)}: ${states.join()}`;
        expect(states.at(-1), text).to.equal("error");
        // A worker that dies between the answer of the host and its own record of it sets one state again.
        const [first = "", second, ...others] = states;
        expect(others.length, text).to.be.at.most(1);
        if (second !== undefined) expect(first, text).to.equal("pending");
        expect(await statusOf(runId), text).to.include({ status: "cancelled", state: "delivered" });
        return mortal.isDead();
      },
      ["before"],
    ).finally(() => (git.edge.skewMs = 0));
    expect(calls, "calls of a worker").to.be.at.least(8);
  }).timeout(120_000);
});

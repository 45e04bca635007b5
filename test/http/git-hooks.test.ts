/** Hooks of repositories: the definition of the pushed commit, and repositories that do not answer. */
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { HookRunner } from "../../src/app/hooks/hook-runner.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { at, DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";

const SECRET = "swordfish-and-more";
interface PushFields {
  readonly ref?: string;
  readonly before?: string;
  readonly after?: string;
  readonly url?: string;
  readonly commits?: readonly object[];
}

const ZEROS = "0".repeat(40);

describe("hooks of repositories over HTTP", () => {
  let git: GitEdge;
  let runner: HookRunner;
  before(async () => {
    git = await GitEdge.open();
    const shards = Array.from({ length: git.edge.context.shards }, (_, shard) => shard);
    runner = new HookRunner(git.edge.context, () => shards);
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  const send = (method: string, path: string, body?: unknown) =>
    git.edge.call(method, `/api/v1${path}`, body === undefined ? {} : { body });
  async function call(method: string, path: string, body?: unknown) {
    const answer = await send(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  }
  /** A definition whose one job has this name, with event triggers. */
  const definition = (job: string, triggers: readonly object[] = [{ provider: "github", event: "push" }], more = "") =>
    `triggers: { event: ${JSON.stringify(triggers)} }\n${more}${textOf("echo 1").replace("name: build", `name: ${job}`)}`;

  let made = 0;
  /** A project with a hook of the repository, and a pipeline whose definition is in it. */
  async function hooked(files: Record<string, string>, fields: object = {}) {
    const { projectId } = await call("POST", "/projects", { name: `hooked ${made++}` });
    const { user, password } = git.world.server.expected!;
    const secrets = { CODE: `${user}:${password}`, HOOK_KEY: SECRET };
    for (const [name, value] of Object.entries(secrets)) {
      await call("POST", `/projects/${projectId}/secrets`, { name, value });
    }
    const { origin, repository } = git.world.newRepository();
    const head = origin.commit(files);
    const { url } = repository.remote;
    const pipeline = { name: "p", projectId, repoUrl: url, repoCredential: "CODE" };
    const { pipelineId } = await call("POST", "/pipelines", pipeline);
    const given = { name: "code", kind: "github", secret: "HOOK_KEY", ...fields };
    const hook = await call("POST", `/projects/${projectId}/hooks`, given);
    return { projectId, pipelineId, origin, url, head, hook, path: `/projects/${projectId}/hooks/${hook.hookId}` };
  }
  type Hooked = Awaited<ReturnType<typeof hooked>>;

  let deliveries = 0;
  async function deliver({ hook }: Pick<Hooked, "hook">, event: string, body: object): Promise<string> {
    const raw = JSON.stringify(body);
    const signature = createHmac("sha256", SECRET).update(raw).digest("hex");
    const headers = {
      "content-type": "application/json",
      "x-github-delivery": `d-${deliveries++}`,
      "x-github-event": event,
      ...(hook.proof !== "none" && { "x-hub-signature-256": `sha256=${signature}` }),
    };
    const answer = await git.edge.call("POST", hook.path, { raw, headers, token: null });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail.deliveryId;
  }
  const push = (of: Hooked, sha: string, fields: PushFields = {}) =>
    deliver(of, "push", {
      commits: fields.commits,
      ref: fields.ref ?? "refs/heads/main",
      before: fields.before ?? ZEROS,
      after: fields.after ?? sha,
      repository: { full_name: "team/code", clone_url: fields.url ?? of.url },
      sender: { login: "ann" },
      head_commit: { message: "Mend it" },
    });
  const pullRequest = (of: Hooked, head: string, base: string) => {
    const repo = { full_name: "team/code" };
    return deliver(of, "pull_request", {
      action: "opened",
      repository: { ...repo, clone_url: of.url },
      sender: { login: "ann" },
      pull_request: {
        number: 3,
        head: { ref: "feature", sha: head, repo },
        base: { ref: "main", sha: base, repo },
      },
    });
  };
  const verdictsOf = async ({ path }: Hooked, deliveryId: string) =>
    (await call("GET", `${path}/deliveries/${deliveryId}`)).verdicts as Record<string, string>[];
  /** Of the runs, oldest first: what they build, and the names of their jobs. */
  async function runsOf(pipelineId: string) {
    const { list } = await call("GET", `/pipelines/${pipelineId}/runs`);
    return Promise.all(
      list.toReversed().map(async ({ runId }: { runId: RunId }) => {
        const { commitSha, trigger } = await call("GET", `/pipelines/runs/${runId}`);
        const plan = (await git.edge.context.stores.plans.loadPlan(runId))!;
        return { commitSha, ref: trigger.ref, jobs: plan.jobs.map(({ name }) => name).join(), runId };
      }),
    ) as Promise<{ commitSha: string; ref: string; jobs: string; runId: RunId }[]>;
  }
  const pass = async (skewMs = 0) => {
    git.edge.skewMs += skewMs;
    await runner.pass();
  };
  const cutOff = () => {
    git.world.server.intercept = (_, response) => response.destroy() !== undefined;
  };

  it("run the definition of the pushed commit, which may be the first one with a trigger", async () => {
    const of = await hooked({ [DEFINITION_PATH]: textOf("echo 1") });
    const feature = of.origin.commit({ [DEFINITION_PATH]: definition("feature") }, { branch: "feature" });
    const newer = of.origin.commit({ [DEFINITION_PATH]: definition("newer") }, { branch: "feature" });
    await push(of, feature, { ref: "refs/heads/feature", url: of.url.replace(/\.git$/, "") });
    const main = of.origin.commit({ [DEFINITION_PATH]: definition("main") });
    await push(of, main, { before: of.head });
    await pass();
    const runs = await runsOf(of.pipelineId);
    expect(runs.map(({ commitSha, ref, jobs }) => [commitSha, ref, jobs])).to.deep.equal([
      [feature, "feature", "feature"],
      [main, "main", "main"],
    ]);
    expect(newer).not.to.equal(feature);
    // What was pushed to the default branch is the head of the pipeline.
    expect((await call("GET", at(of.pipelineId).replace("/api/v1", ""))).headCommitSha).to.equal(main);
    const nothing = of.origin.commit({ [DEFINITION_PATH]: null });
    const told = await push(of, nothing);
    await pass();
    expect((await verdictsOf(of, told))[0]).to.include({
      outcome: "filtered",
      trigger: "",
      text: `commit ${nothing} has no file ${DEFINITION_PATH}: save a definition, or correct \`pipelineFilePath\``,
    });
  });

  it("check out exactly the commit of the event, a tag's too", async () => {
    const step = "jobs: [{ name: a, steps: [{ uses: checkout }] }]\n";
    const text = `triggers: { event: [{ provider: github, event: push }, { provider: github, event: tag }] }\n${step}`;
    const of = await hooked({ [DEFINITION_PATH]: text });
    const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    of.origin.git([...identity, "tag", "-a", "v1", "-m", "one", of.head]);
    const tag = of.origin.git(["rev-parse", "refs/tags/v1"]);
    of.origin.commit({ other: "y" });
    await push(of, of.head);
    await push(of, tag, { ref: "refs/tags/v1" });
    await pass();
    const runs = await runsOf(of.pipelineId);
    expect(runs.map(({ commitSha, ref }) => [commitSha, ref])).to.deep.equal([
      [of.head, "main"],
      [of.head, "v1"],
    ]);
    for (const { runId } of runs) {
      const job = await git.edge.context.stores.plans.loadJob(runId, 0);
      const args = { repo: of.url, credential: "${{ secrets.CODE }}", ref: of.head };
      expect(job!.steps[0]!.args).to.deep.equal(args);
    }
  });

  it("say what is wrong with a definition that the very push has broken, and run the next one", async () => {
    const of = await hooked({ [DEFINITION_PATH]: definition("good") });
    const broken = of.origin.commit({ [DEFINITION_PATH]: `${definition("bad")}surprise: 1\n` });
    const told = await push(of, broken);
    await pass();
    const [verdict] = await verdictsOf(of, told);
    expect(verdict).to.include({ outcome: "refused", trigger: "" });
    expect(verdict!["text"])
      .to.include(`the definition of commit ${broken} is not valid: line`)
      .and.include("/surprise")
      .and.include("surprise");
    expect(await runsOf(of.pipelineId)).to.deep.equal([]);
    const mended = of.origin.commit({ [DEFINITION_PATH]: definition("mended") });
    await push(of, mended);
    await pass();
    expect(await runsOf(of.pipelineId)).to.have.length(1);
    // What a commit holds does not change, so the commit that is broken stays so.
    await call("POST", `${of.path}/deliveries/${told}/redeliver`);
    await pass();
    expect(await verdictsOf(of, told)).to.deep.equal([verdict]);
    expect(await runsOf(of.pipelineId)).to.have.length(1);
  });

  it("take the definition of a fork's pull request from its target, and no credential", async () => {
    const triggers = [{ provider: "github", event: "pull_request" }];
    const broken = `${definition("base", triggers)}surprise: 1\n`;
    const of = await hooked({ [DEFINITION_PATH]: broken });
    const foreign = of.origin.commit({ [DEFINITION_PATH]: definition("stolen", triggers) }, { branch: "tmp" });
    of.origin.git(["update-ref", "refs/pull/7/head", foreign]);
    of.origin.git(["update-ref", "-d", "refs/heads/tmp"]);
    const told = await deliver(of, "pull_request", {
      action: "opened",
      repository: { full_name: "team/code", clone_url: of.url },
      sender: { login: "mallory" },
      pull_request: {
        number: 7,
        title: "Look",
        head: { ref: "main", sha: foreign, repo: { full_name: "mallory/code" } },
        base: { ref: "main", sha: of.head, repo: { full_name: "team/code" } },
      },
    });
    await pass();
    expect((await verdictsOf(of, told))[0]).to.include({ outcome: "refused" });
    // A definition that was mended since counts when the delivery is asked for again.
    const text = `triggers: { event: ${JSON.stringify(triggers)} }\njobs: [{ name: base, steps: [{ uses: checkout }] }]\n`;
    of.origin.commit({ [DEFINITION_PATH]: text });
    await call("POST", `${of.path}/deliveries/${told}/redeliver`);
    await pass();
    const [run, ...others] = await runsOf(of.pipelineId);
    expect(others).to.deep.equal([]);
    expect(run).to.include({ commitSha: foreign, ref: "refs/pull/7/head", jobs: "base" });
    const job = await git.edge.context.stores.plans.loadJob(run!.runId, 0);
    expect(job!.steps[0]!.args).to.deep.equal({ repo: of.url, ref: foreign });
  });

  it("wait for a repository that is away in their order, while other pipelines run", async () => {
    const of = await hooked({ [DEFINITION_PATH]: definition("one") });
    const { pipelineId: inline } = await call("POST", "/pipelines", { name: "inline", projectId: of.projectId });
    const spec = {
      triggers: { event: [{ provider: "github", event: "push" }] },
      jobs: [{ name: "j", steps: [{ uses: "shell", args: { script: "true" } }] }],
    };
    await call("POST", `/pipelines/${inline}/spec/save`, { spec });
    const second = of.origin.commit({ [DEFINITION_PATH]: definition("two") });
    cutOff();
    const ids = [await push(of, of.head)];
    await pass();
    ids.push(await push(of, second));
    await pass();
    expect(await runsOf(inline)).to.have.length(2);
    expect(await runsOf(of.pipelineId)).to.deep.equal([]);
    const waiting = await Promise.all(ids.map((id) => call("GET", `${of.path}/deliveries/${id}`)));
    expect(waiting.map(({ state, nextTry }) => [state, nextTry])).to.deep.equal([
      ["owed", waiting[0].nextTry],
      ["owed", waiting[0].nextTry],
    ]);
    expect(waiting[0].error).to.match(/^p: /).and.include(of.url);
    expect(waiting[1].error).to.include("an older delivery waits for the repository");
    const asked = git.world.server.authorizations.length;
    await pass();
    expect(git.world.server.authorizations, "nothing is asked before its time").to.have.length(asked);
    git.world.mend();
    await pass(5_000);
    const runs = await runsOf(of.pipelineId);
    expect(runs.map(({ commitSha, jobs }) => [commitSha, jobs])).to.deep.equal([
      [of.head, "one"],
      [second, "two"],
    ]);
    expect(await runsOf(inline)).to.have.length(2);
    await pass(1_000_000);
    expect(await runsOf(of.pipelineId)).to.have.length(2);
  });

  it("give up a commit that the repository does not have, after a minute", async () => {
    const of = await hooked({ [DEFINITION_PATH]: definition("one") });
    const told = await push(of, "ab".repeat(20));
    await pass();
    for (let tries = 0; tries < 5; tries++) {
      expect((await verdictsOf(of, told))[0]).to.include({ outcome: "waiting" });
      await pass(40_000);
    }
    expect((await verdictsOf(of, told))[0]).to.include({ outcome: "refused" });
    expect(await runsOf(of.pipelineId)).to.deep.equal([]);
  });

  it("start nothing for other repositories and removed branches", async () => {
    const of = await hooked({ [DEFINITION_PATH]: definition("one") });
    const foreign = await push(of, of.head, { url: of.url.replace(/r\d+/, "other") });
    const removed = await push(of, of.head, { after: ZEROS });
    await pass();
    expect((await verdictsOf(of, removed))[0]).to.include({
      outcome: "filtered",
      text: "deletion: main was removed, which starts nothing",
    });
    expect((await verdictsOf(of, foreign))[0]).to.include({
      outcome: "filtered",
      text: `repository: the event is of team/code, and the definition is in ${of.url}`,
    });
    expect(await runsOf(of.pipelineId)).to.deep.equal([]);
  });

  it("let an unproved sender name no commit, and no pull request that is not of a fork", async () => {
    const triggers = ["push", "pull_request"].map((event) => ({ provider: "github", event }));
    const of = await hooked({ [DEFINITION_PATH]: definition("base", triggers) }, { proof: "none", secret: undefined });
    const foreign = of.origin.commit({ [DEFINITION_PATH]: definition("stolen", triggers) }, { branch: "tmp" });
    of.origin.git(["update-ref", "refs/pull/7/head", foreign]);
    of.origin.git(["update-ref", "-d", "refs/heads/tmp"]);
    const side = { ref: "main", repo: { full_name: "team/code" } };
    await push(of, foreign);
    await push(of, foreign, { ref: "refs/pull/7/head" });
    await deliver(of, "pull_request", {
      action: "opened",
      repository: { full_name: "team/code", clone_url: of.url },
      pull_request: { number: 7, title: "t", head: { ...side, sha: foreign }, base: { ...side, sha: of.head } },
    });
    await pass();
    const runs = await runsOf(of.pipelineId);
    expect(runs.map(({ jobs }) => jobs)).to.deep.equal(["base", "base", "base"]);
    const events = await Promise.all(
      runs.map(async ({ runId }) => (await call("GET", `/pipelines/runs/${runId}`)).trigger.event.untrusted),
    );
    expect(events).to.deep.equal([false, true, true]);
    expect(runs.map(({ commitSha }) => commitSha)).to.deep.equal([of.head, foreign, foreign]);
  });

  it("of a generic sender run the default branch, or the commit of a repository that they name", async () => {
    const of = await hooked(
      { [DEFINITION_PATH]: definition("base", [{ provider: "generic", event: "data" }]) },
      { kind: "generic", secret: "HOOK_KEY" },
    );
    const feature = of.origin.commit(
      { [DEFINITION_PATH]: definition("feature", [{ provider: "generic", event: "data" }]) },
      { branch: "feature" },
    );
    await deliver(of, "", { event: "data", ref: "refs/heads/feature" });
    await deliver(of, "", { event: "data", ref: "refs/heads/feature", repository: of.url });
    await deliver(of, "", { event: "data", repository: of.url, sha: feature });
    await pass();
    const runs = await runsOf(of.pipelineId);
    expect(runs.map(({ jobs, commitSha }) => [jobs, commitSha])).to.deep.equal([
      ["base", of.head],
      ["feature", feature],
      ["feature", feature],
    ]);
  });

  it("filter by the files that differ in the repository, whatever the body lists", async () => {
    const triggers = ["docs", "src"].map((name) => {
      return { name, provider: "github", event: "push", paths: [`${name}/**`] };
    });
    const of = await hooked({ [DEFINITION_PATH]: definition("one", triggers), "src/a": "1" });
    const docs = of.origin.commit({ "docs/a": "1" });
    const both = of.origin.commit({ "docs/b": "1", "src/a": null });
    const commits = [{ added: ["src/lie"], modified: [], removed: [] }];
    const told = [
      await push(of, docs, { before: of.head, commits }),
      await push(of, both, { before: docs }),
      await push(of, both, { before: of.head, ref: "refs/heads/other" }),
      await push(of, both, { ref: "refs/heads/new" }),
      await push(of, both, { before: "ab".repeat(20), ref: "refs/heads/forced" }),
    ];
    of.origin.git(["update-ref", "refs/heads/new", both]);
    await pass();
    const matched = await Promise.all(
      told.map(async (id) =>
        (await verdictsOf(of, id)).map(({ trigger, outcome, text }) => `${trigger!} ${outcome!} ${text!}`),
      ),
    );
    const unknown = "the changed files are not known, so `paths` counts as matched: ";
    expect(matched).to.deep.equal([
      ["docs matched matched", "src filtered paths filter: none of docs/a matches"],
      ["docs matched matched", "src matched matched"],
      ["docs matched matched", "src matched matched"],
      ["docs", "src"].map((name) => `${name} matched matched; ${unknown}there is no commit before it`),
      ["docs", "src"].map(
        (name) => `${name} matched matched; ${unknown}commit ${"ab".repeat(20)} is not there any more`,
      ),
    ]);
  });

  it("compare a pull request with the newest commit that it shares with its target", async () => {
    const triggers = ["docs", "src"].map((name) => {
      return { name, provider: "github", event: "pull_request", paths: [`${name}/**`] };
    });
    const of = await hooked({ [DEFINITION_PATH]: definition("one", triggers) });
    of.origin.commit({ "src/a": "1" }, { branch: "feature", onto: of.head });
    const head = of.origin.commit({ "src/b": "1" }, { branch: "feature" });
    of.origin.git(["update-ref", "refs/pull/3/head", head]);
    const target = of.origin.commit({ "docs/a": "1" });
    const told = await pullRequest(of, head, target);
    await pass();
    const texts = async (id: string) => (await verdictsOf(of, id)).map(({ trigger, text }) => `${trigger!}: ${text!}`);
    expect(await texts(told)).to.deep.equal(["docs: paths filter: none of src/a, src/b matches", "src: matched"]);
    of.origin.git(["update-ref", "refs/heads/main", head]);
    const merged = await pullRequest(of, head, target);
    await pass();
    expect((await texts(merged))[0]).to.include("main has its commits already");
  });

  it("do not end the run of a newer commit for one that is told of late", async () => {
    const more = 'concurrency: { group: "ci ${{ trigger.fullRef }}", onConflict: cancelRunning }\n';
    const text = definition("one", undefined, more);
    const of = await hooked({ [DEFINITION_PATH]: text });
    const second = of.origin.commit({ other: "2" });
    const third = of.origin.commit({ other: "3" });
    // The second before the first, and the repository is at the third already.
    const early = await push(of, second, { before: "ab".repeat(20) });
    const late = await push(of, of.head);
    await pass();
    const [run] = await runsOf(of.pipelineId);
    expect((await verdictsOf(of, early))[0]).to.include({ outcome: "matched" });
    expect((await verdictsOf(of, late))[0]).to.include({
      outcome: "outdated",
      text: `run ${run!.runId} builds the newer commit ${second}, and would be ended`,
    });
    // In order, the newer one takes the place of the older one.
    const newest = await push(of, third, { before: second });
    await pass();
    expect((await verdictsOf(of, newest))[0]).to.include({ outcome: "matched" });
    // After a forced push, no history connects the commits: the repository tells which one counts.
    const forced = of.origin.commit({ [DEFINITION_PATH]: text, forced: "1" }, { onto: null });
    await push(of, forced, { before: "cd".repeat(20) });
    const older = await push(of, third, { before: "ef".repeat(20) });
    // Another ref has a group of its own.
    of.origin.git(["update-ref", "refs/heads/other", third]);
    const other = await push(of, third, { ref: "refs/heads/other" });
    await pass();
    expect((await verdictsOf(of, older))[0]).to.include({ outcome: "outdated" });
    expect((await verdictsOf(of, other))[0]).to.include({ outcome: "matched" });
    expect((await runsOf(of.pipelineId)).map(({ commitSha }) => commitSha)).to.deep.equal([
      second,
      third,
      forced,
      third,
    ]);
  });
});

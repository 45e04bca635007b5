/**
 * A repository at its host, as users have it: connected, checked and moved by commands, its pull requests of forks approved and
 * deployed by a real agent, and its saves cut off by kill -9. The Git server is real; the API of the host checks every call.
 */
import { createHmac } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { serveRepositories } from "../../src/cli/sample/git-backend.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { specOf, textOf } from "../support/git-edge.ts";
import { GitHttpServer } from "../support/git-server.ts";
import { ProcessWorld } from "../support/processes.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";
import { until } from "../support/until.ts";

const PUBLIC = "https://ci.example";
const REVIEW = ".millrace/review.yaml";
/** Deploys each pull request to an environment, from the commit that was approved. */
const REVIEW_TEXT = `
triggers: { event: [{ provider: gitea, event: pull_request }] }
jobs:
  - name: deploy
    target: { environment: review }
    steps:
      - uses: checkout
      - uses: shell
        args: { script: 'test "$(git rev-parse HEAD)" = "$MILLRACE_COMMIT_SHA" && cat VERSION' }
`;

describe("a repository at its host", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let host: ProviderServer;
  let server: GitHttpServer;
  let installation: EmbeddedInstallation;
  let origin: BareRepository;
  let repoUrl: string;

  const serve = () =>
    installation.serve(join(world.folder, "data"), {
      MILLRACE_GIT_NETWORKS: "127.0.0.0/8",
      MILLRACE_PUBLIC_URL: PUBLIC,
    });
  before(async () => {
    world = await ProcessWorld.create();
    host = await new ProviderServer("gitea").start();
    server = await new GitHttpServer(world.folder, { user: "ann", password: "deep-secret" }).start();
    server.intercept = (request, response) => {
      if (host.isMine(request)) {
        void host.answer(request, response);
        return true;
      }
      // The agent has no credential for the commit of a fork: everyone may read.
      if (request.headers.authorization !== undefined || request.url?.includes("git-receive-pack") === true)
        return false;
      serveRepositories(world.folder, request, response, undefined);
      return true;
    };
    repoUrl = `${server.origin}/team/app.git`;
    origin = new BareRepository(world.folder, "team/app");
    origin.commit({ [REVIEW]: REVIEW_TEXT, ".millrace/broken.yaml": "jobs: 7\n", VERSION: "main\n" });
    installation = await EmbeddedInstallation.create(world);
    await serve();
    await installation.agent("one");
    for (const [name, value] of Object.entries({ CODE: "ann:deep-secret", API: TOKEN })) {
      await call("POST", "/projects/default/secrets", { name, value });
    }
  });
  after(async () => {
    await world?.end();
    await host?.stop();
    await server?.stop();
  });
  afterEach(() => {
    host.intercept = () => false;
  });

  const call = async (method: string, path: string, body?: object) => {
    const answer = await installation.call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  };
  /** Runs a command to its end. */
  const millrace = async (...args: string[]) => {
    const env = { MILLRACE_URL: `http://${installation.node.http}`, MILLRACE_TOKEN: installation.adminToken };
    const started = world.start(args, { env });
    const { code } = await started.exited;
    return { code, said: started.stdout + started.stderr };
  };
  const pipelineNamed = async (name: string) => (await call("GET", `/pipelines?name=${name}`)).list[0].pipelineId;

  let deliveries = 0;
  /** Delivers an event as the host does. */
  const deliverTo = async ({ url, secret }: { url: string; secret: string }, event: string, body: object) => {
    const repository = { full_name: "team/app", clone_url: repoUrl, default_branch: "main" };
    const raw = JSON.stringify({ repository, ...body });
    const answer = await fetch(url.replace(PUBLIC, `http://${installation.node.http}`), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-gitea-delivery": `delivery-${deliveries++}`,
        "x-gitea-event": event,
        "x-gitea-signature": createHmac("sha256", secret).update(raw).digest("hex"),
      },
      body: raw,
    });
    expect(answer.status).to.equal(200);
  };

  it("is discovered, connected, checked, and gets its webhook, by commands", async () => {
    const discover = ["pipelines", "discover", repoUrl, "--credential", "CODE"];
    const listed = await millrace(...discover);
    expect(listed.code, listed.said).to.equal(0);
    expect(listed.said).to.match(/\.millrace\/review\.yaml +app-review +- +-/);
    expect(listed.said).to.match(/\.millrace\/broken\.yaml +app-broken +- +1:7 /);
    const made = await millrace(...discover, "--connect", REVIEW, "--connect", "../outside.yaml");
    expect(made.code, "one of both is refused").to.equal(1);
    expect(made.said)
      .to.match(/review\.yaml: created app-review \(pl_/)
      .and.to.match(/^\.\.\/outside\.yaml: ./m);
    const all = await millrace(...discover, "--all");
    expect(all.said.trim()).to.match(/^\.millrace\/review\.yaml: is the definition of app-review \(pl_\w+\) already$/);
    expect(all.code).to.equal(0);

    const pipelineId = await pipelineNamed("app-review");
    const fields = { repoProvider: "gitea", repoApiCredential: "API", commitStatuses: "off" };
    await call("PUT", `/pipelines/${pipelineId}`, fields);
    const checked = await millrace("pipelines", "check", "app-review");
    expect(checked.said).to.include(`${REVIEW} of branch main (${origin.tip()}): nothing is missing`);
    expect(checked.code).to.equal(0);
    const missing = await millrace("pipelines", "webhook", "app-review", "--check");
    expect(missing.code, missing.said).to.equal(1);
    expect(missing.said)
      .to.match(/^missing: /)
      .and.to.include("next: `millrace pipelines webhook`");
    expect(host.hooks.stored).to.deep.equal([]);
    const hooked = await millrace("pipelines", "webhook", "app-review");
    const [stored, ...others] = host.hooks.stored;
    expect(others).to.deep.equal([]);
    expect(hooked.said).to.equal(`made the webhook at gitea, which calls ${stored!.url}\n`);
    expect(stored!.url).to.match(/^https:\/\/ci\.example\/api\/v1\/hooks\/hook_/);
    expect(stored!.secret).to.have.length.greaterThan(20);

    server.expected = { user: "ann", password: "rotated" };
    try {
      const rotated = await millrace("pipelines", "check", "app-review");
      expect(rotated.said).to.match(/^repoCredential: /m);
      expect(rotated.code).to.equal(1);
    } finally {
      server.expected = { user: "ann", password: "deep-secret" };
    }
  });

  it("takes an inline definition as it is, and gives it back, by a command each", async () => {
    const { pipelineId } = await call("POST", "/pipelines", { name: "notes" });
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: specOf("echo 1"), layout: textOf("echo 1") });
    const path = ".millrace/notes.yaml";
    const place = ["--path", path, "--credential", "CODE", "--message", "Take the notes in"];
    const moved = await millrace("pipelines", "move", "notes", repoUrl, ...place);
    expect(moved.code, moved.said).to.equal(0);
    expect(moved.said).to.equal(`the definition of notes is ${path} of ${repoUrl}, at ${origin.tip()}\n`);
    expect(`${origin.git(["show", `main:${path}`])}\n`).to.equal(textOf("echo 1"));
    expect(origin.git(["log", "-1", "--format=%s", "main"])).to.equal("Take the notes in");
    const back = await millrace("pipelines", "move", "notes", "inline");
    expect(back.said).to.match(/^the definition of notes is inline, at rev_/);
    expect((await call("GET", `/pipelines/${pipelineId}/spec`)).text).to.equal(textOf("echo 1"));
  });

  it("ends the run of a push for the next push to the same branch, and no other run", async () => {
    const { projectId } = await call("POST", "/projects", { name: "pushed" });
    const secret = "swordfish-and-more";
    await call("POST", `/projects/${projectId}/secrets`, { name: "KEY", value: secret });
    const hook = await call("POST", `/projects/${projectId}/hooks`, { name: "code", kind: "gitea", secret: "KEY" });
    const { pipelineId } = await call("POST", "/pipelines", { name: "pushed", projectId });
    const events = ["push", "tag", "pull_request", "release", "comment"];
    const spec = {
      triggers: { event: events.map((event) => ({ provider: "gitea", event })) },
      concurrency: { group: "ci ${{ trigger.event }} ${{ trigger.fullRef }}", onConflict: "cancelRunning" },
      // No agent takes it.
      jobs: [{ name: "j", agentSelector: { matchLabels: { name: "none" } }, steps: [{ uses: "checkout" }] }],
      source: { repo: repoUrl },
    };
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec });
    const deliver = (event: string, body: object) => deliverTo({ url: `${PUBLIC}${hook.path}`, secret }, event, body);
    const [a, b] = ["a".repeat(40), "b".repeat(40)];
    const push = (ref: string, after: string | undefined, before = "0".repeat(40)) =>
      deliver("push", { ref, before, after, sender: { login: "ann" } });
    const pushed = async (count: number) =>
      until(`${count} runs`, async () => {
        const { list } = await call("GET", `/pipelines/${pipelineId}/runs?sort=createdAt`);
        return list.length === count ? list : undefined;
      });
    await push("refs/heads/v1", a);
    // Of each, something has the name of the branch, its commit or its ref.
    await push("refs/tags/v1", a);
    await push("refs/heads/other", a);
    const release = { tag_name: "v1", name: "v1" };
    await deliver("release", { action: "published", sender: { login: "ann" }, release });
    const repo = { full_name: "team/app" };
    const sides = { head: { ref: "v1", sha: a, repo }, base: { ref: "main", sha: a, repo } };
    await deliver("pull_request", {
      action: "opened",
      sender: { login: "ann" },
      pull_request: { number: 7, ...sides },
    });
    await deliver("issue_comment", {
      action: "created",
      repository: { full_name: "team/app", clone_url: repoUrl, default_branch: "v1" },
      issue: { number: 3, title: "Help" },
      comment: { body: "Please" },
      sender: { login: "bob" },
    });
    const endsOf = (list: readonly { endTime: string | null }[]) => list.map(({ endTime }) => endTime);
    expect(endsOf(await pushed(6))).to.deep.equal(Array(6).fill(null));
    await push("refs/heads/v1", b, a);
    const newest = (await pushed(7)).at(-1).runId;
    const runs = await until("the end of a run", async () => {
      const list = await pushed(7);
      return list.some(({ endTime }: { endTime: string | null }) => endTime !== null) ? list : undefined;
    });
    const [first, ...others] = runs;
    expect(await call("GET", `/pipelines/runs/${first.runId}`)).to.include({
      status: "cancelled",
      reason: `superseded by ${newest}`,
    });
    expect(endsOf(others)).to.deep.equal(Array(6).fill(null));
  });

  describe("with pull requests of forks", () => {
    /** With the secret that the host was given. */
    const deliver = (event: string, body: object) => deliverTo(host.hooks.stored[0]!, event, body);
    /** The run of the commit, which waits for its approval. */
    const opened = async (version: string, action: string) => {
      const sha = origin.commit({ VERSION: version }, { branch: "fork-1", onto: origin.tip()! });
      origin.git(["update-ref", "refs/pull/1/head", sha]);
      host.heads.set(1, sha);
      await deliver("pull_request", {
        action,
        sender: { login: "mallory", id: 66 },
        pull_request: {
          number: 1,
          title: "Look",
          user: { login: "mallory", id: 66 },
          head: { ref: "main", sha, repo: { full_name: "mallory/app" } },
          base: { ref: "main", sha: origin.tip(), repo: { full_name: "team/app" } },
        },
      });
      const run = await until("the run waits", async () => {
        const { list } = await call("GET", `/pipelines/${await pipelineNamed("app-review")}/runs`);
        return list.find((one: any) => one.commitSha === sha && one.waitingFor?.reason === "approval");
      });
      expect(run.status).to.equal("pending");
      return run.runId as string;
    };
    const successOf = async (runId: string) => {
      const run = await until("the end of the run", async () => {
        const found = await call("GET", `/pipelines/runs/${runId}`);
        return found.endTime === null ? undefined : found;
      });
      expect(run.status, JSON.stringify(run.jobs)).to.equal("success");
      const [{ steps }] = run.jobs;
      const path = `/pipelines/${run.pipelineId}/runs/${runId}/steps/${steps[1].stepRunId}/logs`;
      return JSON.stringify((await call("GET", path)).list);
    };

    it("runs the approved commit on an agent, after a comment or the vote of a user", async () => {
      const first = await opened("from the fork\n", "opened");
      host.members.set("ann", "write");
      await deliver("issue_comment", {
        action: "created",
        is_pull: true,
        issue: { number: 1, title: "Look", user: { login: "mallory" }, pull_request: {} },
        comment: { body: "/millrace run" },
        sender: { login: "ann", id: 11 },
      });
      expect(await successOf(first)).to.include("from the fork");
      const [{ approvals }] = (await call("GET", `/pipelines/runs/${first}/approvals`)).list;
      expect(approvals, JSON.stringify(approvals)).to.have.length(1);
      expect(JSON.stringify(approvals)).to.include('"gitea:ann"');

      const second = await opened("new commits\n", "synchronized");
      const approved = await millrace("approve", second, "--comment", "read it");
      expect(approved.code, approved.said).to.equal(0);
      expect(await successOf(second)).to.include("new commits");

      const environments = await millrace("environments");
      expect(environments.said).to.match(new RegExp(`review +app-review +\\w{30} .* ${second} +success`));
      const history = await millrace("environments", "history", "review", "--pipeline", "app-review");
      const runs = [...history.said.matchAll(/run_\w+/g)].map(([runId]) => runId);
      expect(runs, history.said).to.deep.equal([second, first]);
      expect((await millrace("environments", "nowhere")).said).to.include("no environments");
    });
  });

  describe("whose saves are cut off by kill -9", () => {
    let pipelineId: string;
    before(async () => {
      const place = { repoUrl, repoCredential: "CODE", pipelineFilePath: ".millrace/saved.yaml" };
      const atHost = { repoProvider: "gitea", repoApiCredential: "API" };
      ({ pipelineId } = await call("POST", "/pipelines", {
        name: "saved",
        ...place,
        ...atHost,
        commitStatuses: "off",
      }));
    });
    const save = (body: object) => installation.call("POST", `/pipelines/${pipelineId}/spec/save`, body);
    const commitsOf = (branch: string) => Number(origin.git(["rev-list", "--count", branch]));
    /** Kills the node in the middle of a save, and starts it again. */
    const killIn = async (body: object, what: string, isThere: () => boolean, then: () => Promise<void>) => {
      const cutOff = save(body).then(
        () => "answered",
        () => "cut off",
      );
      await until(what, isThere);
      installation.node.kill("SIGKILL");
      await installation.node.exited;
      expect(await cutOff).to.equal("cut off");
      await then();
      await serve();
    };

    it("has one commit of a save that lands after the node has died, when the save is repeated", async () => {
      const [begun, go] = ["begun", "go"].map((name) => join(world.folder, name)) as [string, string];
      const before = commitsOf("main");
      origin.hook("pre-receive", `touch '${begun}'; until [ -e '${go}' ]; do sleep 0.05; done`);
      const body = { spec: specOf("echo direct"), requestId: "direct", commitMessage: "Save once" };
      await killIn(
        body,
        "the push",
        () => existsSync(begun),
        async () => {
          expect(commitsOf("main")).to.equal(before);
          writeFileSync(go, "");
          await until("the push has landed", () => commitsOf("main") === before + 1);
        },
      );
      rmSync(join(origin.path, "hooks", "pre-receive"));
      const repeated = await save(body);
      expect(repeated.status, JSON.stringify(repeated.body)).to.equal(200);
      expect(repeated.body.detail.headCommitSha).to.equal(origin.tip());
      expect(commitsOf("main")).to.equal(before + 1);
      expect((await save(body)).body.detail).to.deep.equal(repeated.body.detail);
      const { list } = await call("GET", `/pipelines/${pipelineId}/revisions`);
      expect(list.map(({ commitSha }: { commitSha: string }) => commitSha)).to.deep.equal([origin.tip()]);
    });

    it("has one pull request of a save that dies while the host opens it", async () => {
      const main = commitsOf("main");
      let isOpened = false;
      host.intercept = ({ method, url }, _, act) => {
        if (method !== "POST" || url?.endsWith("/pulls") !== true) return false;
        act();
        // The answer never comes.
        return (isOpened = true);
      };
      const body = { spec: specOf("echo proposed"), requestId: "proposed", saveMode: "pr" };
      await killIn(
        body,
        "the pull request",
        () => isOpened,
        async () => {
          host.intercept = () => false;
        },
      );
      const repeated = await save(body);
      expect(repeated.status, JSON.stringify(repeated.body)).to.equal(200);
      const { headCommitSha, pullRequest } = repeated.body.detail;
      expect(host.pulls.map(({ number, branch }) => [number, branch])).to.deep.equal([[1, pullRequest.branch]]);
      expect(origin.tip(pullRequest.branch)).to.equal(headCommitSha);
      expect(commitsOf(pullRequest.branch)).to.equal(main + 1);
      expect(commitsOf("main")).to.equal(main);
      expect((await save(body)).body.detail).to.deep.equal(repeated.body.detail);
    });
  });
});

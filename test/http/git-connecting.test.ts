/** Repositories that are connected over HTTP: their definitions are found, and pipelines are made of them. */
import { expect } from "chai";
import { DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";

describe("connecting a repository", () => {
  let git: GitEdge;
  before(async () => {
    git = await GitEdge.open();
  });
  after(() => git.close());
  afterEach(() => git.world.mend());

  const discover = (body: object, options: object = {}) =>
    git.edge.call("POST", "/api/v1/projects/default/repository/discover", { body, ...options });
  const make = (body: object) => git.edge.call("POST", "/api/v1/projects/default/repository/pipelines", { body });

  describe("finds its definitions", () => {
    it("with names, problems and the pipelines that there are", async () => {
      const { origin, pipelineId, head } = await git.connected();
      const repoUrl = `${git.world.server.origin}/${origin.path.split("/").at(-1)}`;
      const bad = "jobs: [{ name: a, colour: red }]\n";
      const next = origin.commit({
        ".millrace/deploy/web.yml": textOf("echo web"),
        ".millrace/bad.yaml": bad,
        ".millrace/link.yaml": { link: "pipeline.yaml" },
        ".millrace/large.json": Buffer.alloc(1_100_000, "x"),
        ".millrace/bytes.yaml": Buffer.from([0xff, 0xfe]),
        ".millrace/notes.txt": "no definition",
        "other.yaml": textOf("echo other"),
      });
      expect(next).to.not.equal(head);
      const found = await discover({ repoUrl, repoCredential: "CODE" });
      expect(found.status, JSON.stringify(found.body)).to.equal(200);
      const { list, ...rest } = found.body.detail;
      expect(rest).to.deep.equal({
        projectId: "default",
        repoUrl,
        branch: "main",
        headCommitSha: next,
        hasMore: false,
      });
      type Row = {
        path: string;
        valid: boolean;
        name: string;
        problem: string;
        pipeline: { pipelineId: string } | null;
      };
      const rows = new Map((list as Row[]).map((row) => [row.path, row]));
      expect([...rows.keys()]).to.deep.equal(
        ["bad.yaml", "bytes.yaml", "deploy/web.yml", "large.json", "link.yaml", "pipeline.yaml"].map(
          (path) => `.millrace/${path}`,
        ),
      );
      const repository = repoUrl.split("/").at(-1)!.replace(".git", "");
      expect(rows.get(DEFINITION_PATH)).to.deep.include({ valid: true, problem: "" });
      expect(rows.get(DEFINITION_PATH)!.pipeline!.pipelineId).to.equal(pipelineId);
      const web = rows.get(".millrace/deploy/web.yml");
      expect(web).to.include({ valid: true, name: `${repository}-deploy-web`, pipeline: null });
      const withErrors = list.find(({ path }: Row) => path === ".millrace/bad.yaml");
      expect(withErrors.valid).to.equal(false);
      expect(withErrors.diagnostics.map(({ code }: { code: string }) => code)).to.include("unknown-key");
      expect(withErrors.diagnostics[0]).to.include({ line: 1 });
      expect(rows.get(".millrace/link.yaml")!.problem).to.include("symbolic link");
      expect(rows.get(".millrace/large.json")!.problem).to.include("too large");
      expect(rows.get(".millrace/bytes.yaml")!.problem).to.include("UTF-8");
    });

    it("or says what is missing, and is for maintainers", async () => {
      const { origin, repository } = git.world.newRepository();
      const repoUrl = repository.remote.url;
      const empty = await discover({ repoUrl, repoCredential: "CODE" });
      expect(empty.body.detail, JSON.stringify(empty.body)).to.deep.include({ headCommitSha: null, list: [] });
      origin.commit({ other: "x" });
      expect((await discover({ repoUrl, repoCredential: "CODE" })).body.detail.list).to.deep.equal([]);
      for (const [body, status, pointer] of [
        [{ repoUrl }, 422, "/repoCredential"],
        [{ repoUrl, repoCredential: "NONE" }, 400, "/repoCredential"],
        [{ repoUrl, repoCredential: "CODE", defaultBranch: "gone" }, 422, "/defaultBranch"],
        [{ repoUrl, repoCredential: "CODE", defaultBranch: "--upload-pack=x" }, 400, "/defaultBranch"],
        [{ repoUrl: "" }, 400, "/repoUrl"],
      ] as const) {
        const refused = await discover(body);
        expect(refused.status, JSON.stringify(refused.body)).to.equal(status);
        expect(refused.body.errors[0].pointer).to.equal(pointer);
      }
      const { token } = await git.edge.userWithRole("operator");
      expect((await discover({ repoUrl }, { token })).status).to.equal(403);
    });

    it("a bounded number, and says that there are more", async () => {
      const { origin, repository } = git.world.newRepository();
      const many = Array.from({ length: 51 }, (_, at) => [`.millrace/p${String(at).padStart(2, "0")}.yaml`, "a: 1\n"]);
      origin.commit(Object.fromEntries(many));
      const found = await discover({ repoUrl: repository.remote.url, repoCredential: "CODE" });
      expect(found.body.detail.list, JSON.stringify(found.body)).to.have.length(50);
      expect(found.body.detail.hasMore).to.equal(true);
    });
  });

  describe("makes pipelines of chosen files", () => {
    it("once, whether the call is repeated or not, and records each", async () => {
      const { origin, repository } = git.world.newRepository();
      const repoUrl = repository.remote.url;
      const name = repoUrl.split("/").at(-1)!.replace(".git", "");
      origin.commit({
        [DEFINITION_PATH]: textOf("echo 1"),
        ".millrace/b.yaml": textOf("echo 2"),
        ".millrace/link.yaml": { link: "b.yaml" },
      });
      const files = [{ path: DEFINITION_PATH }, { path: ".millrace/b.yaml" }, { path: ".millrace/link.yaml" }];
      const body = { repoUrl, repoCredential: "CODE", files, requestId: `make ${name}` };
      const made = await make(body);
      expect(made.status, JSON.stringify(made.body)).to.equal(200);
      const [first, second, link] = made.body.detail.list;
      expect([first.outcome, second.outcome, link.outcome]).to.deep.equal(["created", "created", "refused"]);
      expect([first.name, second.name]).to.deep.equal([name, `${name}-b`]);
      expect(link.problem).to.include("symbolic link");
      const read = await git.spec(second.pipelineId);
      expect(read).to.include({ path: ".millrace/b.yaml", text: textOf("echo 2") });
      const repeated = await make(body);
      expect(repeated.body.detail.list.slice(0, 2)).to.deep.equal([first, second]);
      expect((await make({ ...body, files: files.slice(0, 1) })).body.reason).to.equal("request_id_reused");
      const fresh = await make({ ...body, requestId: undefined });
      expect(fresh.body.detail.list[0]).to.deep.equal({ ...first, outcome: "connected" });
      const entries = (await git.edge.call("GET", "/api/v1/audit?limit=100&operation=makePipelines")).body.detail.list;
      const recorded = entries.filter(({ operation }: { operation: string }) => operation === "makePipelines");
      expect(recorded.map(({ object }: { object: { id: string } }) => object.id)).to.have.members([
        first.pipelineId,
        second.pipelineId,
      ]);
    });

    it("with the same key as the call that the repository refused", async () => {
      const { origin, repository } = git.world.newRepository();
      origin.commit({ [DEFINITION_PATH]: textOf("echo 1") });
      const body = { name: "once refused", repoUrl: repository.remote.url, repoCredential: "CODE" };
      const create = () =>
        git.edge.call("POST", "/api/v1/pipelines", { body, headers: { "idempotency-key": "once refused" } });
      git.world.server.expected = { user: "ann", password: "another" };
      expect((await create()).body).to.include({ code: 422, reason: "git_refused" });
      git.world.mend();
      const made = await create();
      expect(made.status, JSON.stringify(made.body)).to.equal(200);
      expect((await create()).body.detail.pipelineId).to.equal(made.body.detail.pipelineId);
    });

    it("and says which one is refused, and refuses a path that is given twice", async () => {
      const { origin, repository } = git.world.newRepository();
      origin.commit({ [DEFINITION_PATH]: textOf("echo 1") });
      const taken = (await git.create()).body.detail.name;
      const place = { repoUrl: repository.remote.url, repoCredential: "CODE" };
      const refused = await make({ ...place, files: [{ path: DEFINITION_PATH, name: taken }, { path: "../x.yaml" }] });
      expect(refused.body.detail.list.map(({ outcome }: { outcome: string }) => outcome)).to.deep.equal([
        "refused",
        "refused",
      ]);
      expect(refused.body.detail.list[0].problem).to.include(taken);
      const twice = await make({ ...place, files: [{ path: DEFINITION_PATH }, { path: DEFINITION_PATH }] });
      expect(twice.body.errors[0].pointer).to.equal("/files");
    });
  });
});

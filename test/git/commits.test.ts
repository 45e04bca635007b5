/** Commits that are pushed to a real server, and the cache of mirrors. */
import { expect } from "chai";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultOf, GitWorld, PATH, requestFor, TEXT } from "../support/git-engine.ts";

describe("commits and mirrors of repositories", () => {
  let world: GitWorld;
  before(async () => {
    world = await new GitWorld().start();
  });
  after(() => world.stop());
  afterEach(() => world.mend());

  describe("committing", () => {
    it("changes one file only, by the given author, and the same request makes the same commit", async () => {
      const { origin, repository } = world.newRepository();
      const parent = origin.commit({ other: "untouched", [PATH]: TEXT });
      const pushed = await world.engine.commitFile(repository, requestFor(parent));
      const { commit, file } = await world.read(repository);
      expect(pushed).to.deep.equal({ outcome: "pushed", commit: commit.id });
      expect(commit).to.deep.include({
        parents: [parent],
        author: { name: "Ann script", email: "ann@example.org" },
        committer: { name: "millrace", email: "millrace@example.org" },
        authoredAt: 1_700_000_000_000,
        message: "Change it\n\nMillrace-Revision: rev_1",
      });
      expect(file.kind === "file" && file.content.toString()).to.equal("jobs: [] # new\n");
      expect(origin.git(["diff", "--name-status", parent, commit.id])).to.equal(`M\t${PATH}`);
      expect(await world.engine.commitFile(repository, requestFor(parent))).to.deep.equal(pushed);
      const elsewhere = world.engineWith({ folder: join(world.folder, "cache2") });
      expect(await elsewhere.commitFile(repository, requestFor(parent))).to.deep.equal(pushed);
    });

    it("makes missing folders, keeps the mode, and begins an empty repository", async () => {
      const { origin, repository } = world.newRepository();
      expect(await world.engine.isEmpty(repository)).to.equal(true);
      const path = ".millrace/a/b.yaml";
      const first = await world.engine.commitFile(repository, requestFor(null, { path }));
      expect(first.outcome).to.equal("pushed");
      expect(await world.engine.isEmpty(repository)).to.equal(false);
      expect((await world.read(repository, "main", world.engine, path)).file.kind).to.equal("file");
      const parent = origin.commit({ [path]: { program: TEXT } });
      await world.engine.commitFile(repository, requestFor(parent, { path, content: "other\n" }));
      expect(origin.git(["ls-tree", "main", path])).to.match(/^100755 /);
    });

    it("refuses a path that leads through a file or a link", async () => {
      const { origin, repository } = world.newRepository();
      const parent = origin.commit({ "plain.yaml": TEXT, link: { link: "/etc" } });
      for (const path of ["plain.yaml/x.yaml", "link/x.yaml"]) {
        const fault = await faultOf(world.engine.commitFile(repository, requestFor(parent, { path })));
        expect(fault.message, path).to.include("is no folder");
      }
    });

    it("lets one of two win, and never drops the commit of another", async () => {
      const { origin, repository } = world.newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      const elsewhere = world.engineWith({ folder: join(world.folder, "cache3") });
      const outcomes = await Promise.all([
        world.engine.commitFile(repository, requestFor(parent, { content: "a\n" })),
        elsewhere.commitFile(repository, requestFor(parent, { content: "b\n" })),
      ]);
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).to.deep.equal(["pushed", "raced"]);
      const behind = await world.engine.commitFile(repository, requestFor(parent, { content: "c\n" }));
      expect(behind.outcome).to.equal("raced");
      expect(await world.engine.commitFile(repository, requestFor(null))).to.deep.equal({ outcome: "raced" });
    });

    it("tells the words of a server that protects the branch", async () => {
      const { origin, repository } = world.newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      origin.hook("pre-receive", `echo "main is protected: \\033[31mopen a pull request" >&2; exit 1`);
      const refused = await world.engine.commitFile(repository, requestFor(parent));
      expect(refused.outcome).to.equal("refused");
      expect(refused)
        .to.have.property("words")
        .that.matches(/main is protected: .*open a pull request.*declined/);
      expect(JSON.stringify(refused)).to.not.include("u001b");
    });

    it("tells a credential that may only read before a commit is made", async () => {
      const { origin, repository } = world.newRepository();
      const head = origin.commit({ [PATH]: TEXT });
      await world.engine.checkPush(repository, "main", head);
      origin.configure("http", "receivepack", "false");
      const fault = await faultOf(world.engine.checkPush(repository, "main", head));
      expect(fault.kind, fault.message).to.equal("readOnly");
      expect((await faultOf(world.engine.commitFile(repository, requestFor(head)))).kind).to.equal("readOnly");
    });

    it("finds the commit of a push whose answer was lost", async () => {
      const { origin, repository } = world.newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      world.server.intercept = (request, response) => {
        if (request.method !== "POST" || !request.url!.endsWith("git-receive-pack")) return false;
        // The push arrives, and its answer does not.
        response.writeHead = () => response;
        response.write = () => true;
        response.end = () => response.destroy();
        return false;
      };
      expect((await faultOf(world.engine.commitFile(repository, requestFor(parent)))).kind).to.equal("cutOff");
      world.server.intercept = () => false;
      const { commit } = await world.read(repository);
      expect(commit.parents).to.deep.equal([parent]);
      origin.commit({ other: "later" });
      expect((await world.engine.findCommit(repository, "main", "Millrace-Revision: rev_1"))?.id).to.equal(commit.id);
      expect(await world.engine.findCommit(repository, "main", "Millrace-Revision: rev_2")).to.equal(undefined);
      expect((await world.engine.lastChange(repository, "main", PATH))?.id).to.equal(commit.id);
    });
  });

  describe("mirrors", () => {
    const cached = (at: string) =>
      readdirSync(at, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".git"));

    it("are thrown away when they have grown, and the oldest when all have", async () => {
      const at = join(world.folder, "bounded");
      const one = world.engineWith({ folder: at, bounds: { files: 1 } });
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      expect((await world.read(repository, "main", one)).file.kind).to.equal("file");
      expect(cached(at)).to.deep.equal([]);
      const all = world.engineWith({ folder: join(world.folder, "all"), bounds: { totalBytes: 1 } });
      await world.read(repository, "main", all);
      expect(cached(join(world.folder, "all"))).to.deep.equal([]);
    });

    it("that are damaged are made again", async () => {
      const at = join(world.folder, "damaged");
      const other = world.engineWith({ folder: at });
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      await world.read(repository, "main", other);
      const [mirror] = cached(at);
      for (const damage of [
        () => rmSync(join(at, mirror!, "objects", "pack"), { recursive: true }),
        () => writeFileSync(join(at, mirror!, "HEAD"), "nonsense"),
        () => writeFileSync(join(at, mirror!, "shallow.lock"), ""),
        () => rmSync(join(at, mirror!, ".."), { recursive: true }),
      ]) {
        damage();
        origin.commit({ [PATH]: `${TEXT}# ${damage.toString()}` });
        expect((await world.read(repository, "main", other)).file.kind, damage.toString()).to.equal("file");
      }
    });

    it("of another owner are not shared", async () => {
      const { origin, repository } = world.newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      await world.read(repository, commit);
      const ofAnotherProject = { ...repository, owner: "prj_2", credential: "ann:wrong" };
      expect((await faultOf(world.read(ofAnotherProject, commit))).kind).to.equal("authentication");
    });

    it("of processes that have ended are removed", async () => {
      const at = join(world.folder, "leftover");
      const left = world.engineWith({ folder: at });
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      await world.read(repository, "main", left);
      const [own] = readdirSync(at);
      rmSync(join(at, own!), { recursive: true });
      const gone = join(at, "999999999-0000");
      mkdirSync(gone);
      await world.read(repository, "main", world.engineWith({ folder: at }));
      expect(readdirSync(at)).to.not.include("999999999-0000");
    });
  });
});

/** The engine against real servers: `git http-backend` behind a password, and what such a server may do wrong. */
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitFault } from "../../src/git/git-fault.ts";
import { type GitOptions, GitRepositories, type Repository } from "../../src/git/git-repositories.ts";
import { hostKeysOfFile } from "../../src/git/host-keys.ts";
import { parseRemote, type Remote } from "../../src/git/remote.ts";
import type { CommitRequest } from "../../src/git/commit-file.ts";
import { refOf } from "../../src/git/names.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { GitHttpServer } from "../support/git-server.ts";

const PATH = ".millrace.yaml";
const TEXT = "jobs: []\n";
const LOOPBACK = [{ address: "127.0.0.0", bits: 8 }];
const PASSWORD = "pass%word$";

describe("repositories over HTTP", () => {
  let folder: string;
  let server: GitHttpServer;
  let engine: GitRepositories;
  let names = 0;
  const others: GitRepositories[] = [];

  const options = (): GitOptions => ({
    folder: join(folder, "cache"),
    mayReach: addressRule(LOOPBACK),
    isAllowed: (address) => address.startsWith("127."),
    hostKeys: hostKeysOfFile(null),
    caFile: null,
  });
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "millrace-git-"));
    server = await new GitHttpServer(folder, { user: "ann", password: PASSWORD }).start();
    engine = new GitRepositories(options());
  });
  after(async () => {
    await server.stop();
    await Promise.all([engine, ...others].map((each) => each.close()));
    rmSync(folder, { recursive: true });
  });
  afterEach(() => {
    server.intercept = () => false;
    server.expected = { user: "ann", password: PASSWORD };
  });

  function engineWith(given: Partial<GitOptions>): GitRepositories {
    const other = new GitRepositories({ ...options(), ...given });
    others.push(other);
    return other;
  }
  function remoteOf(url: string): Remote {
    const remote = parseRemote(url);
    if (typeof remote === "string") throw new Error(remote);
    return remote;
  }
  function newRepository(filters = true): { readonly origin: BareRepository; readonly repository: Repository } {
    const name = `r${++names}`;
    const origin = new BareRepository(folder, name, { filters });
    const remote = remoteOf(`${server.origin}/${name}.git`);
    return { origin, repository: { owner: "prj_1", remote, credential: `ann:${PASSWORD}` } };
  }
  const read = (repository: Repository, ref = "main", given = engine, path = PATH) =>
    given.read(repository, { ref: refOf(ref)!, path });
  async function faultOf(work: Promise<unknown>): Promise<GitFault> {
    const fault = await work.then(
      () => undefined,
      (error: GitFault) => error,
    );
    if (fault === undefined) throw new Error("it succeeded");
    expect(fault.name, String(fault.stack)).to.equal("GitFault");
    expect(fault.message).to.not.include(PASSWORD);
    return fault;
  }
  function requestFor(parent: string | null, fields: Partial<CommitRequest> = {}): CommitRequest {
    return {
      branch: "main",
      parent,
      path: PATH,
      content: "jobs: [] # new\n",
      message: "Change it\n\nMillrace-Revision: rev_1",
      author: { name: "Ann <script>", email: "ann@example.org" },
      committer: { name: "millrace", email: "millrace@example.org" },
      at: 1_700_000_000_000,
      ...fields,
    };
  }
  describe("reading", () => {
    it("finds the file by branch, tag, full name and commit, and knows who committed it", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ other: "x".repeat(100_000) });
      const commit = origin.commit({ [PATH]: TEXT }, { message: "Add it\n\nFor tests." });
      origin.git(["-c", "user.name=t", "-c", "user.email=t@t", "tag", "-a", "-m", "release", "v1", "main"]);
      const later = origin.commit({ [PATH]: "jobs: [] # later\n" }, { branch: "feature/x" });
      const found = await read(repository);
      expect(found.refName).to.equal("refs/heads/main");
      expect(found.commit).to.deep.include({
        id: commit,
        author: { name: "tester", email: "tester@example.org" },
        message: "Add it\n\nFor tests.",
      });
      expect(found.commit.authoredAt).to.be.closeTo(Date.now(), 60_000);
      expect(found.file.kind === "file" && found.file.content.toString()).to.equal(TEXT);
      for (const ref of ["v1", "refs/tags/v1", "refs/heads/main", commit]) {
        expect((await read(repository, ref)).commit.id, ref).to.equal(commit);
      }
      expect((await read(repository, "feature/x")).commit.id).to.equal(later);
      const known = await engine.read(repository, {
        ref: { kind: "branch", name: "main" },
        path: PATH,
        knownBlob: found.file.kind === "file" ? found.file.blob : "",
      });
      expect(known.file.kind).to.equal("known");
      expect(await engine.defaultBranch(repository)).to.equal("main");
    });

    it("joins calls for the same that have not begun", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      await read(repository);
      const before = server.authorizations.length;
      await read(repository);
      const one = server.authorizations.length - before;
      await Promise.all(Array.from({ length: 20 }, () => read(repository)));
      // The first has begun at once; the others wait for it and share one fetch.
      expect(server.authorizations.length - before).to.be.at.most(3 * one);
    });

    it("tells what is at the path instead of a file", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ "plain.yaml": TEXT, "link.yaml": { link: "plain.yaml" }, "d.yaml/in": "x" });
      for (const [path, kind] of [
        ["link.yaml", "symlink"],
        ["d.yaml", "folder"],
        ["none.yaml", "missing"],
        ["link.yaml/x.yaml", "missing"],
        ["plain.yaml", "file"],
      ] as const) {
        expect((await read(repository, "main", engine, path)).file.kind, path).to.equal(kind);
      }
    });

    it("takes a name for a branch whatever it begins with", async () => {
      const { origin, repository } = newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      origin.git(["update-ref", "refs/heads/--upload-pack=x", commit]);
      expect(refOf("--upload-pack=x")).to.equal(undefined);
      const ref = { kind: "ref", name: "refs/heads/--upload-pack=x" } as const;
      expect((await engine.read(repository, { ref, path: PATH })).commit.id).to.equal(commit);
    });

    it("says which ref is missing", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      const fault = await faultOf(read(repository, "gone"));
      expect(fault.kind).to.equal("noRef");
      expect(fault.message).to.include('has no branch or tag "gone"');
      expect((await faultOf(read(repository, "1".repeat(40)))).kind).to.equal("noRef");
    });

    it("follows a history that was rewritten", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      const first = await read(repository);
      origin.commit({ [PATH]: TEXT }, { onto: null, message: "rewritten" });
      const second = await read(repository);
      expect(second.commit.message).to.equal("rewritten");
      expect(second.commit.id).to.not.equal(first.commit.id);
    });

    it("reads a repository with 100,000 refs without taking them", async () => {
      const { origin, repository } = newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      const lines = Array.from({ length: 100_000 }, (_, index) => `${commit} refs/heads/many/${index}\n`);
      appendFileSync(join(origin.path, "packed-refs"), lines.toSorted().join(""));
      const begun = performance.now();
      expect((await read(repository)).commit.id).to.equal(commit);
      expect((await read(repository, "many/99999")).commit.id).to.equal(commit);
      expect(performance.now() - begun).to.be.lessThan(20_000);
    });

    it("refuses a file above the limit, compressed well or not at all", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ "flat.yaml": "#".repeat(300_000), "noise.yaml": randomBytes(300_000) });
      const small = engineWith({ bounds: { fileBytes: 10_000 } });
      for (const path of ["flat.yaml", "noise.yaml"]) {
        const fault = await faultOf(read(repository, "main", small, path));
        expect(fault.kind, path).to.equal("tooLarge");
        expect(fault.message).to.include("10000 bytes");
      }
    });

    it("bounds what a server sends that ignores filters", async () => {
      const { origin, repository } = newRepository(false);
      origin.commit({ [PATH]: TEXT });
      expect((await read(repository)).file.kind).to.equal("file");
      origin.commit({ large: randomBytes(3_000_000) });
      const bounded = engineWith({ bounds: { fetchBytes: 1_000_000 } });
      const fault = await faultOf(read(repository, "main", bounded));
      expect(fault.kind, fault.message).to.equal("tooLarge");
      expect((await read(repository)).file.kind).to.equal("file");
    });

    it("refuses a tree with a file in .git", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      const blob = Buffer.from(origin.git(["rev-parse", `main:${PATH}`]), "hex");
      const write = (type: string, content: string | Buffer) =>
        origin.git(["hash-object", "-t", type, "-w", "--stdin", "--literally"], content);
      const tree = write("tree", Buffer.concat([Buffer.from("100644 .git\0"), blob]));
      const evil = write("commit", `tree ${tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`);
      origin.git(["update-ref", "refs/heads/evil", evil]);
      expect((await faultOf(read(repository, "evil"))).kind).to.equal("hostile");
      expect((await read(repository)).file.kind).to.equal("file");
    });
  });

  describe("servers", () => {
    it("that refuse or fail are told apart", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      await read(repository);
      for (const [status, kind] of [
        [403, "authentication"],
        [404, "notFound"],
        [429, "tooMany"],
        [500, "cutOff"],
        [503, "cutOff"],
      ] as const) {
        server.intercept = (_, response) => {
          response.writeHead(status, { "retry-after": "7" }).end();
          return true;
        };
        const fault = await faultOf(read(repository));
        expect(fault.kind, `${status}: ${fault.message}`).to.equal(kind);
      }
      server.intercept = () => false;
      expect((await read(repository)).file.kind).to.equal("file");
    });

    it("get the credential only when they ask, and tell when it was rotated", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      server.authorizations.length = 0;
      await read(repository);
      expect(server.authorizations[0]).to.equal(undefined);
      server.expected = { user: "ann", password: "rotated" };
      const fault = await faultOf(read(repository));
      expect(fault.kind).to.equal("authentication");
      expect(fault.message).to.include("repoCredential");
      expect((await read({ ...repository, credential: "ann:rotated" })).file.kind).to.equal("file");
      expect((await faultOf(read({ ...repository, credential: null }))).kind).to.equal("authentication");
      expect((await faultOf(read({ ...repository, credential: "-----BEGIN OPENSSH" }))).message).to.include("SSH key");
    });

    it("that redirect to another address are not followed", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      let reached = 0;
      server.intercept = (request, response) => {
        if (request.url!.startsWith("/elsewhere")) reached++;
        else response.writeHead(302, { location: `${server.origin}/elsewhere${request.url}` }).end();
        return !request.url!.startsWith("/elsewhere");
      };
      const fault = await faultOf(read(repository));
      expect(fault.kind, fault.message).to.equal("redirected");
      expect(reached).to.equal(0);
    });

    it("that break off in the middle, or never answer, end within the deadline", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      server.intercept = (request, response) => {
        if (!request.url!.endsWith("git-upload-pack")) return false;
        response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).write("0032pack");
        response.destroy();
        return true;
      };
      expect((await faultOf(read(repository))).kind).to.equal("cutOff");
      server.intercept = () => true;
      const hasty = engineWith({ bounds: { timeoutMs: 300 } });
      expect((await faultOf(read(repository, "main", hasty))).kind).to.equal("timedOut");
    });

    it("are reached only at allowed addresses, also by a name that changes", async () => {
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      const port = new URL(server.origin).port;
      const named = { ...repository, remote: remoteOf(`http://git.example.test:${port}/r${names}.git`) };
      // The name has this address only here: Git looks nothing up itself.
      const answers = [["127.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["10.1.2.3"], []];
      const pinned = engineWith({
        lookUp: async () => {
          const addresses = answers.shift()!;
          if (addresses.length === 0) throw new Error("no such name");
          return addresses.map((address) => ({ address }));
        },
      });
      expect((await read(named, "main", pinned)).file.kind).to.equal("file");
      expect((await read(named, "main", pinned)).file.kind).to.equal("file");
      const fault = await faultOf(read(named, "main", pinned));
      expect(fault.kind).to.equal("forbiddenAddress");
      expect(fault.message).to.include("MILLRACE_GIT_NETWORKS");
      expect((await faultOf(read(named, "main", pinned))).kind).to.equal("unreachable");
      const strict = engineWith({ mayReach: addressRule([]), isAllowed: () => false });
      expect((await faultOf(read(repository, "main", strict))).kind).to.equal("forbiddenAddress");
      const plain = { ...repository, remote: remoteOf("http://8.8.8.8/x.git") };
      expect((await faultOf(read(plain))).message).to.include("without encryption");
    });

    it("that do not listen are unreachable", async () => {
      const { repository } = newRepository();
      const closed = { ...repository, remote: remoteOf("http://127.0.0.1:1/x.git") };
      const fault = await faultOf(read(closed));
      expect(fault.kind).to.equal("unreachable");
      expect(fault.mayPass).to.equal(true);
    });
  });

  describe("committing", () => {
    it("changes one file only, by the given author, and the same request makes the same commit", async () => {
      const { origin, repository } = newRepository();
      const parent = origin.commit({ other: "untouched", [PATH]: TEXT });
      const pushed = await engine.commitFile(repository, requestFor(parent));
      const { commit, file } = await read(repository);
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
      expect(await engine.commitFile(repository, requestFor(parent))).to.deep.equal(pushed);
      const elsewhere = engineWith({ folder: join(folder, "cache2") });
      expect(await elsewhere.commitFile(repository, requestFor(parent))).to.deep.equal(pushed);
    });

    it("makes missing folders, keeps the mode, and begins an empty repository", async () => {
      const { origin, repository } = newRepository();
      expect(await engine.isEmpty(repository)).to.equal(true);
      const path = ".millrace/a/b.yaml";
      const first = await engine.commitFile(repository, requestFor(null, { path }));
      expect(first.outcome).to.equal("pushed");
      expect(await engine.isEmpty(repository)).to.equal(false);
      expect((await read(repository, "main", engine, path)).file.kind).to.equal("file");
      const parent = origin.commit({ [path]: { program: TEXT } });
      await engine.commitFile(repository, requestFor(parent, { path, content: "other\n" }));
      expect(origin.git(["ls-tree", "main", path])).to.match(/^100755 /);
    });

    it("refuses a path that leads through a file or a link", async () => {
      const { origin, repository } = newRepository();
      const parent = origin.commit({ "plain.yaml": TEXT, link: { link: "/etc" } });
      for (const path of ["plain.yaml/x.yaml", "link/x.yaml"]) {
        const fault = await faultOf(engine.commitFile(repository, requestFor(parent, { path })));
        expect(fault.message, path).to.include("is no folder");
      }
    });

    it("lets one of two win, and never drops the commit of another", async () => {
      const { origin, repository } = newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      const elsewhere = engineWith({ folder: join(folder, "cache3") });
      const outcomes = await Promise.all([
        engine.commitFile(repository, requestFor(parent, { content: "a\n" })),
        elsewhere.commitFile(repository, requestFor(parent, { content: "b\n" })),
      ]);
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).to.deep.equal(["pushed", "raced"]);
      const behind = await engine.commitFile(repository, requestFor(parent, { content: "c\n" }));
      expect(behind.outcome).to.equal("raced");
      expect(await engine.commitFile(repository, requestFor(null))).to.deep.equal({ outcome: "raced" });
    });

    it("tells the words of a server that protects the branch", async () => {
      const { origin, repository } = newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      origin.hook("pre-receive", `echo "main is protected: \\033[31mopen a pull request" >&2; exit 1`);
      const refused = await engine.commitFile(repository, requestFor(parent));
      expect(refused.outcome).to.equal("refused");
      expect(refused)
        .to.have.property("words")
        .that.matches(/main is protected: .*open a pull request.*declined/);
      expect(JSON.stringify(refused)).to.not.include("u001b");
    });

    it("tells a credential that may only read before a commit is made", async () => {
      const { origin, repository } = newRepository();
      const head = origin.commit({ [PATH]: TEXT });
      await engine.checkPush(repository, "main", head);
      origin.configure("http", "receivepack", "false");
      const fault = await faultOf(engine.checkPush(repository, "main", head));
      expect(fault.kind, fault.message).to.equal("readOnly");
      expect((await faultOf(engine.commitFile(repository, requestFor(head)))).kind).to.equal("readOnly");
    });

    it("finds the commit of a push whose answer was lost", async () => {
      const { origin, repository } = newRepository();
      const parent = origin.commit({ [PATH]: TEXT });
      server.intercept = (request, response) => {
        if (request.method !== "POST" || !request.url!.endsWith("git-receive-pack")) return false;
        // The push arrives, and its answer does not.
        response.writeHead = () => response;
        response.write = () => true;
        response.end = () => response.destroy();
        return false;
      };
      expect((await faultOf(engine.commitFile(repository, requestFor(parent)))).kind).to.equal("cutOff");
      server.intercept = () => false;
      const { commit } = await read(repository);
      expect(commit.parents).to.deep.equal([parent]);
      origin.commit({ other: "later" });
      expect((await engine.findCommit(repository, "main", "Millrace-Revision: rev_1"))?.id).to.equal(commit.id);
      expect(await engine.findCommit(repository, "main", "Millrace-Revision: rev_2")).to.equal(undefined);
      expect((await engine.lastChange(repository, "main", PATH))?.id).to.equal(commit.id);
    });
  });

  describe("mirrors", () => {
    const cached = (at: string) =>
      readdirSync(at, { recursive: true, encoding: "utf8" }).filter((name) => /\.git$/.test(name));

    it("are thrown away when they have grown, and the oldest when all have", async () => {
      const at = join(folder, "bounded");
      const one = engineWith({ folder: at, bounds: { files: 1 } });
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      expect((await read(repository, "main", one)).file.kind).to.equal("file");
      expect(cached(at)).to.deep.equal([]);
      const all = engineWith({ folder: join(folder, "all"), bounds: { totalBytes: 1 } });
      await read(repository, "main", all);
      expect(cached(join(folder, "all"))).to.deep.equal([]);
    });

    it("that are damaged are made again", async () => {
      const at = join(folder, "damaged");
      const other = engineWith({ folder: at });
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      await read(repository, "main", other);
      const [mirror] = cached(at);
      for (const damage of [
        () => rmSync(join(at, mirror!, "objects", "pack"), { recursive: true }),
        () => writeFileSync(join(at, mirror!, "HEAD"), "nonsense"),
        () => writeFileSync(join(at, mirror!, "shallow.lock"), ""),
        () => rmSync(join(at, mirror!, ".."), { recursive: true }),
      ]) {
        damage();
        origin.commit({ [PATH]: `${TEXT}# ${damage.toString()}` });
        expect((await read(repository, "main", other)).file.kind, damage.toString()).to.equal("file");
      }
    });

    it("of another owner are not shared", async () => {
      const { origin, repository } = newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      await read(repository, commit);
      const stranger = { ...repository, owner: "prj_2", credential: "ann:wrong" };
      expect((await faultOf(read(stranger, commit))).kind).to.equal("authentication");
    });

    it("of processes that have ended are removed", async () => {
      const at = join(folder, "leftover");
      const left = engineWith({ folder: at });
      const { origin, repository } = newRepository();
      origin.commit({ [PATH]: TEXT });
      await read(repository, "main", left);
      const [own] = readdirSync(at);
      rmSync(join(at, own!), { recursive: true });
      const gone = join(at, "999999999-0000");
      mkdirSync(gone);
      await read(repository, "main", engineWith({ folder: at }));
      expect(readdirSync(at)).to.not.include("999999999-0000");
    });
  });
});

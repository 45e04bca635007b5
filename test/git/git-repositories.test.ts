/** Reading from a real server, `git http-backend` behind a password, and what such a server may do wrong. */
import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { refOf } from "../../src/git/names.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { faultOf, GitWorld, PATH, remoteOf, TEXT } from "../support/git-engine.ts";

describe("repositories over HTTP", () => {
  let world: GitWorld;
  before(async () => {
    world = await new GitWorld().start();
  });
  after(() => world.stop());
  afterEach(() => world.mend());

  describe("reading", () => {
    it("finds the file by branch, tag, full name and commit, and knows who committed it", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ other: "x".repeat(100_000) });
      const commit = origin.commit({ [PATH]: TEXT }, { message: "Add it\n\nFor tests." });
      origin.git(["-c", "user.name=t", "-c", "user.email=t@t", "tag", "-a", "-m", "release", "v1", "main"]);
      const later = origin.commit({ [PATH]: "jobs: [] # later\n" }, { branch: "feature/x" });
      const found = await world.read(repository);
      expect(found.refName).to.equal("refs/heads/main");
      expect(found.commit).to.deep.include({
        id: commit,
        author: { name: "tester", email: "tester@example.org" },
        message: "Add it\n\nFor tests.",
      });
      expect(found.commit.authoredAt).to.be.closeTo(Date.now(), 60_000);
      expect(found.file.kind === "file" && found.file.content.toString()).to.equal(TEXT);
      for (const ref of ["v1", "refs/tags/v1", "refs/heads/main", commit]) {
        expect((await world.read(repository, ref)).commit.id, ref).to.equal(commit);
      }
      expect((await world.read(repository, "feature/x")).commit.id).to.equal(later);
      const known = await world.engine.read(repository, {
        ref: { kind: "branch", name: "main" },
        path: PATH,
        knownBlob: found.file.kind === "file" ? found.file.blob : "",
      });
      expect(known.file.kind).to.equal("known");
      expect(await world.engine.defaultBranch(repository)).to.equal("main");
    });

    it("joins calls for the same that have not begun", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      await world.read(repository);
      const before = world.server.authorizations.length;
      await world.read(repository);
      const one = world.server.authorizations.length - before;
      await Promise.all(Array.from({ length: 20 }, () => world.read(repository)));
      // The first has begun at once; the others wait for it and share one fetch.
      expect(world.server.authorizations.length - before).to.be.at.most(3 * one);
    });

    it("tells what is at the path instead of a file", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ "plain.yaml": TEXT, "link.yaml": { link: "plain.yaml" }, "d.yaml/in": "x" });
      for (const [path, kind] of [
        ["link.yaml", "symlink"],
        ["d.yaml", "folder"],
        ["none.yaml", "missing"],
        ["link.yaml/x.yaml", "missing"],
        ["plain.yaml", "file"],
      ] as const) {
        expect((await world.read(repository, "main", world.engine, path)).file.kind, path).to.equal(kind);
      }
    });

    it("takes a name for a branch whatever it begins with", async () => {
      const { origin, repository } = world.newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      origin.git(["update-ref", "refs/heads/--upload-pack=x", commit]);
      expect(refOf("--upload-pack=x")).to.equal(undefined);
      const ref = { kind: "ref", name: "refs/heads/--upload-pack=x" } as const;
      expect((await world.engine.read(repository, { ref, path: PATH })).commit.id).to.equal(commit);
    });

    it("says which ref is missing", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      const fault = await faultOf(world.read(repository, "gone"));
      expect(fault.kind).to.equal("noRef");
      expect(fault.message).to.include('has no branch or tag "gone"');
      expect((await faultOf(world.read(repository, "1".repeat(40)))).kind).to.equal("noRef");
    });

    it("says that objects of SHA-256 are not supported", async () => {
      const { origin, repository } = world.newRepository();
      rmSync(origin.path, { recursive: true });
      execFileSync("git", [
        "init",
        "--quiet",
        "--bare",
        "--object-format=sha256",
        "--initial-branch=main",
        origin.path,
      ]);
      origin.commit({ [PATH]: TEXT });
      expect((await faultOf(world.read(repository))).message).to.include("objects by SHA-256");
    });

    it("follows a history that was rewritten", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      const first = await world.read(repository);
      origin.commit({ [PATH]: TEXT }, { onto: null, message: "rewritten" });
      const second = await world.read(repository);
      expect(second.commit.message).to.equal("rewritten");
      expect(second.commit.id).to.not.equal(first.commit.id);
    });

    it("reads a repository with 100,000 refs without taking them", async () => {
      const { origin, repository } = world.newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      const lines = Array.from({ length: 100_000 }, (_, index) => `${commit} refs/heads/many/${index}\n`);
      appendFileSync(join(origin.path, "packed-refs"), lines.toSorted().join(""));
      const begun = performance.now();
      expect((await world.read(repository)).commit.id).to.equal(commit);
      expect((await world.read(repository, "many/99999")).commit.id).to.equal(commit);
      expect(performance.now() - begun).to.be.lessThan(20_000);
    });

    it("refuses a file above the limit, compressed well or not at all", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ "flat.yaml": "#".repeat(300_000), "noise.yaml": randomBytes(300_000) });
      const small = world.engineWith({ bounds: { fileBytes: 10_000 } });
      for (const path of ["flat.yaml", "noise.yaml"]) {
        const fault = await faultOf(world.read(repository, "main", small, path));
        expect(fault.kind, path).to.equal("tooLarge");
        expect(fault.message).to.include("10000 bytes");
      }
    });

    it("bounds what a server sends that ignores filters", async () => {
      const { origin, repository } = world.newRepository(false);
      origin.commit({ [PATH]: TEXT });
      expect((await world.read(repository)).file.kind).to.equal("file");
      origin.commit({ large: randomBytes(3_000_000) });
      const bounded = world.engineWith({ bounds: { fetchBytes: 1_000_000 } });
      const fault = await faultOf(world.read(repository, "main", bounded));
      expect(fault.kind, fault.message).to.equal("tooLarge");
      expect((await world.read(repository)).file.kind).to.equal("file");
    });

    it("refuses a tree with a file in .git", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      const blob = Buffer.from(origin.git(["rev-parse", `main:${PATH}`]), "hex");
      const write = (type: string, content: string | Buffer) =>
        origin.git(["hash-object", "-t", type, "-w", "--stdin", "--literally"], content);
      const tree = write("tree", Buffer.concat([Buffer.from("100644 .git\0"), blob]));
      const evil = write("commit", `tree ${tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`);
      origin.git(["update-ref", "refs/heads/evil", evil]);
      expect((await faultOf(world.read(repository, "evil"))).kind).to.equal("hostile");
      expect((await world.read(repository)).file.kind).to.equal("file");
    });
  });

  describe("servers", () => {
    it("that refuse or fail are told apart", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      await world.read(repository);
      for (const [status, kind] of [
        [403, "authentication"],
        [404, "notFound"],
        [429, "tooMany"],
        [500, "cutOff"],
        [503, "cutOff"],
      ] as const) {
        world.server.intercept = (_, response) => {
          response.writeHead(status, { "retry-after": "7" }).end();
          return true;
        };
        const fault = await faultOf(world.read(repository));
        expect(fault.kind, `${status}: ${fault.message}`).to.equal(kind);
      }
      world.server.intercept = () => false;
      expect((await world.read(repository)).file.kind).to.equal("file");
    });

    it("get the credential only when they ask, and tell when it was rotated", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      world.server.authorizations.length = 0;
      await world.read(repository);
      expect(world.server.authorizations[0]).to.equal(undefined);
      world.server.expected = { user: "ann", password: "rotated" };
      const fault = await faultOf(world.read(repository));
      expect(fault.kind).to.equal("authentication");
      expect(fault.message).to.include("repoCredential");
      expect((await world.read({ ...repository, credential: "ann:rotated" })).file.kind).to.equal("file");
      expect((await faultOf(world.read({ ...repository, credential: null }))).kind).to.equal("authentication");
      expect((await faultOf(world.read({ ...repository, credential: "-----BEGIN OPENSSH" }))).message).to.include(
        "SSH key",
      );
    });

    it("are asked again for what another credential has read", async () => {
      const { origin, repository } = world.newRepository();
      const commit = origin.commit({ [PATH]: TEXT });
      await world.read(repository);
      const { kind } = await faultOf(world.read({ ...repository, credential: "ann:guessed" }, commit));
      expect(kind).to.equal("authentication");
    });

    it("that redirect to another address are not followed", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      let reached = 0;
      world.server.intercept = (request, response) => {
        if (request.url!.startsWith("/elsewhere")) reached++;
        else response.writeHead(302, { location: `${world.server.origin}/elsewhere${request.url}` }).end();
        return !request.url!.startsWith("/elsewhere");
      };
      const fault = await faultOf(world.read(repository));
      expect(fault.kind, fault.message).to.equal("redirected");
      expect(reached).to.equal(0);
    });

    it("that break off in the middle, or never answer, end within the deadline", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      world.server.intercept = (request, response) => {
        if (!request.url!.endsWith("git-upload-pack")) return false;
        response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).write("0032pack");
        response.destroy();
        return true;
      };
      expect((await faultOf(world.read(repository))).kind).to.equal("cutOff");
      world.server.intercept = () => true;
      const hasty = world.engineWith({ bounds: { timeoutMs: 300 } });
      expect((await faultOf(world.read(repository, "main", hasty))).kind).to.equal("timedOut");
    });

    it("are reached only at allowed addresses, also by a name that changes", async () => {
      const { origin, repository } = world.newRepository();
      origin.commit({ [PATH]: TEXT });
      const named = { ...repository, remote: remoteOf(repository.remote.url.replace("127.0.0.1", "git.example.test")) };
      // The name has this address only here: Git looks nothing up itself.
      const answers = [["127.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["10.1.2.3"], []];
      const pinned = world.engineWith({
        lookUp: async () => {
          const addresses = answers.shift()!;
          if (addresses.length === 0) throw new Error("no such name");
          return addresses.map((address) => ({ address }));
        },
      });
      expect((await world.read(named, "main", pinned)).file.kind).to.equal("file");
      expect((await world.read(named, "main", pinned)).file.kind).to.equal("file");
      const fault = await faultOf(world.read(named, "main", pinned));
      expect(fault.kind).to.equal("forbiddenAddress");
      expect(fault.message).to.include("MILLRACE_GIT_NETWORKS");
      expect((await faultOf(world.read(named, "main", pinned))).kind).to.equal("unreachable");
      const strict = world.engineWith({ mayReach: addressRule([]), isAllowed: () => false });
      expect((await faultOf(world.read(repository, "main", strict))).kind).to.equal("forbiddenAddress");
      const plain = { ...repository, remote: remoteOf("http://8.8.8.8/x.git") };
      expect((await faultOf(world.read(plain))).message).to.include("without encryption");
    });

    it("that do not listen are unreachable", async () => {
      const { repository } = world.newRepository();
      const closed = { ...repository, remote: remoteOf("http://127.0.0.1:1/x.git") };
      const fault = await faultOf(world.read(closed));
      expect(fault.kind).to.equal("unreachable");
      expect(fault.mayPass).to.equal(true);
    });
  });
});

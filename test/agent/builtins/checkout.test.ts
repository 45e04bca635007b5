/** The builtin `checkout` on a real agent with a real Git, from repositories that the tests create. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { emptyFolder, openFolder } from "../../../src/agent/builtins/checkout/checkout-folder.ts";
import { GitDaemon } from "../../support/git-daemon.ts";
import { git, GitHttpServer, TestRepository } from "../../support/git-server.ts";
import { CheckoutBench } from "./checkout-bench.ts";

/** Does work as a user who owns these files: for the user root, no folder is read-only. */
function asUser(paths: readonly string[], work: () => void): void {
  if (process.getuid!() !== 0) return work();
  const other = 65_534;
  for (const path of paths) chownSync(path, other, other);
  process.seteuid!(other);
  try {
    work();
  } finally {
    process.seteuid!(0);
  }
}

describe("the builtin `checkout`", function () {
  this.timeout(60_000);
  let bench: CheckoutBench;
  before(async () => {
    bench = await CheckoutBench.create();
  });
  after(() => bench?.remove());
  beforeEach(() => bench.startAgent());
  afterEach(() => bench.agent.end());

  it("checks out the default branch, detached and with one commit of history", async () => {
    const { outputs, log } = await bench.check({ repo: bench.code.url });
    expect(bench.readme()).to.equal("three\n");
    expect(outputs).to.deep.equal({ commit: bench.commits[2], ref: "refs/heads/main" });
    expect(log).to.deep.equal([`millrace: refs/heads/main is at commit ${bench.commits[2]} of ${bench.code.url}`]);
    expect(git(bench.workspace, "rev-list", "--count", "HEAD")).to.equal("1");
    expect(() => git(bench.workspace, "symbolic-ref", "HEAD")).to.throw();
    expect(git(bench.workspace, "status", "--porcelain")).to.equal("");
    expect(await readdir(join(bench.workspace, ".git"))).not.to.include("hooks");
  });

  const refs: readonly (readonly [what: string, args: object, content: string, ref: string, commit: number])[] = [
    ["a branch", { branch: "feature/login" }, "branched\n", "refs/heads/feature/login", 3],
    ["a branch by `ref`", { ref: "feature/login" }, "branched\n", "refs/heads/feature/login", 3],
    ["an annotated tag", { ref: "v1.0" }, "one\n", "refs/tags/v1.0", 0],
    ["a full name", { ref: "refs/tags/v1.0" }, "one\n", "refs/tags/v1.0", 0],
    ["the head of a pull request", { ref: "refs/pull/1/head" }, "branched\n", "refs/pull/1/head", 3],
    ["the default branch by `HEAD`", { ref: "HEAD" }, "three\n", "refs/heads/main", 2],
    ["what the run was triggered for, when that is nothing", { ref: "" }, "three\n", "refs/heads/main", 2],
  ];
  for (const [what, args, content, ref, commit] of refs) {
    it(`takes ${what}`, async () => {
      const { outputs } = await bench.check({ repo: bench.code.url, ...args });
      expect(bench.readme()).to.equal(content);
      expect(outputs).to.deep.equal({ commit: bench.commits[commit], ref });
    });
  }

  it("takes a repository of `git daemon`, which knows no credential", async () => {
    const daemon = await GitDaemon.start(bench.folder);
    try {
      const { outputs } = await bench.check({ repo: daemon.url("code"), ref: "v1.0" });
      expect(bench.readme()).to.equal("one\n");
      expect(outputs).to.deep.equal({ commit: bench.commits[0], ref: "refs/tags/v1.0" });
    } finally {
      await daemon.stop();
    }
  });

  it("checks out a commit by its full or shortened id", async () => {
    for (const ref of [bench.commits[1]!, bench.commits[1]!.toUpperCase(), bench.commits[1]!.slice(0, 8)]) {
      const { outputs } = await bench.check({ repo: bench.code.url, ref });
      expect(bench.readme()).to.equal("two\n");
      expect(outputs).to.deep.equal({ commit: bench.commits[1], ref: bench.commits[1] });
    }
  });

  it("fetches as much history as the step asks for", async () => {
    await bench.check({ repo: bench.code.url, depth: 2 });
    expect(git(bench.workspace, "rev-list", "--count", "HEAD")).to.equal("2");
    await bench.check({ repo: bench.code.url, depth: "0" });
    expect(git(bench.workspace, "rev-list", "--count", "HEAD")).to.equal("3");
    expect(git(bench.workspace, "describe")).to.match(/^v1\.0-2-g/);
    expect(git(bench.workspace, "rev-parse", "origin/feature/login")).to.equal(bench.commits[3]);
  });

  it("takes what a server has that is a shallow copy itself", async () => {
    git(bench.folder, "clone", "--quiet", "--bare", "--depth=2", bench.code.url, "shallow.git");
    const repo = `file://${bench.folder}/shallow.git`;
    for (const [depth, count] of [
      [0, "2"],
      [1, "1"],
      [9, "2"],
    ] as const) {
      const { outputs } = await bench.check({ repo, depth });
      expect(outputs["commit"], `depth ${depth}`).to.equal(bench.commits[2]);
      expect(git(bench.workspace, "rev-list", "--count", "HEAD"), `depth ${depth}`).to.equal(count);
    }
    await bench.check({ repo, ref: bench.commits[1]!.slice(0, 8) });
    expect(bench.readme()).to.equal("two\n");
  });

  it("empties its own folder and no other", async () => {
    await bench.check({ repo: bench.code.url, path: "a/b" });
    const other = join(bench.workspace, "other");
    const inside = join(bench.workspace, "a", "b");
    writeFileSync(other, "mine");
    mkdirSync(join(inside, "cache", "deep"), { recursive: true });
    writeFileSync(join(inside, "cache", "deep", "file"), "");
    symlinkSync(other, join(inside, "link"));
    chmodSync(join(inside, "cache", "deep"), 0o500);
    const { log } = await bench.check({ repo: bench.code.url, path: "./a/b/", branch: "feature/login" });
    expect(log[0]).to.equal("millrace: removed the content of a/b");
    expect((await readdir(inside)).toSorted()).to.deep.equal([".git", "README"]);
    expect(bench.readme("a", "b")).to.equal("branched\n");
    expect(readFileSync(other, "utf8")).to.equal("mine");
  });

  it("empties folders that a step has made read-only, the one of the checkout itself too", () => {
    const workspace = mkdtempSync(join(tmpdir(), "millrace-read-only-"));
    const [parent, folder] = [join(workspace, "a"), join(workspace, "a", "code")];
    mkdirSync(join(folder, ".git", "objects"), { recursive: true });
    writeFileSync(join(folder, ".git", "index.lock"), "");
    for (const path of [join(folder, ".git", "objects"), join(folder, ".git"), folder, parent]) chmodSync(path, 0o555);
    const paths = [
      parent,
      folder,
      join(folder, ".git"),
      join(folder, ".git", "objects"),
      join(folder, ".git", "index.lock"),
    ];
    asUser([workspace, ...paths], () => {
      expect(openFolder(workspace, "a/code")).to.equal(folder);
      expect(emptyFolder(folder)).to.equal(true);
      expect(openFolder(workspace, "a/other")).to.equal(join(parent, "other"));
      mkdirSync(join(folder, ".git"));
    });
    rmSync(workspace, { recursive: true });
  });

  it("follows no link, and never leaves the workspace", async () => {
    await bench.check({ repo: bench.code.url, path: "a" });
    symlinkSync(bench.folder, join(bench.workspace, "out"));
    await bench.fails({ repo: bench.code.url, path: "out/code" }, 73, '"out" is no folder');
    await bench.fails({ repo: bench.code.url, path: "../job_2" }, 64, "leads out of the workspace");
    await bench.fails({ repo: bench.code.url, path: "/etc" }, 64, "leads out of the workspace");
    expect(await readdir(bench.folder)).to.include("code.git");
  });

  it("fetches submodules, and their submodules, only when the step asks for them", async () => {
    const inner = new TestRepository(bench.folder, "inner");
    inner.commit("inner", "inner\n");
    const middle = new TestRepository(bench.folder, "middle");
    middle.commit("middle", "middle\n");
    middle.addSubmodule(inner.url, "inner");
    const outer = new TestRepository(bench.folder, "outer");
    outer.commit("outer", "outer\n");
    outer.addSubmodule("../middle.git", "middle");
    middle.commit("middle", "newer than what is wanted\n");
    const has = async (path: string) => (await readdir(join(bench.workspace, path))).toSorted();
    await bench.check({ repo: outer.url });
    expect(await has("middle")).to.deep.equal([]);
    await bench.check({ repo: outer.url, submodules: true });
    expect(await has("middle")).to.deep.equal([".git", ".gitmodules", "inner", "middle"]);
    expect(await has("middle/inner")).to.deep.equal([]);
    expect(readFileSync(join(bench.workspace, "middle", "middle"), "utf8")).to.equal("middle\n");
    await bench.check({ repo: outer.url, submodules: "recursive", depth: 0 });
    expect(await has("middle/inner")).to.deep.equal([".git", "inner"]);
  });

  it("reads no settings of the machine, the user or the definition, and runs no hook", async () => {
    const mark = join(bench.folder, "ran");
    const config = `[core]\n  hooksPath = ${bench.folder}\n[url "file:///nowhere/"]\n  insteadOf = file://${bench.folder}/\n`;
    writeFileSync(join(bench.folder, ".gitconfig"), config);
    writeFileSync(join(bench.folder, "post-checkout"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    const names = {
      HOME: bench.folder,
      GIT_CONFIG_GLOBAL: join(bench.folder, ".gitconfig"),
      GIT_CONFIG_PARAMETERS: `'core.hooksPath=${bench.folder}'`,
      GIT_DIR: "/nowhere",
      NODE_OPTIONS: "--no",
    };
    const env = Object.entries(names).map(([name, value]) => ({ name, value }));
    await bench.check({ repo: bench.code.url }, { env });
    expect(await readdir(bench.folder)).not.to.include("ran");
    await rm(join(bench.folder, ".gitconfig"));
  });

  describe("has a message and an exit code of its own", () => {
    it("for a ref that does not exist, and names a similar one", async () => {
      await bench.fails(
        { repo: bench.code.url, ref: "feature/logn" },
        65,
        'no branch, tag or commit "feature/logn"; did you mean "feature/login"?',
      );
      await bench.fails({ repo: bench.code.url, branch: "v1.0" }, 65, 'no branch "v1.0"');
      await bench.fails({ repo: bench.code.url, ref: "0123456789".repeat(4) }, 65, "no branch, tag or commit");
      await bench.fails({ repo: bench.code.url, ref: "abcdef12" }, 65, 'no branch, tag or commit "abcdef12"');
    });

    it("for a repository that does not exist or has no commits", async () => {
      await bench.fails({ repo: `file://${bench.folder}/missing.git` }, 66, "does not exist");
      const empty = new TestRepository(bench.folder, "empty");
      await bench.fails({ repo: empty.url }, 65, "the repository is empty");
    });

    it("for arguments that are not a ref or a repository, or are options or commands", async () => {
      const { url } = bench.code;
      for (const ref of ["-upload-pack=x", "a..b", "a b", "a:b", "x.lock", "a\nb", "@{u}"]) {
        await bench.fails({ repo: url, ref }, 64, "cannot be the name of");
      }
      const bad = [
        "ext::sh -c touch%20/tmp/x",
        "--upload-pack=x",
        "fd::3",
        "/etc",
        "ssh://-oProxyCommand=x/y",
        "-x@host:y",
      ];
      for (const repo of bad) await bench.fails({ repo }, 64, "no address of a repository");
      const { log } = await bench.fails({ repo: "https://user:hunter2@host/code.git" }, 64, "holds a password");
      expect(log.join()).not.to.include("hunter2");
      await bench.fails({}, 64, "there is no repository");
      await bench.fails({ repo: url, depth: -1 }, 64, "`depth` must be");
      await bench.fails({ repo: url, submodules: "some" }, 64, "`submodules` must be");
      await bench.fails({ repo: url, clean: true }, 64, 'no argument "clean"');
    });

    it("for a submodule from this machine, or over a transport that runs programs", async () => {
      const server = await new GitHttpServer(bench.folder, null).start();
      try {
        for (const [name, url] of [
          ["program", "ext::sh -c whoami"],
          ["local", bench.code.path],
        ] as const) {
          const outer = new TestRepository(bench.folder, `outer-${name}`);
          outer.addSubmodule(bench.code.url, "sub");
          outer.moveSubmodule("sub", url);
          await bench.fails(
            { repo: `${server.origin}/outer-${name}.git`, submodules: true },
            64,
            "a transport that is not allowed",
          );
        }
      } finally {
        await server.stop();
      }
    });

    it("for a submodule whose commit is gone", async () => {
      const inner = new TestRepository(bench.folder, "rewritten");
      inner.commit("inner", "inner\n");
      const outer = new TestRepository(bench.folder, "outer-rewritten");
      outer.addSubmodule(inner.url, "inner");
      inner.git("commit", "--quiet", "--amend", "--message", "rewritten");
      inner.git("push", "--quiet", "--force", "origin", "HEAD:main");
      git(inner.path, "reflog", "expire", "--expire=now", "--all");
      git(inner.path, "gc", "--quiet", "--prune=now");
      await bench.fails({ repo: outer.url, submodules: true }, 65, "no longer has the commit");
    });

    it("for a repository with objects of SHA-256", async () => {
      git(bench.folder, "init", "--quiet", "--object-format=sha256", "sha256");
      git(join(bench.folder, "sha256"), "commit", "--quiet", "--allow-empty", "--message", "one");
      await bench.fails({ repo: `file://${bench.folder}/sha256` }, 64, "objects by SHA-256");
    });

    it("for https at a port without TLS", async () => {
      const server = await new GitHttpServer(bench.folder, null).start();
      try {
        const repo = `${server.origin.replace("http:", "https:")}/code.git`;
        await bench.fails({ repo }, 64, "does not speak TLS");
      } finally {
        await server.stop();
      }
    });

    it("for a machine without Git", async () => {
      await bench.fails({ repo: bench.code.url }, 69, "no Git can be started", {
        env: [{ name: "PATH", value: "/nowhere" }],
      });
    });

    it("for a host that cannot be reached, so that a retry may help", async () => {
      const { reason } = await bench.fails({ repo: "http://127.0.0.1:1/code.git" }, 75, "cannot be reached");
      expect(reason).to.include("a retry may help");
      await bench.fails({ repo: "http://no-such-host.invalid/code.git" }, 75, "cannot be resolved");
    });
  });
});

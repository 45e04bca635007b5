/**
 * Credentials of the builtin `checkout`: where they work, which hosts never get them, and that no trace of them stays.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { GitHttpServer, TestRepository } from "../../support/git-server.ts";
import { GitSshServer, newKeyPair } from "../../support/git-ssh-server.ts";
import { until } from "../../support/until.ts";
import { CheckoutBench } from "./checkout-bench.ts";

const PASSWORD = "s3cret-Passw0rd-of-the-repository";

describe("the credential of a checkout", function () {
  this.timeout(60_000);
  let bench: CheckoutBench;
  before(async () => {
    bench = await CheckoutBench.create();
  });
  after(() => bench?.remove());
  beforeEach(() => bench.startAgent());
  afterEach(() => bench.agent.end());

  describe("over SSH", () => {
    /** Replaces SSH and its server: records the keys that the host is offered, and runs the requested command here. */
    const SSH = `#!/bin/sh
for word; do case $word in *@*) host=\${word#*@} ;; esac; done
while [ $# -gt 1 ]; do [ "$1" = -F ] && config=$2; shift; done
agent=$(/usr/bin/ssh -F "$config" -G "$host" | sed -n 's/^identityagent //p')
echo "$host $(SSH_AUTH_SOCK=$agent /usr/bin/ssh-add -l 2>&1 | cut -d' ' -f2)" >> "$(dirname "$0")/offered"
exec sh -c "$1"
`;
    let bin: string;
    let env: readonly object[];
    const keyOf = (name: string, passphrase = ""): { readonly text: string; readonly print: string } => {
      const file = join(bin, name);
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", file]);
      const print = execFileSync("ssh-keygen", ["-l", "-f", file], { encoding: "utf8" }).split(" ")[1]!;
      return { text: readFileSync(file, "utf8"), print };
    };

    beforeEach(async () => {
      bin = await mkdtemp(join(tmpdir(), "millrace-ssh-"));
      writeFileSync(join(bin, "ssh"), SSH, { mode: 0o755 });
      env = [{ name: "PATH", value: `${bin}:${process.env["PATH"]}` }];
    });
    afterEach(() => rm(bin, { recursive: true, force: true }));

    it("offers the key to the repository's host only, from no file, and leaves no ssh-agent", async () => {
      const { text, print } = keyOf("right");
      const outer = new TestRepository(bench.folder, "outer-ssh");
      outer.addSubmodule(bench.code.url, "sub");
      outer.moveSubmodule("sub", `ssh://git@other.example.org${bench.code.path}`);
      const repo = `git@code.example.org:${bench.folder}/outer-ssh.git`;
      const { log } = await bench.check({ repo, credential: text, submodules: true }, { env });
      expect(bench.readme("sub")).to.equal("three\n");
      const offered = (await readFile(join(bin, "offered"), "utf8")).trim().split("\n");
      expect(new Set(offered.filter((line) => line.startsWith("code.")))).to.deep.equal(
        new Set([`code.example.org ${print}`]),
      );
      expect(offered.filter((line) => line.startsWith("other.") && line.includes(print))).to.deep.equal([]);
      expect(offered.some((line) => line.startsWith("other."))).to.equal(true);
      const secretLine = text.split("\n")[2]!;
      expect(await holders(bench.agent.dataDir, secretLine)).to.deep.equal([]);
      expect(log.join("\n")).not.to.include(secretLine);
      expect(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" })).not.to.include(
        bench.agent.dataDir + "/scratch/co-",
      );
      expect(
        (await readdir(join(bench.agent.dataDir, "scratch"))).filter((name) => name.startsWith("co-")),
      ).to.deep.equal([]);
    });

    it("reports a key that cannot be used, and a credential that is not a key", async () => {
      const repo = `ssh://git@code.example.org${bench.code.path}`;
      await bench.fails(
        { repo, credential: keyOf("locked", "a passphrase").text },
        77,
        "is damaged, or has a passphrase",
        {
          env,
        },
      );
      await bench.fails({ repo, credential: "a-token" }, 77, "is no private key", { env });
    });
  });

  it("over SSH tells a host whose key has changed from one that is not known", async () => {
    const bin = await mkdtemp(join(tmpdir(), "millrace-ssh-"));
    const server = await new GitSshServer(bench.folder, newKeyPair().public).start();
    try {
      const known = join(bin, "known_hosts");
      const ssh = `#!/bin/sh\nexec /usr/bin/ssh -o UserKnownHostsFile=${known} -o GlobalKnownHostsFile=/dev/null "$@"\n`;
      writeFileSync(join(bin, "ssh"), ssh, { mode: 0o755 });
      const env = [{ name: "PATH", value: `${bin}:${process.env["PATH"]}` }];
      const repo = `ssh://git@127.0.0.1:${server.port}${bench.code.path}`;
      writeFileSync(known, "");
      await bench.fails({ repo }, 77, "does not know the key", { env });
      writeFileSync(known, `[127.0.0.1]:${server.port} ${newKeyPair().public}\n`);
      await bench.fails({ repo }, 77, "shows another key than the one in known_hosts", { env });
    } finally {
      await server.stop();
      await rm(bin, { recursive: true, force: true });
    }
  });

  describe("over http", () => {
    let server: GitHttpServer;
    beforeEach(async () => {
      server = await new GitHttpServer(bench.folder, { user: "robot", password: PASSWORD }).start();
    });
    afterEach(() => server.stop());
    const url = (): string => `${server.origin}/code.git`;

    it("takes a name with a password, a token, and a token for the name in the address", async () => {
      await bench.check({ repo: url(), credential: `robot:${PASSWORD}\n` });
      expect(bench.readme()).to.equal("three\n");
      await bench.check({ repo: url().replace("//", "//robot@"), credential: PASSWORD, ref: bench.commits[1] });
      expect(bench.readme()).to.equal("two\n");
      await server.stop();
      server = await new GitHttpServer(bench.folder, { user: "x-access-token", password: PASSWORD }).start();
      const { log } = await bench.check({ repo: url(), credential: PASSWORD, depth: 0 });
      expect(log).to.include("millrace: the credential is sent without encryption");
    });

    it("distinguishes a wrong credential, a missing one and one of the wrong kind", async () => {
      await bench.fails({ repo: url(), credential: "robot:wrong-password" }, 77, "authentication failed");
      await bench.fails({ repo: url() }, 77, "asks for a credential: name a secret");
      await bench.fails({ repo: url(), credential: "-----BEGIN OPENSSH PRIVATE KEY-----\nx" }, 77, "is an SSH key");
      await bench.fails({ repo: bench.code.url, credential: PASSWORD }, 77, "takes no credential");
      await bench.fails(
        { repo: url().replace("code.git", "missing.git"), credential: `robot:${PASSWORD}` },
        66,
        "does not exist",
      );
    });

    it("distinguishes a host with an error from one that refuses", async () => {
      server.intercept = (_, response) => Boolean(response.writeHead(503).end());
      await bench.fails({ repo: url() }, 75, "broke off");
    });

    it("gives the credential to no host of a submodule or a redirect", async () => {
      const other = await new GitHttpServer(bench.folder, { user: "robot", password: PASSWORD }).start();
      try {
        const outer = new TestRepository(bench.folder, "outer-hosts");
        outer.addSubmodule(bench.code.url, "same");
        outer.moveSubmodule("same", "../code.git");
        await bench.check({
          repo: `${server.origin}/outer-hosts.git`,
          credential: `robot:${PASSWORD}`,
          submodules: true,
        });
        expect(bench.readme("same")).to.equal("three\n");
        outer.moveSubmodule("same", `${other.origin}/code.git`);
        const args = { repo: `${server.origin}/outer-hosts.git`, credential: `robot:${PASSWORD}`, submodules: true };
        await bench.fails(args, 77, "fetching the submodules failed: the repository asks for a credential");
        server.intercept = ({ url: path }, response) =>
          Boolean(response.writeHead(302, { location: `${other.origin}${path}` }).end());
        await bench.fails({ repo: url(), credential: `robot:${PASSWORD}` }, 77, "asks for a credential");
        expect(other.authorizations.length).to.be.greaterThan(1);
        expect(other.authorizations.filter((each) => each !== undefined)).to.deep.equal([]);
      } finally {
        await other.stop();
      }
    });

    it("leaves the credential in no file, argument or log", async () => {
      const seen: string[] = [];
      let isOver = false;
      server.intercept = () => {
        seen.push(execFileSync("sh", ["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null || true"], { encoding: "latin1" }));
        return false;
      };
      const stepRunId = bench.start({ repo: url(), credential: `robot:${PASSWORD}`, submodules: true });
      const scans = (async () => {
        while (!isOver) expect(await holders(bench.agent.dataDir, PASSWORD)).to.deep.equal([]);
      })();
      const { log, phase } = await bench.endOf(stepRunId);
      isOver = true;
      await scans;
      expect(phase).to.equal("STEP_PHASE_SUCCEEDED");
      expect(seen.length).to.be.greaterThan(2);
      expect(seen.some((lines) => lines.includes("git"))).to.equal(true);
      for (const lines of seen) expect(lines.includes(PASSWORD)).to.equal(false);
      expect(log.join("\n")).not.to.include(PASSWORD);
      expect(await holders(bench.agent.dataDir, PASSWORD)).to.deep.equal([]);
      expect(await holders(bench.agent.dataDir, Buffer.from(`robot:${PASSWORD}`).toString("base64"))).to.deep.equal([]);
      expect(
        (await readdir(join(bench.agent.dataDir, "scratch"))).filter((name) => name.startsWith("co-")),
      ).to.deep.equal([]);
      // Proves that the search would find it.
      writeFileSync(join(bench.workspace, "planted"), PASSWORD);
      expect(await holders(bench.agent.dataDir, PASSWORD)).to.deep.equal([join(bench.workspace, "planted")]);
    });

    it("ends with all its processes when it is cancelled or times out, and can be retried", async () => {
      const large = new TestRepository(bench.folder, "large");
      large.commit("noise", Buffer.alloc(3_000_000, "x"));
      const alive = (): string =>
        execFileSync("sh", ["-c", `ps -eo args= | grep -F ${server.origin} | grep -v grep || true`], {
          encoding: "utf8",
        });
      // The server never answers the request for the pack, so Git waits for it.
      server.intercept = ({ method }, response) => {
        if (method !== "POST" || server.authorizations.length < 4) return false;
        response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).write("0");
        return true;
      };
      const args = { repo: `${server.origin}/large.git`, credential: `robot:${PASSWORD}` };
      const cancelled = bench.start(args);
      await until("a fetch that waits", () => alive().includes("remote-http") && server.authorizations.length >= 4);
      bench.agent.gateway.send({
        $case: "revoke",
        value: { jobId: "job_1", stepRunId: cancelled, token: 1n, reason: "the run was stopped", graceMs: 10_000n },
      });
      expect(await bench.endOf(cancelled)).to.include({ phase: "STEP_PHASE_CANCELLED" });
      expect(alive()).to.equal("");
      const late = await bench.endOf(bench.start(args, { timeoutMs: 1_500n }));
      expect(late.phase).to.equal("STEP_PHASE_TIMED_OUT");
      expect(alive()).to.equal("");
      server.intercept = () => false;
      await bench.check(args);
      expect(await readdir(bench.workspace)).to.deep.equal([".git", "noise"]);
    });
  });
});

/** The files in `folder` that contain the text. */
async function holders(folder: string, text: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))));
  return files.filter((_, index) => contents[index]!.includes(text));
}

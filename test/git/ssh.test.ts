/** The engine over SSH: the machine's OpenSSH against a server whose key is pinned. */
import { expect } from "chai";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitFault } from "../../src/git/git-fault.ts";
import { GitRepositories, type Repository } from "../../src/git/git-repositories.ts";
import { fingerprintOf, hostKeysOfFile } from "../../src/git/host-keys.ts";
import { parseRemote, type Remote } from "../../src/git/remote.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { GitSshServer, newKeyPair } from "../support/git-ssh-server.ts";

const PATH = "pipeline.yaml";

describe("repositories over SSH", () => {
  const deployKey = newKeyPair();
  let folder: string;
  let knownHosts: string;
  let server: GitSshServer;
  let engine: GitRepositories;
  let origin: BareRepository;
  let repository: Repository;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "millrace-git-"));
    knownHosts = join(folder, "known_hosts");
    server = await new GitSshServer(folder, deployKey.public).start();
    engine = new GitRepositories({
      folder: join(folder, "cache"),
      mayReach: (address) => address === "127.0.0.1",
      isAllowed: () => true,
      hostKeys: hostKeysOfFile(knownHosts),
      caFile: null,
      // The name leads to the server by this look-up alone.
      lookUp: async () => [{ address: "127.0.0.1" }],
    });
    origin = new BareRepository(folder, "app");
    origin.commit({ [PATH]: "jobs: []\n" });
    const remote = parseRemote(`ssh://git@git.example.test:${server.port}/app.git`) as Remote;
    repository = { owner: "prj_1", remote, credential: deployKey.private };
  });
  after(async () => {
    await server.stop();
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    server.readOnly = false;
    server.accepted = deployKey.public;
    pin(server.hostKey.public);
  });

  const pin = (key: string): void => {
    writeFileSync(knownHosts, `# pinned\nother.example ssh-ed25519 AAAA\n[git.example.test]:${server.port} ${key}\n`);
  };
  const read = () => engine.read(repository, { ref: { kind: "branch", name: "main" }, path: PATH });
  async function faultOf(work: Promise<unknown>): Promise<GitFault> {
    const fault = await work.then(
      () => undefined,
      (error: GitFault) => error,
    );
    if (fault === undefined) throw new Error("it succeeded");
    return fault;
  }
  const commit = (content: string) =>
    engine.commitFile(repository, {
      branch: "main",
      parent: origin.tip()!,
      path: PATH,
      content,
      message: "Change it",
      author: { name: "Ann", email: "ann@example.org" },
      committer: { name: "millrace", email: "millrace@example.org" },
      at: 1_700_000_000_000,
    });

  it("are read and committed to, and no key stays behind", async () => {
    expect((await read()).file.kind).to.equal("file");
    expect((await commit("jobs: [] # ssh\n")).outcome).to.equal("pushed");
    expect(origin.git(["show", `main:${PATH}`])).to.equal("jobs: [] # ssh");
    expect(server.commands.some((command) => command.startsWith("git-receive-pack"))).to.equal(true);
    const left = readdirSync(join(folder, "cache"), { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => name.includes("ssh-"))).to.deep.equal([]);
  });

  it("of an unknown host are refused with the fingerprint and the line to add", async () => {
    writeFileSync(knownHosts, "");
    const before = server.commands.length;
    const fault = await faultOf(read());
    expect(fault.kind).to.equal("unknownHostKey");
    expect(fault.message).to.include(fingerprintOf(server.hostKey.public));
    expect(fault.message).to.include(`"[git.example.test]:${server.port} ${server.hostKey.public}"`);
    expect(server.commands.length).to.equal(before);
  });

  it("of a host with another key than the pinned one are refused", async () => {
    pin(newKeyPair().public);
    expect((await faultOf(read())).kind).to.equal("changedHostKey");
  });

  it("tell a key that is refused, may only read, or is no key", async () => {
    server.accepted = newKeyPair().public;
    expect((await faultOf(read())).kind).to.equal("authentication");
    server.accepted = deployKey.public;
    server.readOnly = true;
    expect((await faultOf(commit("jobs: [] # more\n"))).kind).to.equal("readOnly");
    const token = engine.read(
      { ...repository, credential: "token" },
      { ref: { kind: "branch", name: "main" }, path: PATH },
    );
    expect((await faultOf(token)).message).to.include("deploy key");
    const broken = {
      ...repository,
      credential: "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----",
    };
    const fault = await faultOf(engine.read(broken, { ref: { kind: "branch", name: "main" }, path: PATH }));
    expect(fault.kind).to.equal("authentication");
    expect(fault.message).to.include("damaged");
  });
});

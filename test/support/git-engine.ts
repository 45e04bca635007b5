/** The engine of Git, and a server over HTTP with repositories for it. */
import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommitRequest } from "../../src/git/commit-file.ts";
import type { GitFault } from "../../src/git/git-fault.ts";
import { type GitOptions, GitRepositories, type Repository } from "../../src/git/git-repositories.ts";
import { hostKeysOfFile } from "../../src/git/host-keys.ts";
import { refOf } from "../../src/git/names.ts";
import { parseRemote, type Remote } from "../../src/git/remote.ts";
import { addressRule } from "../../src/outgoing/addresses.ts";
import { BareRepository } from "./bare-repository.ts";
import { GitHttpServer } from "./git-server.ts";

export const PATH = ".millrace.yaml";
export const TEXT = "jobs: []\n";
const PASSWORD = "pass%word$";
const LOOPBACK = [{ address: "127.0.0.0", bits: 8 }];

export interface NewRepository {
  readonly origin: BareRepository;
  readonly repository: Repository;
}

export class GitWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "millrace-git-"));
  readonly server = new GitHttpServer(this.folder, { user: "ann", password: PASSWORD });
  readonly #engines: GitRepositories[] = [];
  readonly engine = this.engineWith({});
  #names = 0;

  async start(): Promise<this> {
    await this.server.start();
    return this;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await Promise.all(this.#engines.map((each) => each.close()));
    rmSync(this.folder, { recursive: true });
  }

  /** The server does again what it should. */
  mend(): void {
    this.server.intercept = () => false;
    this.server.expected = { user: "ann", password: PASSWORD };
  }

  engineWith(given: Partial<GitOptions>): GitRepositories {
    const engine = new GitRepositories({
      folder: join(this.folder, "cache"),
      mayReach: addressRule(LOOPBACK),
      isAllowed: (address) => address.startsWith("127."),
      hostKeys: hostKeysOfFile(null),
      caFile: null,
      ...given,
    });
    this.#engines.push(engine);
    return engine;
  }

  newRepository(filters = true): NewRepository {
    const name = `r${++this.#names}`;
    const origin = new BareRepository(this.folder, name, { filters });
    const remote = remoteOf(`${this.server.origin}/${name}.git`);
    return { origin, repository: { owner: "prj_1", remote, credential: `ann:${PASSWORD}` } };
  }

  read(repository: Repository, ref = "main", engine = this.engine, path = PATH) {
    return engine.read(repository, { ref: refOf(ref)!, path });
  }
}

export function remoteOf(url: string): Remote {
  const remote = parseRemote(url);
  if (typeof remote === "string") throw new Error(remote);
  return remote;
}

/** The fault with which the work rejects; it holds no credential. */
export async function faultOf(work: Promise<unknown>): Promise<GitFault> {
  const fault = await work.then(
    () => undefined,
    (error: GitFault) => error,
  );
  if (fault === undefined) throw new Error("it succeeded");
  expect(fault.name, String(fault.stack)).to.equal("GitFault");
  expect(fault.message).to.not.include(PASSWORD);
  return fault;
}

export function requestFor(parent: string | null, fields: Partial<CommitRequest> = {}): CommitRequest {
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

/**
 * Repositories of Git as millrace uses them: read the definition at a commit, commit a new one, and tell what others have
 * changed. Without a work tree, through mirrors that may be thrown away. All methods reject with a {@link GitFault}.
 */
import { lookup } from "node:dns/promises";
import { tmpdir } from "node:os";
import { definitionPathProblem } from "../domain/names.ts";
import type { AddressRule } from "../outgoing/addresses.ts";
import { openAccess } from "./access.ts";
import { type CommitRequest, firstParent, type PushOutcome, pushCommit, writeCommit } from "./commit-file.ts";
import { findSharedCommit, isAmongAncestors, readChangedFiles } from "./compare.ts";
import { type Credential, type GitRight, keyOfCredential } from "./credential.ts";
import { GitFault } from "./git-fault.ts";
import { runGit } from "./git-process.ts";
import { branchOfHead, findCommit, isEmpty } from "./find-commit.ts";
import type { HostKeys } from "./host-keys.ts";
import type { LookUp } from "./addresses.ts";
import { type CommandBounds, Mirror } from "./mirror.ts";
import { type MirrorBounds, Mirrors } from "./mirrors.ts";
import type { GitRef } from "./names.ts";
import { type CommitFacts, fileKindOf, readCommit } from "./objects.ts";
import { type FoundFile, type PlacedFile, readEntries, readFolder } from "./read-files.ts";
import type { Remote } from "./remote.ts";
import { TurnsOfWork, type WorkBounds } from "./turns-of-work.ts";

export interface Repository {
  /** Mirrors are shared within an owner only, a project, and by those with the same credential. */
  readonly owner: string;
  readonly remote: Remote;
  readonly credential: Credential;
}

export interface FileQuery {
  readonly ref: GitRef;
  readonly path: string;
  /** The blob that the caller has already: its content is not read again. */
  readonly knownBlob?: string | undefined;
}

export interface ReadAnswer {
  /** The full name of the ref; the id for a commit. */
  readonly refName: string;
  readonly commit: CommitFacts;
  readonly file: FoundFile;
}

/** The files below a folder of a commit. */
export interface FolderAnswer {
  readonly refName: string;
  readonly commit: CommitFacts;
  readonly files: readonly PlacedFile[];
  /** Whether the folder has more files than were asked for. */
  readonly hasMore: boolean;
}

export interface GitBounds extends CommandBounds, MirrorBounds, WorkBounds {
  /** Of one piece of work with all its commands. */
  readonly workMs: number;
}

const MiB = 2 ** 20;
/** Calls are answered within 30 s, so waiting and work together stay below that. */
export const GIT_BOUNDS: GitBounds = {
  timeoutMs: 20_000,
  workMs: 20_000,
  fetchBytes: 256 * MiB,
  fileBytes: MiB,
  files: 200,
  bytes: 512 * MiB,
  totalBytes: 2_048 * MiB,
  atOnce: 8,
  atOncePerOwner: 3,
  waiting: 200,
  waitMs: 8_000,
};

export interface GitOptions {
  /** Where the cache of mirrors is made. */
  readonly folder: string;
  readonly mayReach: AddressRule;
  readonly isAllowed: AddressRule;
  readonly hostKeys: HostKeys;
  readonly caFile: string | null;
  readonly lookUp?: LookUp;
  readonly bounds?: Partial<GitBounds>;
}

/** The first version that takes the addresses of a host from its settings. */
const OLDEST = [2, 37] as const;
/** Commits that are looked through for one of this installation, and for the last change of a file. */
const SEARCHED_COMMITS = 100;

export class GitRepositories {
  readonly #options: GitOptions & { readonly lookUp: LookUp };
  readonly #bounds: GitBounds;
  readonly #mirrors: Mirrors;
  readonly #turns: TurnsOfWork;
  /** Reads that have not begun: a call for the same joins them. */
  readonly #waitingReads = new Map<string, Promise<ReadAnswer>>();
  #version: Promise<void> | undefined;

  constructor(options: GitOptions) {
    this.#options = { lookUp: (name) => lookup(name, { all: true }), ...options };
    this.#bounds = { ...GIT_BOUNDS, ...options.bounds };
    this.#mirrors = new Mirrors(options.folder, this.#bounds);
    this.#turns = new TurnsOfWork(this.#bounds);
  }

  /** Reads the file at a ref. Rejects with `noRef` when the server has no such ref. */
  read(repository: Repository, query: FileQuery): Promise<ReadAnswer> {
    const { owner, remote, credential } = repository;
    const key = JSON.stringify([owner, remote.url, keyOfCredential(credential), query]);
    const waiting = this.#waitingReads.get(key);
    if (waiting !== undefined) return waiting;
    const forget = () => this.#waitingReads.delete(key);
    const reading = this.#work(repository, (mirror) => {
      forget();
      return readFile(mirror, repository, query);
    }).finally(() => {
      if (this.#waitingReads.get(key) === reading) forget();
    });
    this.#waitingReads.set(key, reading);
    return reading;
  }

  /** Reads the files below a folder that {@link definitionPathProblem} finds no fault with. Rejects as {@link read} does. */
  readFolder(repository: Repository, ref: GitRef, folder: string, limit: number): Promise<FolderAnswer> {
    return this.#work(repository, async (mirror) => {
      const { refName, commit } = await findCommit(mirror, repository.remote, ref);
      const isWanted = (path: string) => definitionPathProblem(path) === undefined;
      return { refName, commit, ...(await readFolder(mirror, commit.id, { folder, limit, isWanted })) };
    });
  }

  /** Those of the files that a commit has. {@link definitionPathProblem} finds no fault with the paths. Rejects as {@link read} does. */
  readFiles(repository: Repository, commit: string, paths: readonly string[]): Promise<readonly PlacedFile[]> {
    return this.#work(repository, async (mirror) => {
      const { commit: found } = await findCommit(mirror, repository.remote, { kind: "commit", id: commit });
      return readEntries(mirror, await mirror.entriesAt(found.id, paths));
    });
  }

  /** The branch that HEAD of the repository names; undefined for an empty repository. */
  defaultBranch(repository: Repository): Promise<string | undefined> {
    return this.#work(repository, async (mirror) => {
      return branchOfHead(await mirror.listRefs(["--symref", "origin", "HEAD"], "asking for the default branch"));
    });
  }

  /** True for a repository without any branch. */
  isEmpty(repository: Repository): Promise<boolean> {
    return this.#work(repository, isEmpty);
  }

  /**
   * Commits one file on top of `request.parent`, and pushes the commit if the branch still is at that commit. The same
   * request makes the same commit, so that a repeat of a push that was cut off changes nothing.
   */
  commitFile(repository: Repository, request: CommitRequest): Promise<PushOutcome> {
    const commit = async (mirror: Mirror): Promise<PushOutcome> => {
      const first = firstParent(request);
      if (first !== null && (await mirror.fetchCommit(first)) === undefined) return { outcome: "raced" };
      return pushCommit(mirror, request, await writeCommit(mirror, request));
    };
    return this.#work(repository, commit, "writeCode");
  }

  /** Throws unless the credential may push to the branch, which is at `head`. Hooks of the server are not asked. */
  async checkPush(repository: Repository, branch: string, head: string): Promise<void> {
    const tryPush = async (mirror: Mirror) => {
      const request = { branch, parent: head };
      if ((await mirror.fetchCommit(head)) === undefined) return;
      await pushCommit(mirror, request, head, ["--dry-run"]);
    };
    await this.#work(repository, tryPush, "writeCode");
  }

  /** The newest commit of a branch whose message has this line; undefined when the last commits have none. */
  findCommit(repository: Repository, branch: string, line: string): Promise<CommitFacts | undefined> {
    return this.#search(repository, branch, ["--fixed-strings", `--grep=${line}`]);
  }

  /** The newest commit of a branch that changed the file; undefined when it is older than the last commits. */
  lastChange(repository: Repository, branch: string, path: string): Promise<CommitFacts | undefined> {
    return this.#search(repository, branch, ["--full-history", "--no-renames"], path);
  }

  /** The branches whose names begin so, in the order of their names. `prefix` holds no character of a pattern. */
  branchesFrom(repository: Repository, prefix: string): Promise<readonly string[]> {
    return this.#work(repository, async (mirror) => {
      const args = ["--heads", "origin", `refs/heads/${prefix}*`];
      const names = (await mirror.listRefs(args, "asking for the branches"))
        .split("\n")
        .map((line) => line.split("\trefs/heads/", 2)[1] ?? "");
      return names.filter((name) => name.startsWith(prefix)).toSorted();
    });
  }

  /** Whether a commit is among the last commits of a branch. False for a branch that does not exist. */
  isOnBranch(repository: Repository, branch: string, id: string): Promise<boolean> {
    return this.#scratch(repository, async (mirror) => {
      const head = await mirror.fetchRef(`refs/heads/${branch}`, SEARCHED_COMMITS);
      // Nothing else has been fetched into this repository.
      return head !== undefined && (await mirror.object(`${id}^{commit}`)) !== undefined;
    });
  }

  /** The commit that the server has under a full name now; undefined for none. */
  tipOf(repository: Repository, refName: string): Promise<CommitFacts | undefined> {
    return this.#work(repository, (mirror) => mirror.fetchRef(refName));
  }

  /** The files that differ between two commits. Rejects with `noRef` when the server hands out one of them no more. */
  changedFiles(repository: Repository, from: string, to: string): Promise<readonly string[]> {
    return this.#work(repository, (mirror) => readChangedFiles(mirror, from, to));
  }

  /** The newest commit that a branch and a commit share; undefined when their last commits share none. */
  sharedCommit(repository: Repository, branch: string, id: string): Promise<string | undefined> {
    return this.#scratch(repository, (mirror) => findSharedCommit(mirror, branch, id));
  }

  /** Whether one commit is among the last ones that lead to another. */
  leadsTo(repository: Repository, older: string, newer: string): Promise<boolean> {
    return this.#scratch(repository, (mirror) => isAmongAncestors(mirror, older, newer));
  }

  close(): Promise<void> {
    return this.#mirrors.close();
  }

  async #search(
    repository: Repository,
    branch: string,
    conditions: readonly string[],
    path?: string,
  ): Promise<CommitFacts | undefined> {
    return this.#scratch(repository, async (mirror) => {
      const head = await mirror.fetchRef(`refs/heads/${branch}`, SEARCHED_COMMITS);
      if (head === undefined) return undefined;
      const limits = path === undefined ? [] : ["--", path];
      const command = ["rev-list", "--parents", ...conditions, head.id, ...limits];
      const [newest = ""] = (await mirror.local(command)).toString("latin1").split("\n");
      const [id = ""] = newest.split(" ");
      const found = id === "" ? undefined : await mirror.object(id);
      if (found === undefined) return undefined;
      const commit = readCommit(id, found.content);
      // At the end of the fetched history every file looks new.
      const isLast = !newest.includes(" ") && commit.parents.length > 0;
      return path !== undefined && isLast ? undefined : commit;
    });
  }

  #work<T>(repository: Repository, work: (mirror: Mirror) => Promise<T>, right?: GitRight): Promise<T> {
    const key = this.#keyOf(repository);
    const use = (open: (path: string) => Promise<Mirror>) =>
      this.#mirrors.use(key, async (path) => work(await open(path)));
    return this.#turns.take(repository.owner, key, () => this.#opened(repository, use, right));
  }

  #scratch<T>(repository: Repository, work: (mirror: Mirror) => Promise<T>): Promise<T> {
    const key = `scratch ${this.#keyOf(repository)}`;
    return this.#turns.take(repository.owner, key, () =>
      this.#opened(repository, (open) => this.#mirrors.scratch(async (path) => work(await open(path)))),
    );
  }

  #keyOf({ owner, remote, credential }: Repository): string {
    return this.#mirrors.keyOf(owner, remote.url, keyOfCredential(credential));
  }

  /** Work is done once more when the server refuses a token before its time: its right may have been changed. */
  async #opened<T>(
    { remote, credential }: Repository,
    work: (open: (path: string) => Promise<Mirror>) => Promise<T>,
    right: GitRight = "readCode",
  ): Promise<T> {
    await this.#checkVersion();
    await this.#mirrors.begin();
    const endsAt = performance.now() + this.#bounds.workMs;
    if (credential === null || typeof credential === "string") return this.#reached(remote, credential, endsAt, work);
    const token = await credential.token(right);
    try {
      return await this.#reached(remote, token, endsAt, work);
    } catch (error) {
      if (!(error instanceof GitFault && error.kind === "authentication")) throw error;
      credential.forget(token);
      return await this.#reached(remote, await credential.token(right), endsAt, work);
    }
  }

  async #reached<T>(
    remote: Remote,
    credential: string | null,
    endsAt: number,
    work: (open: (path: string) => Promise<Mirror>) => Promise<T>,
  ): Promise<T> {
    const { home, privateFolder } = this.#mirrors;
    const access = await openAccess(remote, credential, { ...this.#options, folder: privateFolder });
    try {
      return await work(async (path) => {
        const mirror = new Mirror({ path, home, access, bounds: this.#bounds, endsAt, shown: remote.url });
        await mirror.open();
        return mirror;
      });
    } finally {
      await access.close();
    }
  }

  /** Asks until the answer is good: Git may be installed meanwhile. */
  #checkVersion(): Promise<void> {
    this.#version ??= requireVersion().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }
}

async function requireVersion(): Promise<void> {
  const answer = await runGit({
    args: ["version"],
    home: tmpdir(),
    timeoutMs: 10_000,
    maxOutput: 4_096,
    maxFileBytes: 4_096,
  });
  const text = answer.end === "exited" ? answer.stdout.toString("latin1") : "";
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (isNew) return;
  const found = major === undefined ? "no `git`" : `Git ${major}.${minor}`;
  throw new GitFault("noGit", `this node's machine has ${found}: install Git ${OLDEST.join(".")} or later`);
}

async function readFile(
  mirror: Mirror,
  { remote }: Repository,
  { ref, path, knownBlob }: FileQuery,
): Promise<ReadAnswer> {
  const { refName, commit } = await findCommit(mirror, remote, ref);
  const entry = await mirror.entryAt(commit.id, path);
  const kind = entry === undefined ? "missing" : fileKindOf(entry.mode);
  if (entry === undefined || kind !== "file") return { refName, commit, file: { kind: kind as "missing" } };
  if (entry.id === knownBlob) return { refName, commit, file: { kind: "known", blob: entry.id } };
  return { refName, commit, file: { kind, blob: entry.id, content: await mirror.blob(entry.id) } };
}

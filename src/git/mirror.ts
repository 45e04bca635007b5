/** One mirror in use: the commands of Git on it, local ones and ones that reach the server. */
import { createHash } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { GitFault } from "./git-fault.ts";
import { type GitAccess, type GitAnswer, runGit } from "./git-process.ts";
import { faultOf } from "./git-signs.ts";
import { DamagedMirror } from "./mirrors.ts";
import {
  type BatchObject,
  type CommitFacts,
  readBatch,
  readCommit,
  readSize,
  readTreeEntry,
  readTreeFiles,
  type TreeEntry,
  type TreeFile,
} from "./objects.ts";

export interface CommandBounds {
  /** Of one command. */
  readonly timeoutMs: number;
  /** Of what one fetch may bring. */
  readonly fetchBytes: number;
  /** Of the definition. */
  readonly fileBytes: number;
}

export interface MirrorParts {
  readonly path: string;
  readonly home: string;
  readonly access: GitAccess;
  readonly bounds: CommandBounds;
  /** By the monotonic clock, milliseconds: when the whole work must have ended. */
  readonly endsAt: number;
  /** The repository, in messages. */
  readonly shown: string;
}

interface CommandOptions {
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly maxOutput?: number;
  readonly maxFileBytes?: number;
  readonly fetchesMissing?: boolean;
}

const MAX_OUTPUT = 4 * 2 ** 20;
const BLOBLESS = ["--filter=blob:none"];
const FETCH = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc"];

export class Mirror {
  readonly #parts: MirrorParts;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  /** Makes the repository when it is missing. */
  async open(): Promise<void> {
    const { path } = this.#parts;
    if ((await stat(join(path, "HEAD")).catch(() => undefined)) !== undefined) return;
    await mkdir(path, { recursive: true, mode: 0o700 });
    const answer = await this.#run(["init", "--quiet", "--bare", "--template="], {});
    if (answer.end !== "exited" || answer.code !== 0) throw this.#local("init", answer);
  }

  /**
   * Fetches a ref by its full name with `depth` commits of its history, and answers its commit. Undefined when the server
   * has no such ref.
   */
  async fetchRef(fullName: string, depth = 1): Promise<CommitFacts | undefined> {
    const kept = `refs/millrace/${createHash("sha256").update(fullName).digest("hex").slice(0, 20)}`;
    const args = [...FETCH, ...BLOBLESS, `--depth=${depth}`, "origin", `+${fullName}:${kept}`];
    const fault = await this.#fetch(args, `fetching ${fullName}`);
    if (fault?.kind === "noRef") return undefined;
    if (fault !== undefined) throw fault;
    const found = await this.object(`${kept}^{commit}`);
    if (found === undefined) throw new GitFault("noRef", `${fullName} of ${this.#parts.shown} stands for no commit`);
    return readCommit(found.id, found.content);
  }

  /** A commit by its full id; it is fetched unless it is here. Undefined when the server has it not, or hands it not out. */
  async fetchCommit(id: string): Promise<CommitFacts | undefined> {
    const here = await this.object(`${id}^{commit}`);
    if (here !== undefined) return readCommit(here.id, here.content);
    const fault = await this.#fetch([...FETCH, ...BLOBLESS, "--depth=1", "origin", id], `fetching ${id}`);
    if (fault?.kind === "noRef") return undefined;
    if (fault !== undefined) throw fault;
    const fetched = await this.object(`${id}^{commit}`);
    return fetched && readCommit(fetched.id, fetched.content);
  }

  /**
   * Fetches the last commits that lead to a commit or a ref by its full name, without their files and folders; answers the
   * newest one. Undefined when the server has it not, or hands it not out.
   */
  async fetchHistory(name: string, depth: number): Promise<string | undefined> {
    const kept = `refs/millrace/${createHash("sha256").update(`history ${name}`).digest("hex").slice(0, 20)}`;
    const args = [...FETCH, "--filter=tree:0", `--depth=${depth}`, "origin", `+${name}:${kept}`];
    const fault = await this.#fetch(args, `fetching the history of ${name}`);
    if (fault?.kind === "noRef") return undefined;
    if (fault !== undefined) throw fault;
    return (await this.object(`${kept}^{commit}`))?.id;
  }

  /** What the tree of a commit has at a path; undefined for nothing. */
  async entryAt(commit: string, path: string): Promise<TreeEntry | undefined> {
    return readTreeEntry(await this.local(["ls-tree", "-z", "--full-tree", commit, "--", path]));
  }

  /** What the tree of a commit has at several paths, in their order in the tree. Those that it has not are left out. */
  async entriesAt(commit: string, paths: readonly string[]): Promise<readonly TreeFile[]> {
    return readTreeFiles(await this.local(["ls-tree", "-z", "--full-tree", commit, "--", ...paths]));
  }

  /** What is below a folder of a commit, in the order of the paths. Links and submodules are not followed. */
  async entriesBelow(commit: string, folder: string): Promise<readonly TreeFile[]> {
    return readTreeFiles(await this.local(["ls-tree", "-r", "-z", "--full-tree", commit, "--", `${folder}/`]));
  }

  /** Fetches the contents of files that are not here, in one call. One that is too large is left for {@link blob} to refuse. */
  async fetchBlobs(ids: readonly string[]): Promise<void> {
    const missing: string[] = [];
    for (const id of new Set(ids)) if ((await this.#sizeOf(id)) === undefined) missing.push(id);
    if (missing.length < 2) return;
    // With commits that are here named to it, a server would take their files for known and leave them out.
    const args = ["-c", "fetch.negotiationAlgorithm=noop", ...FETCH, ...BLOBLESS, "--stdin", "origin"];
    const maxFileBytes = Math.min(missing.length * this.#blobBytes(), this.#parts.bounds.fetchBytes);
    const what = "fetching the files";
    const { code, stderr } = await this.remote(args, what, { stdin: `${missing.join("\n")}\n`, maxFileBytes });
    if (code === 0) return;
    const fault = this.faultOf(stderr, what);
    if (fault.kind !== "tooLarge") throw fault;
  }

  /** The content of a file, which is fetched unless it is here. Throws `tooLarge`. */
  async blob(id: string): Promise<Buffer> {
    const { fileBytes } = this.#parts.bounds;
    const found = (await this.#sizeOf(id)) ?? (await this.#fetchBlob(id));
    if (found === undefined) throw new DamagedMirror(`object ${id} is missing`);
    if (found.size > fileBytes) throw this.#tooLarge();
    const object = await this.object(id, fileBytes + 1_024);
    if (object === undefined) throw new DamagedMirror(`object ${id} is missing`);
    return object.content;
  }

  /** An object by any name that Git knows; undefined when it is not here. */
  async object(name: string, maxOutput?: number): Promise<BatchObject | undefined> {
    return readBatch(
      await this.local(["cat-file", "--batch"], { stdin: `${name}\n`, ...(maxOutput && { maxOutput }) }),
    );
  }

  /** Runs a command on what is here. Throws {@link DamagedMirror} when it fails, since it fails for no other reason. */
  async local(args: readonly string[], options: CommandOptions = {}): Promise<Buffer> {
    const answer = await this.#run(args, options);
    if (answer.end === "exited" && answer.code === 0) return answer.stdout;
    throw this.#local(args[0]!, answer);
  }

  /** Runs a command that reaches the server. Throws a fault only when the command did not end by itself. */
  async remote(
    args: readonly string[],
    what: string,
    options: CommandOptions = {},
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const { access, bounds } = this.#parts;
    const answer = await this.#run(args, { maxFileBytes: bounds.fetchBytes, ...options }, access);
    if (answer.end === "exited") return { ...answer, stdout: answer.stdout.toString("utf8") };
    throw this.#ended(answer, `${what} of ${this.#parts.shown}`);
  }

  /** What `git ls-remote` tells of the server's refs. */
  async listRefs(args: readonly string[], what: string): Promise<string> {
    const { code, stdout, stderr } = await this.remote(["ls-remote", ...args], what);
    if (code !== 0) throw this.faultOf(stderr, what);
    return stdout;
  }

  /** Texts that must not appear in any message. */
  get secrets(): readonly string[] {
    return this.#parts.access.secrets;
  }

  /** The fault that messages of a command describe. */
  faultOf(stderr: string, what: string): GitFault {
    return faultOf(stderr, `${what} of ${this.#parts.shown}`, this.#parts.access.secrets);
  }

  /** A name for a file beside the objects, which is removed after the work. */
  async withFile<T>(name: string, work: (path: string) => Promise<T>): Promise<T> {
    const path = join(this.#parts.path, name);
    await rm(path, { force: true });
    try {
      return await work(path);
    } finally {
      await Promise.all([rm(path, { force: true }), rm(`${path}.lock`, { force: true })]);
    }
  }

  async #fetch(args: readonly string[], what: string): Promise<GitFault | undefined> {
    const { code, stderr } = await this.remote(args, what);
    if (code === 0) return undefined;
    if (DAMAGE.test(stderr)) throw new DamagedMirror(stderr.split("\n", 1)[0]!);
    return this.faultOf(stderr, what);
  }

  /** Fetches a single object, in the way in which Git fetches what it misses. */
  async #fetchBlob(id: string): Promise<{ readonly size: number } | undefined> {
    const maxFileBytes = this.#blobBytes();
    const options = { stdin: `${id}\n`, fetchesMissing: true, maxFileBytes };
    const what = "fetching the file";
    const { code, stdout, stderr } = await this.remote(["cat-file", "--batch-check"], what, options);
    if (code === 0) return readSize(Buffer.from(stdout));
    const fault = this.faultOf(stderr, what);
    throw fault.kind === "tooLarge" ? this.#tooLarge() : fault;
  }

  /** Objects are compressed, but a text of random characters is hardly smaller then. */
  #blobBytes(): number {
    return 2 * this.#parts.bounds.fileBytes + 65_536;
  }

  async #sizeOf(id: string): Promise<{ readonly size: number } | undefined> {
    return readSize(await this.#look(["cat-file", "--batch-check"], { stdin: `${id}\n` }));
  }

  /** A look for an object. Where one is missing, Git would fetch it, and fails because it may not. */
  async #look(args: readonly string[], options: CommandOptions): Promise<Buffer> {
    const answer = await this.#run(args, options);
    if (answer.end === "exited" && answer.code === 0) return answer.stdout;
    if (answer.end === "exited" && /from promisor remote/.test(answer.stderr)) return Buffer.alloc(0);
    throw this.#local(args[0]!, answer);
  }

  #run(args: readonly string[], options: CommandOptions, access?: GitAccess): Promise<GitAnswer> {
    const { path, home, bounds, endsAt } = this.#parts;
    const { maxOutput = MAX_OUTPUT, maxFileBytes = bounds.fetchBytes, ...others } = options;
    const timeoutMs = Math.min(bounds.timeoutMs, endsAt - performance.now());
    return runGit({
      args,
      repository: path,
      home,
      timeoutMs,
      maxOutput,
      maxFileBytes,
      ...others,
      ...(access && { access }),
    });
  }

  #local(command: string, answer: GitAnswer): Error {
    if (answer.end !== "exited") return this.#ended(answer, `reading ${this.#parts.shown}`);
    if (/No space left on device|Disk quota exceeded/.test(answer.stderr))
      return this.faultOf(answer.stderr, "writing");
    return new DamagedMirror(`git ${command}: ${answer.stderr.split("\n", 1)[0]}`);
  }

  #ended({ end }: Exclude<GitAnswer, { readonly end: "exited" }>, what: string): GitFault {
    switch (end) {
      case "timedOut":
        return new GitFault("timedOut", `${what} took too long: try again later`);
      case "tooMuchOutput":
        return new GitFault("tooLarge", `${what} brought more than the bound on it`);
      case "notStarted":
        return new GitFault("noGit", "this node's machine has no `git`: install Git 2.37 or later");
    }
  }

  #tooLarge(): GitFault {
    const { fileBytes } = this.#parts.bounds;
    return new GitFault("tooLarge", `the file has more than ${fileBytes} bytes: a definition may not be larger`);
  }
}

/** Messages about the mirror, and not about the server. */
const DAMAGE =
  /\.lock': File exists|not a git repository|is corrupt|bad object|invalid sha1 pointer|unable to read tree|shallow file has changed|cannot lock ref|unresolved deltas/;

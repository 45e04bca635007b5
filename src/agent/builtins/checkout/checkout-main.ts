/**
 * The program of the builtin `checkout`, which runs as a process of its step. It starts Git in its own process group,
 * so timeouts, cancellation and kills work for a checkout as they do for any command. The environment holds its
 * arguments, and its exit code tells what went wrong.
 */
import { appendFileSync } from "node:fs";
import { type CheckoutRequest, readCheckoutRequest, type CheckoutTarget } from "./checkout-args.ts";
import { emptyFolder, openFolder } from "./checkout-folder.ts";
import { CHECKOUT_EXITS, CheckoutProblem, problemOf } from "./checkout-problem.ts";
import { candidatesOf, headIn, mayBeCommit, namesIn, noSuchRef, refspecOf } from "./checkout-ref.ts";
import { CHECKOUT_ENV } from "./checkout-step.ts";
import { Git, type GitAccess } from "./git.ts";
import { openAccess } from "./git-credential.ts";

const EVERYTHING = ["--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"];

/** The commit that was found. */
interface Found {
  /** The full name of its branch or tag, or the commit id again. */
  readonly ref: string;
  readonly commit: string;
}

class Checkout {
  readonly #request: CheckoutRequest;
  readonly #git: Git;
  readonly #access: GitAccess;

  constructor(request: CheckoutRequest, git: Git, access: GitAccess) {
    this.#request = request;
    this.#git = git;
    this.#access = access;
  }

  async run(): Promise<Found> {
    const { repository, depth, submodules } = this.#request;
    await this.#git.run(["init", "--quiet", "."], "making the repository");
    await this.#git.run(["remote", "add", "origin", repository.url], "naming the remote repository");
    const found = await this.#find(this.#request.target);
    if (depth === 0) await this.#fetch(EVERYTHING, "all branches and tags");
    await this.#git.run(["checkout", "--quiet", "--force", "--detach", found.commit], "putting the files in place");
    if (submodules !== "none") {
      const flags = [...(submodules === "recursive" ? ["--recursive"] : []), ...this.#depthFlags()];
      const args = ["submodule", "--quiet", "update", "--init", ...flags];
      await this.#git.run(args, "fetching the submodules", this.#access);
    }
    return found;
  }

  async #find(target: CheckoutTarget): Promise<Found> {
    switch (target.kind) {
      case "commit":
        return this.#findCommit(target.id);
      case "head":
        return this.#fetchRef(await this.#findHead());
      default: {
        const ref = await this.#findNamed(target);
        return ref === undefined ? this.#findInHistory(target.name) : this.#fetchRef(ref);
      }
    }
  }

  async #fetchRef(ref: string): Promise<Found> {
    await this.#fetch([...this.#depthFlags(), "--no-tags", "origin", refspecOf(ref)], ref);
    const commit = await this.#commitOf("FETCH_HEAD");
    if (commit === undefined) throw new CheckoutProblem("noRef", `${ref} stands for no commit`);
    return { ref: ref === "HEAD" ? commit : ref, commit };
  }

  async #findHead(): Promise<string> {
    const ref = headIn(await this.#list(["--symref", "origin", "HEAD"]));
    if (ref === undefined) throw new CheckoutProblem("noRef", "the repository is empty, or its HEAD names no branch");
    return ref;
  }

  /** The full name of a branch or tag; undefined when there is none but the name may be a shortened commit id. */
  async #findNamed(target: Extract<CheckoutTarget, { readonly name: string }>): Promise<string | undefined> {
    const candidates = candidatesOf(target);
    const existing = new Set(namesIn(await this.#list(["origin", ...candidates])));
    const ref = candidates.find((each) => existing.has(each));
    if (ref !== undefined || mayBeCommit(target)) return ref;
    const [what, kinds] =
      target.kind === "branch" ? ["branch", ["--heads"]] : ["branch, tag or commit", ["--heads", "--tags"]];
    throw noSuchRef(target.name, what, namesIn(await this.#list([...kinds, "origin"])));
  }

  /** Fetches the commit by its id if the host allows that; otherwise searches the whole history. */
  async #findCommit(id: string): Promise<Found> {
    const answer = await this.#git.try(
      ["fetch", "--quiet", ...this.#depthFlags(), "--no-tags", "origin", id],
      this.#access,
    );
    if (typeof answer !== "string") {
      const problem = problemOf(answer.stderr, `fetching ${id}`);
      if (problem.fault !== "other") throw problem;
      return this.#findInHistory(id);
    }
    const commit = await this.#commitOf(id);
    if (commit === undefined) throw new CheckoutProblem("noRef", `${id} is no commit`);
    return { ref: commit, commit };
  }

  /** Fetches the whole history, because no host resolves a shortened id, and some hosts do not serve single commits. */
  async #findInHistory(id: string): Promise<Found> {
    say(`looking for the commit ${id} in the whole history`);
    await this.#fetch(EVERYTHING, "all branches and tags");
    const commit = await this.#commitOf(id);
    if (commit !== undefined) return { ref: commit, commit };
    throw noSuchRef(id, "branch, tag or commit", namesIn(await this.#list(["--heads", "--tags", "origin"])));
  }

  async #commitOf(name: string): Promise<string | undefined> {
    const answer = await this.#git.try(["rev-parse", "--quiet", "--verify", "--end-of-options", `${name}^{commit}`]);
    return typeof answer === "string" ? answer.trim() : undefined;
  }

  async #fetch(args: readonly string[], what: string): Promise<void> {
    // A server may hold a shallow copy itself: what it has is the whole history then.
    await this.#git.run(["fetch", "--quiet", "--update-shallow", ...args], `fetching ${what}`, this.#access);
  }

  #list(args: readonly string[]): Promise<string> {
    return this.#git.run(["ls-remote", ...args], "asking the repository for its refs", this.#access);
  }

  #depthFlags(): readonly string[] {
    const { depth } = this.#request;
    return depth === 0 ? [] : [`--depth=${depth}`];
  }
}

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const { [CHECKOUT_ENV.args]: args = "", [CHECKOUT_ENV.home]: home = "", ...others } = env;
  const workspace = others["MILLRACE_WORKSPACE"]!;
  const request = readCheckoutRequest(args);
  const { repository, credential } = request;
  const folder = openFolder(workspace, request.folder);
  if (emptyFolder(folder)) say(`removed the content of ${request.folder === "" ? "the workspace" : request.folder}`);
  // A definition may name a repository on this machine. Submodules may use files of this machine only in such a
  // repository.
  const transports = ["https", "http", "ssh", "git", ...(repository.transport === "file" ? ["file"] : [])];
  const git = new Git({ cwd: folder, home, env: others, transports });
  await git.checkVersion();
  const access = await openAccess(repository, credential, home);
  try {
    if (credential !== "" && repository.credentialScope.startsWith("http:"))
      say("the credential is sent without encryption");
    const { ref, commit } = await new Checkout(request, git, access).run();
    say(`${ref === commit ? "" : `${ref} is at `}commit ${commit} of ${repository.url}`);
    appendFileSync(others["MILLRACE_OUTPUT"]!, `commit=${commit}\nref=${ref}\n`);
  } finally {
    access.close();
  }
}

function say(line: string): void {
  process.stdout.write(`millrace: ${line}\n`);
}

main(process.env).catch((error: unknown) => {
  const problem = error instanceof CheckoutProblem ? error : systemProblem(error as NodeJS.ErrnoException);
  process.stderr.write(`millrace: ${problem.message}\n`);
  process.exitCode = CHECKOUT_EXITS[problem.fault].code;
});

function systemProblem({ code, message }: NodeJS.ErrnoException): CheckoutProblem {
  return new CheckoutProblem(code === undefined ? "other" : "files", message);
}

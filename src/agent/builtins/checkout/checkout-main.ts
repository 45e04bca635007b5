/**
 * The builtin `checkout` as a process of its step: so that all holds for it that holds for a command, its Git is started
 * by it in its process group. It is told what to do by its environment; its exit code says what was wrong.
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

/** What was found: its full name, or the commit by itself. */
interface Found {
  readonly ref: string;
  readonly commit: string;
}

class Checkout {
  readonly #order: CheckoutRequest;
  readonly #git: Git;
  readonly #access: GitAccess;

  constructor(order: CheckoutRequest, git: Git, access: GitAccess) {
    this.#order = order;
    this.#git = git;
    this.#access = access;
  }

  async run(): Promise<Found> {
    const { repository, depth, submodules } = this.#order;
    await this.#git.run(["init", "--quiet", "."], "making the repository");
    await this.#git.run(["remote", "add", "origin", repository.url], "naming the remote repository");
    const found = await this.#find(this.#order.wanted);
    if (depth === 0) await this.#fetch(EVERYTHING, "all branches and tags");
    await this.#git.run(["checkout", "--quiet", "--force", "--detach", found.commit], "putting the files in place");
    if (submodules !== "none") {
      const flags = [...(submodules === "recursive" ? ["--recursive"] : []), ...this.#depthFlags()];
      const args = ["submodule", "--quiet", "update", "--init", ...flags];
      await this.#git.run(args, "fetching the submodules", this.#access);
    }
    return found;
  }

  async #find(wanted: CheckoutTarget): Promise<Found> {
    switch (wanted.kind) {
      case "commit":
        return this.#findCommit(wanted.id);
      case "head":
        return this.#take(await this.#findHead());
      default: {
        const ref = await this.#findNamed(wanted);
        return ref === undefined ? this.#findInHistory(wanted.name) : this.#take(ref);
      }
    }
  }

  async #take(ref: string): Promise<Found> {
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

  /** Undefined when it may be a commit yet. */
  async #findNamed(wanted: Extract<CheckoutTarget, { readonly name: string }>): Promise<string | undefined> {
    const candidates = candidatesOf(wanted);
    const there = new Set(namesIn(await this.#list(["origin", ...candidates])));
    const ref = candidates.find((each) => there.has(each));
    if (ref !== undefined || mayBeCommit(wanted)) return ref;
    const [what, kinds] =
      wanted.kind === "branch" ? ["branch", ["--heads"]] : ["branch, tag or commit", ["--heads", "--tags"]];
    throw noSuchRef(wanted.name, what, namesIn(await this.#list([...kinds, "origin"])));
  }

  /** By its id alone where the host answers that, else among all that there is. */
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

  /** No host is asked for a part of an id, and some answer for no id: the whole history is fetched. */
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
    await this.#git.run(["fetch", "--quiet", ...args], `fetching ${what}`, this.#access);
  }

  #list(args: readonly string[]): Promise<string> {
    return this.#git.run(["ls-remote", ...args], "asking the repository for its refs", this.#access);
  }

  #depthFlags(): readonly string[] {
    const { depth } = this.#order;
    return depth === 0 ? [] : [`--depth=${depth}`];
  }
}

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const { [CHECKOUT_ENV.args]: args = "", [CHECKOUT_ENV.home]: home = "", ...others } = env;
  const workspace = others["MILLRACE_WORKSPACE"]!;
  const order = readCheckoutRequest(args);
  const { repository } = order;
  const folder = openFolder(workspace, order.folder);
  if (emptyFolder(folder)) say(`removed what was in ${order.folder === "" ? "the workspace" : order.folder}`);
  // A definition that names files of the machine may have them; a repository's submodules may not unless it is one of them.
  const transports = ["https", "http", "ssh", "git", ...(repository.transport === "file" ? ["file"] : [])];
  const git = new Git({ cwd: folder, home, env: others, transports });
  await git.checkVersion();
  const access = await openAccess(repository, order.credential, home);
  try {
    if (order.credential !== "" && repository.place.startsWith("http:"))
      say("the credential is sent without encryption");
    const { ref, commit } = await new Checkout(order, git, access).run();
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

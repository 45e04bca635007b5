/** Commits one file without a work tree, and pushes the commit to a branch that is still where it is expected. */
import { GitFault } from "./git-fault.ts";
import { shownWords, wordsOfServer } from "./git-signs.ts";
import type { Mirror } from "./mirror.ts";
import type { Person } from "./objects.ts";

export interface CommitRequest {
  readonly branch: string;
  /** The commit that the branch must be at; null for a branch that must not exist. */
  readonly parent: string | null;
  /** The commit that a new branch begins at. Absent: `parent`. */
  readonly start?: string;
  readonly path: string;
  readonly content: string;
  readonly message: string;
  readonly author: Person;
  readonly committer: Person;
  /** Unix milliseconds; of author and committer alike. */
  readonly at: number;
}

export type PushOutcome =
  | { readonly outcome: "pushed"; readonly commit: string }
  /** The branch is at another commit than expected. */
  | { readonly outcome: "raced" }
  /** The server refuses the push, for example because the branch is protected. */
  | { readonly outcome: "refused"; readonly words: string };

/** Writes the commit into the mirror, and answers its id, which the same request always has. Throws for a path that leads through a file. */
export async function writeCommit(mirror: Mirror, request: CommitRequest): Promise<string> {
  const { path, content } = request;
  const parent = firstParent(request);
  const blob = text(await mirror.local(["hash-object", "-w", "--stdin", "--no-filters"], { stdin: content }));
  const tree = await mirror.withFile("millrace-index", async (index) => {
    const env = { GIT_INDEX_FILE: index };
    if (parent !== null) await mirror.local(["read-tree", `${parent}^{tree}`], { env });
    const mode = await modeAt(mirror, parent, path);
    await mirror.local(["update-index", "--add", "--cacheinfo", `${mode},${blob},${path}`], { env });
    return text(await mirror.local(["write-tree", "--missing-ok"], { env }));
  });
  const parents = parent === null ? [] : ["-p", parent];
  const stdin = `${request.message.replaceAll("\0", "").trimEnd()}\n`;
  return text(await mirror.local(["commit-tree", tree, ...parents, "-F", "-"], { stdin, env: identities(request) }));
}

/** The parent of the commit; null for the first one of a repository. */
export function firstParent({ start, parent }: Pick<CommitRequest, "start" | "parent">): string | null {
  return start ?? parent;
}

/** The mode of the file that is replaced. Throws when something else is there, or on the way there. */
async function modeAt(mirror: Mirror, parent: string | null, path: string): Promise<string> {
  if (parent === null) return "100644";
  const parts = path.split("/");
  for (let length = 1; length < parts.length; length++) {
    const folder = parts.slice(0, length).join("/");
    const entry = await mirror.entryAt(parent, folder);
    if (entry === undefined) return "100644";
    if (entry.type !== "tree") throw notThere(folder, "is no folder");
  }
  const entry = await mirror.entryAt(parent, path);
  if (entry === undefined) return "100644";
  if (/^100(?:644|755)$/.test(entry.mode)) return entry.mode;
  throw notThere(path, "is no regular file");
}

function notThere(path: string, what: string): GitFault {
  return new GitFault(
    "hostile",
    `${JSON.stringify(path)} ${what} in the repository: choose another \`pipelineFilePath\``,
  );
}

/**
 * Pushes only if the branch still is at `parent`, which is the parent of the commit too: either alone could overwrite. The
 * answer of a push that was cut off is unknown: it rejects, and the caller looks at the branch.
 */
export async function pushCommit(
  mirror: Mirror,
  { branch, parent }: Pick<CommitRequest, "branch" | "parent">,
  commit: string,
  flags: readonly string[] = [],
): Promise<PushOutcome> {
  const name = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${name}:${parent ?? ""}`;
  const args = ["push", "--porcelain", "--no-verify", ...flags, lease, "origin", `${commit}:${name}`];
  const what = `pushing to ${branch}`;
  const { code, stdout, stderr } = await mirror.remote(args, what);
  if (code === 0) return { outcome: "pushed", commit };
  // A rejected ref: the flag, the refs, and the summary with the reason.
  const [, summary] = /^!\t[^\t]*\t(.*)$/m.exec(stdout) ?? [];
  if (summary === undefined) throw ofPush(mirror.faultOf(stderr, what));
  if (
    /\((?:stale info|non-fast-forward|fetch first|failed to update ref|cannot lock ref.*|reference already exists|remote ref updated.*|incorrect old value provided)\)/.test(
      summary,
    )
  ) {
    return { outcome: "raced" };
  }
  const reason = shownWords(summary.replace(/^.*?\((.*)\)$/, "$1"), []);
  const said = wordsOfServer(stderr, mirror.secrets);
  return { outcome: "refused", words: said === "" ? reason : `${said} (${reason})` };
}

/** A server that forbids a push lets the credential read: reading was tried before. */
function ofPush(fault: GitFault): GitFault {
  return fault.kind === "authentication" && /\(403\)/.test(fault.message)
    ? new GitFault(
        "readOnly",
        fault.message.replace(/: .*/, ": the credential may only read: give it the right to write"),
      )
    : fault;
}

function identities({ author, committer, at }: CommitRequest): Record<string, string> {
  const date = `${Math.floor(at / 1_000)} +0000`;
  return {
    GIT_AUTHOR_NAME: identityText(author.name),
    GIT_AUTHOR_EMAIL: identityText(author.email),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: identityText(committer.name),
    GIT_COMMITTER_EMAIL: identityText(committer.email),
    GIT_COMMITTER_DATE: date,
  };
}

/** Git itself removes white space, dots and the like at the ends, and refuses a name of nothing else. */
function identityText(given: string): string {
  const plain = given.replaceAll(/[\p{C}<>]/gu, "").trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : "unknown";
}

function text(printed: Buffer): string {
  return printed.toString("latin1").trim();
}

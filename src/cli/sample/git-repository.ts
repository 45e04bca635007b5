/** The bare repository of the sample. Its hook tells millrace of pushes, as a Git host does. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { type GitCall, runGit } from "../../git/git-process.ts";

const LIMITS = { timeoutMs: 20_000, maxOutput: 65_536, maxFileBytes: 64 * 2 ** 20 };

/** It never fails a push. The key goes to curl through a pipe, because arguments are seen by all users of the machine. */
const POST_RECEIVE = `#!/bin/sh
# Tells millrace of a push to main. The address is written at each start of millrace.
[ -s ../hook-address ] && command -v curl >/dev/null || exit 0
while read -r before sha ref; do
  [ "$ref" = refs/heads/main ] || continue
  printf 'Authorization: Bearer %s\\n' "$(cat ../key)" |
    curl --silent --fail --max-time 10 --output /dev/null --header @- --header 'Content-Type: application/json' \\
      --data "{\\"event\\":\\"push\\",\\"ref\\":\\"$ref\\",\\"before\\":\\"$before\\",\\"sha\\":\\"$sha\\",\\"repository\\":\\"$(cat ../address)\\",\\"actor\\":\\"$(id -un)\\"}" \\
      "$(cat ../hook-address)" || echo "millrace does not answer: this push starts no run" >&2
done
exit 0
`;

/**
 * Makes a bare repository at `path` whose only commit, on `main`, has the files below `source`, except for those that
 * `leaves` names. Does nothing when `path` exists: a repository appears there whole. Rejects with `unavailable` when Git
 * fails.
 */
export async function makeSampleRepository(path: string, source: string, leaves: ReadonlySet<string>): Promise<void> {
  const made = await mkdtemp(`${path}.`);
  try {
    const home = join(made, "home");
    const repository = join(made, "repository");
    await mkdir(home);
    await git({ args: ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", repository], home });
    await git({
      args: ["fast-import", "--quiet", "--date-format=now"],
      home,
      repository,
      stdin: await commitOf(source, leaves),
    });
    await mkdir(join(repository, "hooks"));
    const hook = join(repository, "hooks", "post-receive");
    await writeFile(hook, POST_RECEIVE);
    await chmod(hook, 0o755);
    await rename(repository, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function git(call: Omit<GitCall, "timeoutMs" | "maxOutput" | "maxFileBytes">): Promise<void> {
  const answer = await runGit({ ...call, ...LIMITS });
  if (answer.end === "exited" && answer.code === 0) return;
  const why = answer.end === "exited" ? answer.stderr.trim() : answer.end;
  throw new MillraceError("unavailable", `git ${call.args[0]} failed: ${why}`);
}

/** The commit in the format of git-fast-import(1). */
async function commitOf(source: string, leaves: ReadonlySet<string>): Promise<Buffer> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !leaves.has(relative(source, path)))
    .toSorted();
  const parts = ["commit refs/heads/main\ncommitter millrace <millrace@localhost> now\n", ...data("The sample")];
  const files = paths.map(async (path) => [
    `M 100644 inline ${relative(source, path)}\n`,
    ...data(await readFile(path)),
  ]);
  const all = [...parts, ...(await Promise.all(files)).flat()];
  return Buffer.concat(all.map((part) => Buffer.from(part)));
}

function data(content: string | Buffer): (string | Buffer)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, "\n"];
}

/** A bare repository for tests of a server's side of Git: commits are made in it with one process each, without a clone. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The content of a file; null removes it. A `link` is a symbolic link to that path. */
type Content = string | Buffer | null | { readonly link: string } | { readonly program: string };

interface CommitOptions {
  readonly branch?: string;
  readonly message?: string;
  /** The parent; null for none. Absent: the commit at which the branch is. */
  readonly onto?: string | null;
}

export class BareRepository {
  readonly path: string;

  /** `<folder>/<name>.git`, whose server understands filters unless `filters` is false. */
  constructor(folder: string, name: string, { filters = true }: { readonly filters?: boolean } = {}) {
    this.path = join(folder, `${name}.git`);
    execFileSync("git", ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", this.path]);
    appendFileSync(join(this.path, "config"), `[uploadpack]\n\tallowFilter = ${filters}\n`);
  }

  /** Commits these files, and moves the branch there; makes it when it is missing. Answers the id of the commit. */
  commit(files: Readonly<Record<string, Content>>, options: CommitOptions = {}): string {
    const { branch = "main", message = "a change", onto = this.tip(branch) ?? null } = options;
    const changes = Object.entries(files).map(([path, content]) => {
      if (content === null) return [`D ${path}\n`];
      const [mode, text] =
        typeof content === "string" || Buffer.isBuffer(content)
          ? ["100644", content]
          : "link" in content
            ? ["120000", content.link]
            : ["100755", content.program];
      return [`M ${mode} inline ${path}\n`, data(Buffer.from(text))];
    });
    const parts = [
      `commit refs/heads/${branch}\nmark :1\ncommitter tester <tester@example.org> ${Math.floor(Date.now() / 1_000)} +0000\n`,
      data(Buffer.from(message)),
      ...(onto === null ? [] : [`from ${onto}\n`]),
      ...changes.flat(),
      "\nget-mark :1\n",
    ];
    const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return this.git(["fast-import", "--quiet", "--force", "--date-format=raw"], input);
  }

  /** The commit at which a branch is. */
  tip(branch = "main"): string | undefined {
    try {
      return this.git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
    } catch {
      return undefined;
    }
  }

  git(args: readonly string[], input: string | Buffer = ""): string {
    return execFileSync("git", ["-C", this.path, ...args], { input, stdio: "pipe" })
      .toString()
      .trim();
  }

  /** Installs a hook, a shell script. */
  hook(name: string, script: string): void {
    mkdirSync(join(this.path, "hooks"), { recursive: true });
    const path = join(this.path, "hooks", name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  configure(section: string, key: string, value: string): void {
    appendFileSync(join(this.path, "config"), `[${section}]\n\t${key} = ${value}\n`);
  }
}

function data(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from("\n")]);
}

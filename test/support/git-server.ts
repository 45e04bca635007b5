/** Git repositories for tests: in a folder, and served over HTTP behind a password as real hosts serve them. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serveRepositories } from "../../src/cli/sample/git-backend.ts";

const IDENTITY = ["-c", "user.name=tester", "-c", "user.email=tester@example.org", "-c", "init.defaultBranch=main"];

export function git(cwd: string, ...args: string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: "file:http",
    LC_ALL: "C",
  };
  return execFileSync("git", [...IDENTITY, ...args], { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
}

/** A bare repository `<folder>/<name>.git` and a clone of it to commit in. */
export class TestRepository {
  readonly path: string;
  readonly #clone: string;

  constructor(folder: string, name: string) {
    this.path = join(folder, `${name}.git`);
    this.#clone = join(folder, `${name}.clone`);
    mkdirSync(folder, { recursive: true });
    git(folder, "init", "--quiet", "--bare", this.path);
    git(folder, "clone", "--quiet", this.path, this.#clone);
  }

  get url(): string {
    return `file://${this.path}`;
  }

  /**
   * Commits a file on a branch and pushes the branch; creates the branch when it is missing. Answers the commit's hash.
   */
  commit(file: string, content: string | Buffer, branch = "main"): string {
    this.#on(branch);
    writeFileSync(join(this.#clone, file), content);
    git(this.#clone, "add", "--all");
    return this.#commitAll(file, branch);
  }

  /** Commits another repository as a submodule. Answers the commit's hash. */
  addSubmodule(url: string, path: string, branch = "main"): string {
    this.#on(branch);
    git(this.#clone, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, path);
    return this.#commitAll(`submodule ${path}`, branch);
  }

  /** Commits a changed address of a submodule. Answers the commit's hash. */
  moveSubmodule(path: string, url: string, branch = "main"): string {
    this.#on(branch);
    git(this.#clone, "config", "--file", ".gitmodules", `submodule.${path}.url`, url);
    git(this.#clone, "add", ".gitmodules");
    return this.#commitAll(`move ${path}`, branch);
  }

  /** Runs any other git command in the clone. */
  git(...args: string[]): string {
    return git(this.#clone, ...args);
  }

  #commitAll(message: string, branch: string): string {
    git(this.#clone, "commit", "--quiet", "--message", message);
    git(this.#clone, "push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
    return git(this.#clone, "rev-parse", "HEAD");
  }

  #on(branch: string): void {
    const current = git(this.#clone, "symbolic-ref", "--short", "HEAD");
    if (current !== branch) git(this.#clone, "checkout", "--quiet", "-B", branch);
  }
}

/** `git http-backend` over a folder of bare repositories, behind one user name and password. */
export class GitHttpServer {
  readonly #server: Server;
  /** The `authorization` header of each request, in the order of the requests. */
  readonly authorizations: (string | undefined)[] = [];
  /** Called for each request. When it answers true, it has sent the response itself. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;

  /** Whether a password besides the expected one is good. */
  accepts: (user: string, password: string, isPush: boolean) => boolean = () => false;

  /** Who may call; null for everyone, who may read only. */
  expected: { readonly user: string; readonly password: string } | null;

  constructor(folder: string, expected: { readonly user: string; readonly password: string } | null) {
    this.expected = expected;
    this.#server = createServer((request, response) => {
      const { expected: given } = this;
      const expectedHeader = given && `Basic ${Buffer.from(`${given.user}:${given.password}`).toString("base64")}`;
      const { authorization } = request.headers;
      this.authorizations.push(authorization);
      if (this.intercept(request, response)) return;
      // Who is authenticated may push.
      const user = authorization === undefined ? undefined : given?.user;
      if (expectedHeader === null || authorization === expectedHeader) {
        return serveRepositories(folder, request, response, user);
      }
      const [name = "", password = ""] = Buffer.from((authorization ?? "").split(" ")[1] ?? "", "base64")
        .toString()
        .split(":");
      if (this.accepts(name, password, request.url?.includes("git-receive-pack") === true)) {
        return serveRepositories(folder, request, response, name);
      }
      response.writeHead(401, { "www-authenticate": 'Basic realm="tests"' }).end("no");
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

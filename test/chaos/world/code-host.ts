/**
 * The host of a repository as the nodes see it: a Git server, and the host's API that takes commit statuses. It is never taken
 * away, so what it has been told is evidence.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BareRepository } from "../../support/bare-repository.ts";
import { GitHttpServer } from "../../support/git-server.ts";
import { ProviderServer, TOKEN } from "../../support/provider-servers.ts";
import type { SetStatus } from "../check/evidence.ts";

const NAME = "team/app";
const USER = { user: "ann", password: randomBytes(12).toString("hex") };
const DEFINITION_PATH = ".millrace/pipeline.yaml";
/** How the host writes the states. */
const STATES: Readonly<Record<string, SetStatus["state"]>> = {
  pending: "pending",
  running: "running",
  success: "success",
  failed: "failure",
  canceled: "cancelled",
};

export class CodeHost {
  readonly kind = "gitlab";
  /** The secrets by which nodes reach the repository and the API. */
  readonly login = `${USER.user}:${USER.password}`;
  readonly token = TOKEN;
  readonly #repository: BareRepository;
  readonly #server: GitHttpServer;
  readonly #api: ProviderServer;

  private constructor(repository: BareRepository, server: GitHttpServer, api: ProviderServer) {
    this.#repository = repository;
    this.#server = server;
    this.#api = api;
  }

  /** `folder`: of the installation, which removes it. */
  static async start(folder: string): Promise<CodeHost> {
    const repositories = join(folder, "repositories");
    await mkdir(repositories, { recursive: true });
    const repository = new BareRepository(repositories, NAME);
    const api = await new ProviderServer("gitlab").start();
    const server = new GitHttpServer(repositories, USER);
    server.intercept = (request, response) => {
      if (!api.isMine(request)) return false;
      void api.answer(request, response);
      return true;
    };
    return new CodeHost(repository, await server.start(), api);
  }

  get name(): string {
    return NAME;
  }

  get url(): string {
    return `${this.#server.origin}/${NAME}.git`;
  }

  /** Commits the definition to the default branch, as a push does. Answers the commits before and after. */
  push(definition: object, message: string): { readonly before: string; readonly after: string } {
    const before = this.#repository.tip() ?? "0".repeat(40);
    const after = this.#repository.commit({ [DEFINITION_PATH]: JSON.stringify(definition) }, { message });
    return { before, after };
  }

  /** All statuses that the host has taken, in their order. */
  get statuses(): readonly SetStatus[] {
    return this.#api.statuses.map(({ commit, name, state }) => ({ commit, name, state: STATES[state]! }));
  }

  /** The state that the host shows of a commit; undefined for none. */
  stateOf(commit: string): SetStatus["state"] | undefined {
    return this.statuses.findLast((status) => status.commit === commit)?.state;
  }

  async close(): Promise<void> {
    await Promise.all([this.#server.stop(), this.#api.stop()]);
  }
}

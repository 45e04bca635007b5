/**
 * The API as the commands use it that start an installation, and the tests: the calls of the client in clients/typescript
 * by name, with the errors of this program. An installation that such a command has started either answers at once or
 * not at all, so no call is repeated.
 */
import { WebSocket } from "ws";
import {
  ApiError,
  type CallOf,
  ClientError,
  LogStream,
  type LogStreamOptions,
  MillraceClient,
  type Operation,
  type Schemas,
} from "../../clients/typescript/src/index.ts";
import { ERROR_TABLE, type ErrorReason, MillraceError } from "../domain/errors.ts";
import { type PluginOwner, uploadPlugin } from "./upload-plugin.ts";
import { openSocket } from "./open-socket.ts";

const REQUEST_TIMEOUT_MS = 15_000;

export interface ApiClientOptions {
  /** Without a trailing slash, for example `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** Called before each call, so that short-lived tokens can be used. */
  readonly token: () => Promise<string>;
}

/** The body of a dry run. */
type PlanRequest = NonNullable<CallOf<Operation<"post", "/pipelines/{pipelineId}/plan">>["body"]>;

type HookRequest = NonNullable<CallOf<Operation<"post", "/projects/{projectId}/hooks">>["body"]>;

const DEFAULT_PROJECT = { projectId: "default" };

/** Where the definition of a pipeline is. */
export interface PlaceInGit {
  readonly repoUrl: string;
  /** The name of a secret. */
  readonly repoCredential: string;
}

/** Every call rejects with the MillraceError that the server answered, or with `unavailable` when it cannot be reached. */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #client: MillraceClient;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    const { baseUrl, token } = options;
    this.#client = new MillraceClient({ baseUrl, credentials: { token }, retries: 0, timeoutMs: REQUEST_TIMEOUT_MS });
  }

  createPipeline(name: string, description: string, place: PlaceInGit | null = null): Promise<Schemas["Pipeline"]> {
    return translated(this.#client.post("/pipelines", { body: { name, description, ...place } }));
  }

  async moveRepository(pipelineId: string, repoUrl: string): Promise<void> {
    await translated(this.#client.put("/pipelines/{pipelineId}", { path: { pipelineId }, body: { repoUrl } }));
  }

  /** Stores a new secret of the project `default`. Rejects with `already_exists`. */
  async createSecret(name: string, value: string): Promise<void> {
    const call = { path: DEFAULT_PROJECT, body: { name, value } };
    await translated(this.#client.post("/projects/{projectId}/secrets", call));
  }

  /** The hook of that name in the project `default`. */
  async findHook(name: string): Promise<Schemas["Hook"] | undefined> {
    const { list } = await translated(this.#client.get("/projects/{projectId}/hooks", { path: DEFAULT_PROJECT }));
    return list.find((hook) => hook.name === name);
  }

  async createHook(body: HookRequest): Promise<void> {
    await translated(this.#client.post("/projects/{projectId}/hooks", { path: DEFAULT_PROJECT, body }));
  }

  /** The pipeline of that name in the project `default`. */
  async findPipeline(name: string): Promise<Schemas["Pipeline"] | undefined> {
    const query = { projectId: "default", name, pageSize: 100, sort: "name" } as const;
    const { list } = await translated(this.#client.get("/pipelines", { query }));
    return list.find((pipeline) => pipeline.name === name);
  }

  async hasPipelines(): Promise<boolean> {
    const { total } = await translated(this.#client.get("/pipelines", { query: { pageSize: 1 } }));
    return total > 0;
  }

  /** `spec` is the structured definition. */
  async saveSpec(pipelineId: string, spec: unknown): Promise<void> {
    const body = { spec: spec as Readonly<Record<string, unknown>>, format: "yaml" } as const;
    await translated(this.#client.post("/pipelines/{pipelineId}/spec/save", { path: { pipelineId }, body }));
  }

  /** Without `spec` in the request, the definition of the pipeline's head is planned. */
  plan(pipelineId: string, request: PlanRequest): Promise<Schemas["Plan"]> {
    return translated(this.#client.post("/pipelines/{pipelineId}/plan", { path: { pipelineId }, body: request }));
  }

  trigger(pipelineId: string, variables: Readonly<Record<string, string>>): Promise<{ readonly runId: string }> {
    const call = { path: { pipelineId }, body: { variables } };
    return translated(this.#client.post("/pipelines/{pipelineId}/trigger", call));
  }

  run(runId: string): Promise<Schemas["RunDetail"]> {
    return translated(this.#client.get("/pipelines/runs/{runId}", { path: { runId } }));
  }

  async stop(pipelineId: string, runId: string, reason: string): Promise<void> {
    const call = { path: { pipelineId, runId }, body: { reason } };
    await translated(this.#client.post("/pipelines/{pipelineId}/runs/{runId}/stop", call));
  }

  async approve(pipelineId: string, runId: string, approvalId: string): Promise<void> {
    const path = "/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/approve";
    await translated(this.#client.post(path, { path: { pipelineId, runId, approvalId }, body: {} }));
  }

  async onlineAgents(): Promise<readonly Schemas["Agent"][]> {
    const { list } = await translated(this.#client.get("/agents"));
    return list.filter(({ online }) => online === true);
  }

  /**
   * Pushes a package to the registry, for the owner that `findOwner` answers; undefined for the installation. `sha256` is that
   * of the package, in hexadecimal digits.
   */
  async pushPlugin(
    packed: Uint8Array,
    sha256: string,
    findOwner: (client: MillraceClient) => Promise<PluginOwner | undefined>,
  ): Promise<Schemas["PluginRelease"]> {
    return translated(uploadPlugin(this.#client, packed, sha256, await translated(findOwner(this.#client))));
  }

  /** Logs of this server. The caller closes the stream. */
  logs(options: Omit<LogStreamOptions, "openSocket"> = {}): LogStream {
    return new LogStream(this.#client, { ...options, openSocket });
  }

  /** Resolves with an open connection; rejects with `unavailable`. */
  async connect(): Promise<WebSocket> {
    const token = await this.#options.token();
    const url = `${this.#options.baseUrl.replace(/^http/, "ws")}/api/v1/ws`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    return new Promise((resolve, reject) => {
      socket.once("open", () => {
        socket.off("error", refuse);
        resolve(socket);
      });
      const refuse = (error: Error) =>
        reject(new MillraceError("unavailable", `${new URL(url).host} does not answer`, { cause: error }));
      socket.once("error", refuse);
    });
  }
}

/** The answer of a call, or its error as a MillraceError. */
async function translated<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (!(error instanceof ApiError)) throw new MillraceError("unavailable", error.message, { cause: error });
    // A newer server may know reasons that this program does not.
    const isKnown = Object.hasOwn(ERROR_TABLE, error.reason);
    throw new MillraceError(isKnown ? (error.reason as ErrorReason) : "internal", error.message, {
      problems: error.problems,
    });
  }
}

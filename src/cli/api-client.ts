/** A client of the HTTP API and the WebSocket endpoint. It uses only what is public. */
import { WebSocket } from "ws";
import type { AgentView } from "../app/agents/inventory.ts";
import type { PlanView } from "../app/triggering/plan-view.ts";
import type { PluginReleaseView } from "../app/catalogue/plugins.ts";
import type { RunDetail } from "../app/runs/run-view.ts";
import { ERROR_TABLE, type ErrorReason, MillraceError, type Problem } from "../domain/errors.ts";

const REQUEST_TIMEOUT_MS = 15_000;
/** The time in which a server accepts a body. */
const UPLOAD_TIMEOUT_MS = 60_000;

export interface ApiClientOptions {
  /** Without a trailing slash, for example `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** Called before each call, so that short-lived tokens can be used. */
  readonly token: () => Promise<string>;
}

interface RequestParts {
  readonly type: string;
  readonly body: string | Blob | null;
  readonly timeoutMs: number;
}

interface Envelope {
  readonly detail?: unknown;
  readonly errMsg?: string;
  readonly reason?: string;
  readonly errors?: readonly Problem[];
}

export interface PipelineRecord {
  readonly pipelineId: string;
  readonly name: string;
  /** Empty before the first definition is saved. */
  readonly headCommitSha: string;
  readonly lastRun: { readonly runId: string; readonly status: RunDetail["status"] } | null;
}

/** Every call rejects with the MillraceError that the server answered, or with `unavailable` when it cannot be reached. */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  createPipeline(name: string, description: string): Promise<PipelineRecord> {
    return this.#call("POST", "/pipelines", { name, description });
  }

  /** The pipeline of that name in the project `default`. */
  async findPipeline(name: string): Promise<PipelineRecord | undefined> {
    const query = new URLSearchParams({ projectId: "default", name, pageSize: "100", sort: "name" });
    const { list } = await this.#call<{ list: readonly PipelineRecord[] }>("GET", `/pipelines?${query.toString()}`);
    return list.find((pipeline) => pipeline.name === name);
  }

  async hasPipelines(): Promise<boolean> {
    const { total } = await this.#call<{ total: number }>("GET", "/pipelines?pageSize=1");
    return total > 0;
  }

  /** `spec` is the structured definition. */
  async saveSpec(pipelineId: string, spec: unknown): Promise<void> {
    await this.#call("POST", `/pipelines/${pipelineId}/spec/save`, { spec, format: "yaml" });
  }

  /** `request` is the body of the call; without `spec`, the definition of the pipeline's head is planned. */
  plan(pipelineId: string, request: object): Promise<PlanView> {
    return this.#call("POST", `/pipelines/${encodeURIComponent(pipelineId)}/plan`, request);
  }

  trigger(pipelineId: string, variables: Readonly<Record<string, string>>): Promise<{ readonly runId: string }> {
    return this.#call("POST", `/pipelines/${pipelineId}/trigger`, { variables });
  }

  run(runId: string): Promise<RunDetail> {
    return this.#call("GET", `/pipelines/runs/${runId}`);
  }

  async stop(pipelineId: string, runId: string, reason: string): Promise<void> {
    await this.#call("POST", `/pipelines/${pipelineId}/runs/${runId}/stop`, { reason });
  }

  async approve(pipelineId: string, runId: string, approvalId: string): Promise<void> {
    await this.#call("POST", `/pipelines/${pipelineId}/runs/${runId}/approvals/${approvalId}/approve`, {});
  }

  async onlineAgents(): Promise<readonly AgentView[]> {
    const { list } = await this.#call<{ list: readonly AgentView[] }>("GET", "/agents");
    return list.filter(({ online }) => online === true);
  }

  /** Pushes a package to the registry. `sha256` is that of the package, in hexadecimal digits. */
  pushPlugin(packed: Uint8Array, sha256: string): Promise<PluginReleaseView> {
    const body = new Blob([new Uint8Array(packed)]);
    return this.#send("POST", `/plugins?sha256=${sha256}`, {
      type: "application/gzip",
      body,
      timeoutMs: UPLOAD_TIMEOUT_MS,
    });
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
      const refuse = (error: Error) => reject(unreachable(url, error));
      socket.once("error", refuse);
    });
  }

  #call<T = void>(method: string, path: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? null : JSON.stringify(body);
    return this.#send(method, path, { type: "application/json", body: sent, timeoutMs: REQUEST_TIMEOUT_MS });
  }

  async #send<T>(method: string, path: string, { type, body, timeoutMs }: RequestParts): Promise<T> {
    const url = `${this.#options.baseUrl}/api/v1${path}`;
    const headers = { authorization: `Bearer ${await this.#options.token()}`, "content-type": type };
    let response: Response;
    let envelope: Envelope;
    try {
      response = await fetch(url, {
        method,
        headers,
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      envelope = (await response.json()) as Envelope;
    } catch (error) {
      throw unreachable(url, error);
    }
    if (!response.ok) throw answeredError(url, response.status, envelope);
    return envelope.detail as T;
  }
}

function unreachable(url: string, cause: unknown): MillraceError {
  return new MillraceError("unavailable", `${new URL(url).host} does not answer`, { cause });
}

function answeredError(url: string, status: number, { errMsg, reason, errors }: Envelope): MillraceError {
  const known = reason !== undefined && Object.hasOwn(ERROR_TABLE, reason);
  return new MillraceError(
    known ? (reason as ErrorReason) : "internal",
    errMsg ?? `${new URL(url).pathname} answered HTTP ${status}`,
    { problems: errors ?? [] },
  );
}

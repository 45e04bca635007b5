/**
 * An embedded installation in real processes, as a single operator runs it: one node, its agents, and calls of its API.
 */
import { join } from "node:path";
import { ApiClient } from "../../src/cli/api-client.ts";
import { freePort } from "./ports.ts";
import { type ProcessWorld, type ServeNode, type StartedProcess } from "./processes.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";

export interface ApiAnswer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  readonly body: any;
}

export class EmbeddedInstallation {
  readonly adminToken = ADMIN;
  readonly #world: ProcessWorld;
  readonly #grpc: string;
  #node: ServeNode | undefined;

  private constructor(world: ProcessWorld, grpc: string) {
    this.#world = world;
    this.#grpc = grpc;
  }

  /**
   * Chooses the gateway's port once, so that agents reach the gateway at the same address after each start of the node.
   */
  static async create(world: ProcessWorld): Promise<EmbeddedInstallation> {
    return new EmbeddedInstallation(world, `127.0.0.1:${await freePort()}`);
  }

  get grpcPort(): number {
    return Number(this.#grpc.split(":").at(-1));
  }

  get node(): ServeNode {
    return this.#node!;
  }

  /** `host:port` of the gateway. */
  get grpc(): string {
    return this.#grpc;
  }

  get api(): ApiClient {
    return new ApiClient({ baseUrl: `http://${this.node.http}`, token: () => Promise.resolve(ADMIN) });
  }

  /** Starts the node. The previous node must have ended. */
  async serve(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<ServeNode> {
    this.#node = await this.#world.serve("edge,gateway,worker", {
      env: {
        MILLRACE_GRPC_ADDRESS: this.#grpc,
        MILLRACE_DATA_DIR: dataDir,
        MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        ...env,
      },
    });
    return this.#node;
  }

  /**
   * Starts an agent with four slots and the label `name=<name>`. `gateway` replaces the node's own address, as a proxy
   * does.
   */
  async agent(name: string, gateway = this.#grpc, env: Readonly<Record<string, string>> = {}): Promise<StartedProcess> {
    const agent = this.#world.agent(gateway, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_NAME: name,
        MILLRACE_AGENT_LABELS: `name=${name}`,
        MILLRACE_AGENT_SLOTS: "4",
        MILLRACE_DATA_DIR: join(this.#world.folder, `agent-${name}`),
        LOG_LEVEL: "info",
        ...env,
      },
    });
    await agent.prints("welcomes this agent");
    return agent;
  }

  /** Calls the API and answers refusals too, for tests that read them. `path` is below `/api/v1`. */
  async call(method: string, path: string, body?: unknown, token: string = ADMIN): Promise<ApiAnswer> {
    const response = await fetch(`http://${this.node.http}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Creates a pipeline with these jobs and answers its id. */
  async pipeline(name: string, jobs: readonly object[]): Promise<string> {
    const { pipelineId } = await this.api.createPipeline(name, "");
    await this.api.saveSpec(pipelineId, { jobs });
    return pipelineId;
  }
}

/** A node in a process of its own, for foreign clients. It can hold a step for an agent that exists only as a token. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { ApiClient } from "../../src/cli/api-client.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { goTool } from "./go-tools.ts";

const ADMIN_TOKEN = `mrt_${randomUUID()}${randomUUID()}`;
const REGISTRATION_TOKEN = `mrr_${randomUUID()}${randomUUID()}`;
const SPEC = { jobs: [{ name: "build", steps: [{ name: "compile", uses: "shell", args: { script: "true" } }] }] };

export interface Outcome {
  /** The gRPC status; 0 for a response. */
  readonly code: number;
  /** The response, or the status with its details. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever is answered
  readonly body: any;
}

export class Installation {
  readonly admin = ADMIN_TOKEN;
  readonly registration = REGISTRATION_TOKEN;
  readonly node: ServeNode;
  readonly #world: ProcessWorld;
  readonly #grpcurl: string;

  static async start(): Promise<Installation> {
    const grpcurl = await goTool("grpcurl");
    const world = await ProcessWorld.create();
    const env = { MILLRACE_BOOTSTRAP_TOKEN: ADMIN_TOKEN, MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN };
    return new Installation(world, await world.serve("edge,gateway,worker", { env }), grpcurl);
  }

  private constructor(world: ProcessWorld, node: ServeNode, grpcurl: string) {
    this.#world = world;
    this.node = node;
    this.#grpcurl = grpcurl;
  }

  get address(): string {
    return this.node.grpc!;
  }

  end(): Promise<void> {
    return this.#world.end();
  }

  /** Runs grpcurl for something else than a call, such as `list`, and resolves with its output. */
  ask(...args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(this.#grpcurl, ["-plaintext", this.address, ...args], (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(error);
      });
    });
  }

  /** Makes one call by grpcurl, which learns the contract by reflection. Several messages make a stream. */
  call(operation: string, messages: object | readonly object[], token: string | null = this.admin): Promise<Outcome> {
    const bearer = token === null ? [] : ["-H", `authorization: Bearer ${token}`];
    const sent = [messages].flat().map((message) => JSON.stringify(message));
    const args = ["-plaintext", "-format-error", "-max-time", "10", ...bearer, "-d", "@", this.address, operation];
    return new Promise((resolve, reject) => {
      const child = execFile(this.#grpcurl, args, (error, stdout, stderr) => {
        if (error === null) return resolve({ code: 0, body: readAll(stdout) });
        // The exit status of grpcurl is 64 plus the gRPC status.
        const code = Number(error.code) - 64;
        if (!(code > 0)) return reject(new Error(`${operation}: ${stderr}`));
        resolve({ code, body: JSON.parse(stderr.slice(stderr.indexOf("{"))) });
      });
      child.stdin!.end(sent.join("\n"));
    });
  }

  /** Triggers a run, registers an agent of that name, and fetches the step for it. */
  async holdStep(name: string) {
    const registered = await this.call(
      "agent.v1.Agent/Register",
      { name, slots: 1, labels: {}, version: "1" },
      this.registration,
    );
    const token = registered.body.agentToken as string;
    const api = new ApiClient({ baseUrl: `http://${this.node.http}`, token: () => Promise.resolve(this.admin) });
    const { pipelineId } = await api.createPipeline(name, "");
    await api.saveSpec(pipelineId, SPEC);
    await api.trigger(pipelineId, {});
    const fetch = { boot_id: "boot-1", request_id: randomUUID(), free_slots: 1, wait_ms: 9_000 };
    const { body } = await this.call("agent.v1.Agent/FetchStepRun", fetch, token);
    const dispatch = body.dispatches[0] as Readonly<Record<"runId" | "jobId" | "stepRunId" | "token", string>>;
    return { agentToken: token, pipelineId, dispatch };
  }
}

/** The one JSON value of a text, or a list when several values follow each other. */
function readAll(text: string): unknown {
  const values = text
    .split(/\n(?=\{)/)
    .filter((part) => part.trim() !== "")
    .map((part) => JSON.parse(part) as unknown);
  return values.length === 1 ? values[0] : values;
}

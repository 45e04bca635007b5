/**
 * The installation that is attacked: the compiled program on loopback with its private Redis and its SQLite store, one
 * agent in a process of its own, users of each role, and a pipeline of another user whom the attacks must not hurt.
 */
import { readFile } from "node:fs/promises";
import { Api } from "../../bench/millrace/api.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { until } from "../support/until.ts";
import type { Addresses } from "./attack.ts";
import type { ProbedCall } from "./probe.ts";

const OWNER = "an-administrator-token-for-the-attacks";
const REGISTRATION = "a-registration-token-for-the-attacks";
const SLOTS = 8;
const STOP_MS = 15_000;

const GOOD_DEFINITION = {
  jobs: [{ name: "job", steps: [{ name: "step", uses: "shell", args: { script: "true" } }] }],
};

export class Installation {
  readonly addresses: Addresses;
  /** A trigger of the pipeline of the user whom the attacks must not hurt. */
  readonly trigger: ProbedCall;
  readonly #world: ProcessWorld;
  readonly #node: ServeNode;

  private constructor(world: ProcessWorld, node: ServeNode, addresses: Addresses, trigger: ProbedCall) {
    this.#world = world;
    this.#node = node;
    this.addresses = addresses;
    this.trigger = trigger;
  }

  static async start(): Promise<Installation> {
    const world = await ProcessWorld.create();
    try {
      const node = await world.serve("edge,gateway,worker", {
        env: { MILLRACE_BOOTSTRAP_TOKEN: OWNER, MILLRACE_REGISTRATION_TOKEN: REGISTRATION, LOG_LEVEL: "info" },
      });
      const url = `http://${node.http!}`;
      const api = new Api(url, OWNER);
      world.agent(node.grpc!, {
        env: { MILLRACE_REGISTRATION_TOKEN: REGISTRATION, MILLRACE_AGENT_SLOTS: String(SLOTS) },
      });
      await until("the agent is online", async () => {
        const { list } = await api.call<{ list: readonly { online: boolean }[] }>("GET", "/agents");
        return list.some(({ online }) => online);
      });
      const tokenOf = async (name: string, role: string) => {
        const { userId } = await api.call<{ userId: string }>("POST", "/users", { name, role });
        const { token } = await api.call<{ token: string }>("POST", `/users/${userId}/tokens`, { name: "attack" });
        return token;
      };
      const tokens = {
        viewer: await tokenOf("viewing-attacker", "viewer"),
        operator: await tokenOf("operating-attacker", "operator"),
        maintainer: await tokenOf("writing-attacker", "maintainer"),
      };
      const { pipelineId } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name: "good work" });
      await api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: GOOD_DEFINITION });
      const trigger: ProbedCall = {
        url: `${url}/api/v1/pipelines/${pipelineId}/trigger`,
        method: "POST",
        token: await tokenOf("good-user", "operator"),
      };
      api.close();
      return new Installation(
        world,
        node,
        { url, gateway: node.grpc!, tokens, registrationToken: REGISTRATION },
        trigger,
      );
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  get health(): ProbedCall {
    return { url: `${this.addresses.url}/healthz`, method: "GET" };
  }

  /** Whether the process of the control plane runs. */
  get alive(): boolean {
    return this.#node.process.running;
  }

  /** Bytes of resident memory of the control plane; 0 when its process has ended. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.#node.pid}/status`, "latin1").catch(() => "");
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  }

  /** How often a lease of a shard ran out since the start, by the log. */
  get lostLeases(): number {
    return this.#node.process.stderr.split('"msg":"the lease of a shard ran out"').length - 1;
  }

  async stop(): Promise<void> {
    this.#node.kill("SIGTERM");
    await Promise.race([this.#node.exited, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    await this.#world.end();
  }
}

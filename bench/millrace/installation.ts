/**
 * Millrace as an operator runs it on one machine: the compiled node with its private Redis, and an agent in its own
 * process.
 */
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../test/support/ports.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../../test/support/processes.ts";
import type { StepCounts } from "../measure/step-counts.ts";
import { type MeasuredProcess, STEPS_AT_ONCE } from "../measure/workloads.ts";
import { REGISTRATION, startAgent } from "../measure/agent.ts";
import { AgentLog, linesOf } from "./agent-log.ts";
import { Api } from "./api.ts";

export const TOKEN = "an-administrator-token-for-the-benchmark";

const STOP_MS = 15_000;
const SHOWN_LOG_CHARS = 2_000;

export class Installation {
  readonly #world: ProcessWorld;
  readonly #env: Readonly<Record<string, string>>;
  readonly #program: string;
  readonly #agent: StartedProcess;
  readonly #agentLog: AgentLog;
  #node: ServeNode;
  #api: Api;

  private constructor(
    world: ProcessWorld,
    env: Readonly<Record<string, string>>,
    program: string,
    node: ServeNode,
    agent: StartedProcess,
  ) {
    this.#world = world;
    this.#env = env;
    this.#program = program;
    this.#node = node;
    this.#agent = agent;
    this.#agentLog = new AgentLog(agent);
    this.#api = apiOf(node);
  }

  /**
   * Starts an installation on `dataDir`, which may hold data of an earlier one. Resolves when the agent is connected.
   * The agent takes as many jobs at a time as the worker of any other system. `env` is added to the node's environment.
   * `program` is the program `node` of both. `sources` is true for a node that runs from the sources.
   */
  static async start(
    dataDir: string,
    env: Readonly<Record<string, string>> = {},
    program: string = process.execPath,
    { sources = false } = {},
  ): Promise<Installation> {
    const world = await ProcessWorld.create();
    try {
      const nodeEnv = {
        MILLRACE_DATA_DIR: dataDir,
        // A fixed port, so that the agent finds the next node after this one was killed.
        MILLRACE_GRPC_ADDRESS: `127.0.0.1:${await freePort()}`,
        MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        ...env,
      };
      const node = await serve(world, nodeEnv, program, sources);
      const agent = await startAgent(world, node.grpc!, STEPS_AT_ONCE, program);
      return new Installation(world, nodeEnv, program, node, agent);
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  /** A client of the current node. */
  get api(): Api {
    return this.#api;
  }

  /** `host:port`. */
  get http(): string {
    return this.#node.http!;
  }

  get nodePid(): number {
    return this.#node.pid;
  }

  get redisPid(): number {
    return linesOf(this.#node.process.stderr).find(({ msg }) => msg === "embedded Redis runs")!.pid;
  }

  get processes(): readonly MeasuredProcess[] {
    return [
      { name: "control plane", pid: this.nodePid },
      { name: "redis", pid: this.redisPid },
      { name: "agent", pid: this.#agent.pid, runsSteps: true },
    ];
  }

  /** Kills the node with SIGKILL and starts another node on its data. Resolves when the new node is ready. */
  async replaceNode(): Promise<void> {
    this.#api.close();
    this.#node.kill("SIGKILL");
    await this.#node.exited;
    this.#node = await serve(this.#world, this.#env, this.#program);
    this.#api = apiOf(this.#node);
  }

  /** The steps that the agent has started since the last call, by the agent's log. */
  takeStepCounts(): StepCounts {
    return this.#agentLog.takeStepCounts();
  }

  /** The last lines of the logs, for the message of a fault. */
  logTails(): string {
    const tail = (log: string) => log.slice(-SHOWN_LOG_CHARS);
    return `the control plane's log ends:\n${tail(this.#node.process.stderr)}\nthe agent's:\n${tail(this.#agent.stderr)}`;
  }

  signalNode(signal: NodeJS.Signals): void {
    this.#node.kill(signal);
  }

  /** Stops all processes. The data stay. Idempotent. */
  async stop(): Promise<void> {
    this.#api.close();
    // The node must end its Redis: the world does not find it, because its socket is not in the world's folder.
    this.#node.kill("SIGTERM");
    await Promise.race([this.#node.exited, pause(STOP_MS, undefined, { ref: false })]);
    await this.#world.end();
  }
}

function serve(
  world: ProcessWorld,
  env: Readonly<Record<string, string>>,
  node: string,
  sources = false,
): Promise<ServeNode> {
  return world.serve("edge,gateway,worker", { env, node, ...(sources ? { program: "src/main.ts" } : {}) });
}

function apiOf(node: ServeNode): Api {
  return new Api(`http://${node.http}`, TOKEN);
}

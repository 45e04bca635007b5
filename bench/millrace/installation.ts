/** Millrace as an operator runs it on one machine: the compiled node with its private Redis, and an agent of its own. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../test/support/ports.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../../test/support/processes.ts";
import type { StepCounts } from "../measure/step-counts.ts";
import { type MeasuredProcess, STEPS_AT_ONCE } from "../measure/workloads.ts";
import { Api } from "./api.ts";

export const TOKEN = "an-administrator-token-for-the-benchmark";
const REGISTRATION = "a-registration-token-for-the-benchmark-alone";

const STOP_MS = 15_000;
const SHOWN_LOG_CHARS = 2_000;

/** A line of a log, as far as it is looked into. */
interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly stepRunId: string;
}

export class Installation {
  readonly #world: ProcessWorld;
  readonly #env: Readonly<Record<string, string>>;
  readonly #agent: StartedProcess;
  #node: ServeNode;
  #api: Api;
  #agentLogRead = 0;

  private constructor(
    world: ProcessWorld,
    env: Readonly<Record<string, string>>,
    node: ServeNode,
    agent: StartedProcess,
  ) {
    this.#world = world;
    this.#env = env;
    this.#node = node;
    this.#agent = agent;
    this.#api = apiOf(node);
  }

  /**
   * Starts on `dataDir`, which may hold the data of an earlier one; resolves when the agent is connected. The agent takes
   * as many jobs at a time as any system's. `env`: of the node.
   */
  static async start(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<Installation> {
    const world = await ProcessWorld.create();
    try {
      const nodeEnv = {
        MILLRACE_DATA_DIR: dataDir,
        // Where the agent finds the next node, after this one was killed.
        MILLRACE_GRPC_ADDRESS: `127.0.0.1:${await freePort()}`,
        MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        ...env,
      };
      const node = await serve(world, nodeEnv);
      const agent = world.agent(node.grpc!, {
        env: {
          MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
          MILLRACE_AGENT_SLOTS: String(STEPS_AT_ONCE),
          MILLRACE_DATA_DIR: join(world.folder, "agent"),
          LOG_LEVEL: "info",
        },
      });
      await agent.prints('"msg":"ready"');
      return new Installation(world, nodeEnv, node, agent);
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  /** Of the node that runs now. */
  get api(): Api {
    return this.#api;
  }

  /** `host:port`. */
  get http(): string {
    return this.#node.http!;
  }

  get planePid(): number {
    return this.#node.pid;
  }

  get redisPid(): number {
    return linesOf(this.#node.process.stderr).find(({ msg }) => msg === "embedded Redis runs")!.pid;
  }

  get processes(): readonly MeasuredProcess[] {
    return [
      { name: "control plane", pid: this.planePid },
      { name: "redis", pid: this.redisPid },
      { name: "agent", pid: this.#agent.pid, runsSteps: true },
    ];
  }

  /** SIGKILL to the node, and another one on its data; resolves when that is ready. */
  async replaceNode(): Promise<void> {
    this.#api.close();
    this.#node.kill("SIGKILL");
    await this.#node.exited;
    this.#node = await serve(this.#world, this.#env);
    this.#api = apiOf(this.#node);
  }

  /** What the agent has begun since the last call, by its own log. */
  takeStepCounts(): StepCounts {
    const log = this.#agent.stderr;
    const end = log.lastIndexOf("\n") + 1;
    const counts = new Map<string, number>();
    for (const { msg, stepRunId } of linesOf(log.slice(this.#agentLogRead, end))) {
      if (msg === "a step run begins") counts.set(stepRunId, (counts.get(stepRunId) ?? 0) + 1);
    }
    this.#agentLogRead = end;
    return counts;
  }

  /** The ends of the logs, for whoever finds a fault. */
  logTails(): string {
    const tail = (log: string) => log.slice(-SHOWN_LOG_CHARS);
    return `the control plane's log ends:\n${tail(this.#node.process.stderr)}\nthe agent's:\n${tail(this.#agent.stderr)}`;
  }

  signalNode(signal: NodeJS.Signals): void {
    this.#node.kill(signal);
  }

  /** The data stay. Idempotent. */
  async stop(): Promise<void> {
    this.#api.close();
    // The node ends its Redis, which is none of the world's, since its data lie elsewhere.
    this.#node.kill("SIGTERM");
    await Promise.race([this.#node.exited, pause(STOP_MS, undefined, { ref: false })]);
    await this.#world.end();
  }
}

function serve(world: ProcessWorld, env: Readonly<Record<string, string>>): Promise<ServeNode> {
  return world.serve("edge,gateway,worker", { env });
}

function apiOf(node: ServeNode): Api {
  return new Api(`http://${node.http}`, TOKEN);
}

function linesOf(log: string): readonly LogLine[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}

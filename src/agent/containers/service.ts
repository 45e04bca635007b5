/** A service of a job: a container beside the steps, whose output is part of the job's log. */
import type { ChildProcess } from "node:child_process";
import { isIP } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "../../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../../domain/errors.ts";
import { MARK } from "../process/kill-script.ts";
import { quote, variablesFor } from "../process/launch-script.ts";
import { signalGroup } from "../process/process-group.ts";
import type { ClientOptions, ContainerEngine } from "./engine.ts";
import type { InspectedImage } from "./inspect-image.ts";

/** A service that has not begun to run after this time counts as broken. */
const START_MS = 120_000;
const POLL_MS = 100;

export interface ServicePlace extends ClientOptions {
  readonly engine: ContainerEngine;
  readonly name: string;
  readonly labels: readonly string[];
  readonly network: string;
  readonly say: (line: string) => void;
  /** True for a text that holds a secret. */
  readonly isSecret: (text: string) => boolean;
}

/** By what a service is reached; {@link RunningService} has the meaning of each. */
interface Reached {
  readonly host: string;
  readonly networkAddress: string | undefined;
  readonly ports: ReadonlyMap<number, string>;
}

export class RunningService {
  readonly #place: ServicePlace;
  readonly #client: ChildProcess;
  readonly #host: string;
  /** In the network of the job; undefined when the engine does not tell it. */
  readonly #networkAddress: string | undefined;
  /** The ports of the service, each with the one by which this machine reaches it. */
  readonly #ports: ReadonlyMap<number, string>;

  private constructor(place: ServicePlace, client: ChildProcess, { host, networkAddress, ports }: Reached) {
    this.#place = place;
    this.#client = client;
    this.#host = host;
    this.#networkAddress = networkAddress;
    this.#ports = ports;
  }

  /** Resolves when the service is healthy. Rejects with `conflict` when it does not become so. */
  static async start(
    service: Service,
    image: InspectedImage,
    place: ServicePlace,
    signal: AbortSignal,
  ): Promise<RunningService> {
    const { engine, name, say } = place;
    const isHidden = service.env.some(({ value }) => place.isSecret(value));
    const client = engine.attach(serviceArguments(service, image, place, isHidden), place);
    let ended: number | null | undefined;
    client.once("exit", (code) => (ended = code));
    let last = "";
    for (const stream of [client.stdout!, client.stderr!]) {
      createInterface(stream).on("line", (line) => {
        last = line;
        say(`${service.name} | ${line}`);
      });
    }
    client.stdin!.end(isHidden ? becomeService(service, image) : "");
    try {
      const networkAddress = await whenRunning(place, () => ended, signal);
      await whenHealthy(service, place, () => ended, signal);
      const ports = await publishedPorts(service, place);
      client.once("exit", (code) => say(`the service ${service.name} has ended with exit code ${code}`));
      return new RunningService(place, client, { host: service.name, networkAddress, ports });
    } catch (error) {
      await engine.remove([name]);
      signal.throwIfAborted();
      const why = (error as Error).message;
      throw new MillraceError(
        "conflict",
        `the service ${service.name} ${why}${last === "" ? "" : `; it said last: ${last}`}`,
      );
    }
  }

  /**
   * The variables by which a step finds the service: `MILLRACE_SERVICE_DB_HOST`, `MILLRACE_SERVICE_DB_PORT` for its first port,
   * and one for each port. A step outside of containers uses ports of this machine.
   */
  address(isInside: boolean): readonly (readonly [name: string, value: string])[] {
    const prefix = `MILLRACE_SERVICE_${this.#host.toUpperCase().replaceAll("-", "_")}`;
    const ports = Array.from(this.#ports, ([port, shown]) => [port, isInside ? String(port) : shown] as const);
    return [
      [`${prefix}_HOST`, isInside ? this.#host : "127.0.0.1"],
      ...ports.slice(0, 1).map(([, shown]) => [`${prefix}_PORT`, shown] as const),
      ...ports.map(([port, shown]) => [`${prefix}_PORT_${port}`, shown] as const),
    ];
  }

  /**
   * The name and the address of the service for the hosts file of a container: `web:10.89.0.2`. The engine's name server
   * may not know a service that has just begun.
   */
  get hostEntry(): string | undefined {
    return this.#networkAddress === undefined ? undefined : `${this.#host}:${this.#networkAddress}`;
  }

  async pause(isPaused: boolean): Promise<void> {
    await this.#place.engine.ask([isPaused ? "pause" : "unpause", this.#place.name]);
  }

  /** Ends and removes the service. Its last lines are not told. */
  async remove(): Promise<void> {
    this.#client.removeAllListeners("exit");
    await this.#place.engine.remove([this.#place.name]);
    if (this.#client.exitCode === null && this.#client.pid !== undefined) signalGroup(this.#client.pid, "SIGKILL");
  }
}

function serviceArguments(
  { name: host, env, ports }: Service,
  { id, entrypoint, command }: InspectedImage,
  { name, labels, network }: ServicePlace,
  isHidden: boolean,
): readonly string[] {
  const hidden = ["--entrypoint", "/bin/sh", id, "-s"];
  if (isHidden && entrypoint.length + command.length === 0) {
    throw new MillraceError("conflict", `the image of the service ${host} names no program`);
  }
  return [
    "run",
    "-i",
    "--name",
    name,
    ...labels.flatMap((label) => ["--label", label]),
    "-e",
    MARK,
    "--network",
    network,
    "--network-alias",
    host,
    "--hostname",
    host,
    ...ports.flatMap((port) => ["-p", `127.0.0.1::${port}`]),
    ...(isHidden ? [] : env.flatMap((each) => ["-e", `${each.name}=${each.value}`])),
    "--pull",
    "never",
    ...(isHidden ? hidden : [id]),
  ];
}

/** The text by which a shell becomes the program of the service, with variables that the engine does not see. */
function becomeService({ env }: Service, { entrypoint, command }: InspectedImage): string {
  const { exported, given } = variablesFor(Object.fromEntries(env.map((each) => [each.name, each.value])));
  const program = [...(given.length > 0 ? ["env", ...given] : []), ...[...entrypoint, ...command].map(quote)];
  const begin = exported.length > 0 ? `export ${exported.join(" ")}; ` : "";
  return `${begin}exec </dev/null; exec ${program.join(" ")}\n`;
}

/** What {@link whenRunning} asks: `true` once the container runs, then its addresses. */
const STATE = "{{.State.Running}}{{range .NetworkSettings.Networks}} {{.IPAddress}} {{.GlobalIPv6Address}}{{end}}";

/** Resolves when the service runs, with its address in the network of the job. */
async function whenRunning(
  { engine, name }: ServicePlace,
  exitCode: () => number | null | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const end = performance.now() + START_MS;
  for (;;) {
    signal.throwIfAborted();
    const { code, stdout } = await engine.ask(["inspect", "--format", STATE, name]);
    const [isRunning, ...addresses] = stdout.trim().split(/\s+/);
    // An address that is not there may be a word.
    if (code === 0 && isRunning === "true") return addresses.find((address) => isIP(address) !== 0);
    if (exitCode() !== undefined) throw new Error(`cannot be started: it ended with exit code ${exitCode()}`);
    if (performance.now() > end) throw new Error("does not start");
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function whenHealthy(
  { health }: Service,
  { engine, name }: ServicePlace,
  exitCode: () => number | null | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (health === undefined) return;
  const { command, retries } = health;
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    const check = ["exec", name, "/bin/sh", "-c", command];
    const { code } = await engine.ask(check, { timeoutMs: Number(health.timeoutMs), signal });
    if (code === 0) return;
    if (exitCode() !== undefined) throw new Error(`ended with exit code ${exitCode()} before it was healthy`);
    if (failures >= retries) throw new Error(`is not healthy after ${failures + 1} checks`);
    await sleep(Number(health.intervalMs), undefined, { signal });
  }
}

async function publishedPorts(
  { name: host, ports }: Service,
  { engine, name }: ServicePlace,
): Promise<ReadonlyMap<number, string>> {
  const published = new Map<number, string>();
  for (const port of ports) {
    const { stdout, stderr } = await engine.ask(["port", name, `${port}/tcp`]);
    const shown = /:(\d+)\s*$/m.exec(stdout)?.[1];
    if (shown === undefined) {
      throw new MillraceError("conflict", `the port ${port} of the service ${host} is not published: ${stderr}`);
    }
    published.set(port, shown);
  }
  return published;
}

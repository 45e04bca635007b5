/**
 * A container in which steps run. Its first process waits for the end of its standard input, which the agent holds through
 * the engine's client: when the agent or the client ends, the container does.
 */
import type { ChildProcess } from "node:child_process";
import { execFile } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Container } from "../../../proto/generated/agent/v1/agent.ts";
import { MillraceError } from "../../domain/errors.ts";
import { oomKillsIn } from "../process/cgroups.ts";
import { MARK } from "../process/kill-script.ts";
import { signalGroup } from "../process/process-group.ts";
import type { Owner } from "../process/step-user.ts";
import { END_OF_STEP, FIRST_PROCESS, READY } from "./container-scripts.ts";
import type { ClientOptions, ContainerEngine, EngineAnswer } from "./engine.ts";

/** What an engine may take from the start of a container to its first line. */
const START_MS = 120_000;
/** Between two questions whether the engine has noted the start. */
const NOTED_MS = 50;
/** What the end of a step may take inside of its container. */
const END_MS = 30_000;
/** What giving all files of a workspace to another user may take. */
const OWNER_MS = 600_000;

export interface ContainerPlace extends ClientOptions {
  readonly engine: ContainerEngine;
  readonly name: string;
  readonly labels: readonly string[];
  /** Folders that the container sees at their own paths. */
  readonly folders: readonly string[];
  /** Absent: the engine's default network. */
  readonly network?: string | undefined;
  /** Hosts that the container knows by name, as `NAME:ADDRESS`. */
  readonly hosts: readonly string[];
  /** To whom the folders belong while no step runs. */
  readonly owner: Owner;
  readonly say: (line: string) => void;
}

type Wanted = Pick<Container, "user" | "entrypoint" | "withoutNetwork" | "cpus" | "memoryBytes" | "pids">;

export class RunningContainer {
  readonly #place: ContainerPlace;
  readonly #client: ChildProcess;
  readonly #owner: Owner;
  #user: Owner = { uid: 0, gid: 0 };
  #oomKills = 0;
  #isGone = false;

  private constructor(place: ContainerPlace, client: ChildProcess) {
    this.#place = place;
    this.#client = client;
    this.#owner = place.owner;
    client.once("exit", () => (this.#isGone = true));
  }

  /** Rejects with `conflict` when the container does not start, and with the reason of `signal`. */
  static async start(
    imageId: string,
    wanted: Wanted,
    place: ContainerPlace,
    signal: AbortSignal,
  ): Promise<RunningContainer> {
    const client = place.engine.attach(startArguments(imageId, wanted, place), place);
    const container = new RunningContainer(place, client);
    const abort = () => container.#endClient();
    signal.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(abort, START_MS);
    try {
      const problem = await container.#whenReady();
      signal.throwIfAborted();
      if (problem !== undefined) throw new MillraceError("conflict", `the container cannot be started: ${problem}`);
      await container.#whenNoted();
      signal.throwIfAborted();
      return container;
    } catch (error) {
      await container.remove();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }

  /** False once its first process has ended. */
  get isRunning(): boolean {
    return !this.#isGone;
  }

  /** A shell in the container that reads its commands from its standard input, as the user of the container. */
  attachShell(): ChildProcess {
    const { engine, name } = this.#place;
    return engine.attach(["exec", "-i", "-e", MARK, name, "/bin/sh", "-s"], this.#place);
  }

  /** Runs a shell text as root of the container. */
  runAsRoot(script: string, timeoutMs = END_MS): Promise<EngineAnswer> {
    const { engine, name } = this.#place;
    return engine.ask(["exec", "-u", "0", name, "/bin/sh", "-c", script], { timeoutMs });
  }

  /** Lets the user of the container write into the folders. Root of a container may do so anyway. */
  async beginStep(): Promise<void> {
    const { uid, gid } = this.#user;
    if (uid !== 0) await this.#giveFolders({ uid, gid });
  }

  /**
   * Ends all processes but the first, and gives the files of the folders to their owner. True when the kernel has killed a
   * process of the step because the memory of the container was used up.
   */
  async endStep(): Promise<boolean> {
    const { code, stdout } = await this.runAsRoot(END_OF_STEP);
    if (code !== 0) await this.remove();
    await this.#giveFolders(this.#owner);
    const kills = oomKillsIn(stdout);
    const isOutOfMemory = kills > this.#oomKills;
    this.#oomKills = Math.max(kills, this.#oomKills);
    return isOutOfMemory;
  }

  async pause(isPaused: boolean): Promise<void> {
    await this.#place.engine.ask([isPaused ? "pause" : "unpause", this.#place.name]);
  }

  /** Ends and removes the container. Idempotent; never rejects. */
  async remove(): Promise<void> {
    const { engine, name } = this.#place;
    this.#client.stdin?.destroy();
    await engine.remove([name]);
    this.#endClient();
  }

  /** Undefined once the first process runs; else what the engine said. */
  #whenReady(): Promise<string | undefined> {
    const said: string[] = [];
    return new Promise((resolve) => {
      createInterface(this.#client.stderr!).on("line", (line) => said.push(line));
      createInterface(this.#client.stdout!).on("line", (line) => {
        const [word, uid, gid] = line.split(" ");
        if (word !== READY) return this.#place.say(line);
        this.#user = { uid: Number(uid), gid: Number(gid) };
        resolve(undefined);
      });
      this.#client.once("close", (code) => {
        const text = said.filter((line) => !/level=warning/.test(line)).at(-1);
        const missing = said.some((line) => /\/bin\/sh/.test(line)) ? " (its image needs /bin/sh)" : "";
        resolve(`${text ?? `it ended with exit code ${code}`}${missing}`);
      });
    });
  }

  /**
   * The first process may write before the engine has noted that it runs. Until then, the engine starts no other process in the
   * container: "container state improper", says Podman.
   */
  async #whenNoted(): Promise<void> {
    const { engine, name } = this.#place;
    while (!this.#isGone) {
      const { code, stdout } = await engine.ask(["inspect", "--format", "{{.State.Running}}", name]);
      if (code !== 0 || stdout.trim() === "true") return;
      await sleep(NOTED_MS);
    }
  }

  async #giveFolders({ uid, gid }: Owner): Promise<void> {
    const { engine, folders } = this.#place;
    const find = [
      "find",
      ...folders,
      "-xdev",
      "!",
      "-uid",
      String(uid),
      "-exec",
      "chown",
      "-h",
      `${uid}:${gid}`,
      "{}",
      "+",
    ];
    const agent = process.geteuid!();
    // The ids that rootless Podman gives the users of a container are the agent's to give in a namespace of its own.
    const isNamespaced = agent !== 0 && engine.kind === "podman";
    if (agent === 0) await run(find);
    else if (isNamespaced)
      await engine.ask(["unshare", ...find.map((word) => asInside(word, agent))], { timeoutMs: OWNER_MS });
    else await this.runAsRoot(find.map((word) => `'${word}'`).join(" "), OWNER_MS);
  }

  #endClient(): void {
    if (!this.#isGone && this.#client.pid !== undefined) signalGroup(this.#client.pid, "SIGKILL");
  }
}

/** In the namespace of rootless Podman, the agent's user is root. */
function asInside(word: string, agent: number): string {
  if (word === String(agent)) return "0";
  return word.startsWith(`${agent}:`) ? "0:0" : word;
}

function run([program = "", ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve) => execFile(program, args, { cwd: "/", timeout: OWNER_MS }, () => resolve()));
}

function startArguments(imageId: string, wanted: Wanted, place: ContainerPlace): readonly string[] {
  const { user, entrypoint, withoutNetwork, cpus, memoryBytes, pids } = wanted;
  const { name, labels, folders, network, hosts } = place;
  const [first = "/bin/sh", ...before] = entrypoint;
  const shell = ["-c", FIRST_PROCESS];
  return [
    "run",
    "-i",
    "--name",
    name,
    ...labels.flatMap((label) => ["--label", label]),
    "-e",
    MARK,
    ...folders.flatMap((folder) => ["--mount", `type=bind,src=${folder},dst=${folder}`]),
    "--security-opt",
    "label=disable",
    ...(withoutNetwork ? ["--network", "none"] : network === undefined ? [] : ["--network", network]),
    ...(withoutNetwork ? [] : hosts.flatMap((host) => ["--add-host", host])),
    ...(user === "" ? [] : ["--user", user]),
    ...(cpus === 0 ? [] : ["--cpus", String(cpus)]),
    // Without swap beyond it: a container that swaps slows the machine down instead of failing.
    ...(memoryBytes === 0n ? [] : ["--memory", `${memoryBytes}b`, "--memory-swap", `${memoryBytes}b`]),
    ...(pids === 0 ? [] : ["--pids-limit", String(pids)]),
    "--pull",
    "never",
    "--entrypoint",
    first,
    imageId,
    ...(entrypoint.length === 0 ? shell : [...before, "/bin/sh", ...shell]),
  ];
}

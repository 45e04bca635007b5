/** Images: whether the agent may use one, whether it has it, and how it is pulled. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { PullPolicy } from "../../domain/containers/containers.ts";
import { registryOf } from "../../domain/containers/image-references.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ClientOptions, ContainerEngine } from "./engine.ts";

/** A folder in memory, so that credentials reach no disk. Where there is none, they are in the agent's own folder. */
const MEMORY_FOLDER = "/dev/shm";
/** Lines of progress that one pull adds to the log. */
const MAX_PROGRESS_LINES = 200;
/** The key of Docker Hub in the file with the credentials of an engine. */
const DOCKER_HUB = "https://index.docker.io/v1/";

export interface ImageRequest {
  readonly image: string;
  readonly pull: PullPolicy;
  /** `user:password`; empty for none. */
  readonly credential: string;
}

export interface PullOptions extends ClientOptions {
  readonly engine: ContainerEngine;
  /** The images that this agent may use; `*` stands for any text. Empty for all. */
  readonly allowed: readonly string[];
  readonly scratchDir: string;
  /** Distinguishes the files of this agent from those of others on the machine. */
  readonly agentKey: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface FoundImage {
  readonly id: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/** The image, which is pulled if need be. Rejects with `forbidden`, `not_found` or the reason of `signal`. */
export async function obtainImage(request: ImageRequest, options: PullOptions): Promise<FoundImage> {
  const { image, pull } = request;
  const { engine, allowed, say, signal } = options;
  const fullName = engine.pulledName(image);
  if (allowed.length > 0 && !allowed.some((pattern) => matches(pattern, image) || matches(pattern, fullName))) {
    const text = `this agent may not use the image ${image}: its operator allows ${allowed.join(", ")}`;
    throw new MillraceError("forbidden", text);
  }
  const present = pull === "always" ? undefined : await inspect(engine, image);
  if (present === undefined) {
    if (pull === "never")
      throw new MillraceError("not_found", `this agent does not have the image ${image}, and \`pull\` is never`);
    await pullImage(request, fullName, options);
  }
  const found = present ?? (await inspect(engine, image)) ?? (await inspect(engine, fullName));
  signal.throwIfAborted();
  if (found === undefined) throw new MillraceError("not_found", `the image ${image} is not there after its pull`);
  say(`the image ${image} is ${found.digest}`);
  return found;
}

async function inspect(engine: ContainerEngine, image: string): Promise<(FoundImage & { digest: string }) | undefined> {
  const { code, stdout } = await engine.ask(["image", "inspect", image]);
  if (code !== 0) return undefined;
  const [{ Id = "", RepoDigests = [], Config = {} } = {}] = JSON.parse(stdout) as [
    { Id?: string; RepoDigests?: string[] | null; Config?: { Entrypoint?: string[] | null; Cmd?: string[] | null } }?,
  ];
  const id = Id.includes(":") ? Id : `sha256:${Id}`;
  return { id, digest: RepoDigests?.[0] ?? id, entrypoint: Config.Entrypoint ?? [], command: Config.Cmd ?? [] };
}

async function pullImage({ image, credential }: ImageRequest, fullName: string, options: PullOptions): Promise<void> {
  const { engine, say, signal } = options;
  const auth = credential === "" ? undefined : writeCredential(fullName, credential, options);
  try {
    say(`pulling the image ${image}`);
    const client = engine.attach(engine.pullArguments(fullName, auth), options);
    client.stdin!.end();
    let lines = 0;
    let last = "";
    const tell = (line: string): void => {
      if (line.trim() !== "") last = line.trim();
      if (line.trim() !== "" && lines++ < MAX_PROGRESS_LINES) say(line.trim());
    };
    for (const stream of [client.stdout!, client.stderr!]) createInterface(stream).on("line", tell);
    const stop = () => client.pid !== undefined && process.kill(-client.pid, "SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    const code = await new Promise<number | null>((resolve) => client.once("close", resolve));
    signal.removeEventListener("abort", stop);
    signal.throwIfAborted();
    if (code !== 0) throw new MillraceError("not_found", `cannot pull the image ${image}: ${last}`);
  } finally {
    if (auth !== undefined) rmSync(auth, { recursive: true, force: true });
  }
}

/** Writes the credential where the engine reads it, in memory if possible; answers the folder. */
function writeCredential(image: string, credential: string, { scratchDir, agentKey }: PullOptions): string {
  const folder = mkdtempSync(join(inMemory() ? MEMORY_FOLDER : scratchDir, `${prefixOf(agentKey)}auth-`));
  const entry = { auth: Buffer.from(credential).toString("base64") };
  const registry = registryOf(image);
  const auths = { [registry]: entry, ...(registry === "docker.io" ? { [DOCKER_HUB]: entry } : {}) };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ auths }), { mode: 0o600 });
  return folder;
}

/** Removes credentials that a killed agent has left. */
export function clearCredentials(agentKey: string): void {
  if (!inMemory()) return;
  for (const name of readdirSync(MEMORY_FOLDER).filter((each) => each.startsWith(prefixOf(agentKey)))) {
    rmSync(join(MEMORY_FOLDER, name), { recursive: true, force: true });
  }
}

function prefixOf(agentKey: string): string {
  return `millrace-${agentKey}-`;
}

function inMemory(): boolean {
  try {
    return statSync(MEMORY_FOLDER).isDirectory();
  } catch {
    return false;
  }
}

function matches(pattern: string, image: string): boolean {
  const words = pattern.split("*").map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${words.join(".*")}$`).test(image);
}

/** Images: whether the agent may use one, whether it has it, and how it is pulled. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { PullPolicy } from "../../domain/containers/containers.ts";
import { movingTag, parseImage, registryOf, withDigest } from "../../domain/containers/image-references.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ClientOptions, ContainerEngine } from "./engine.ts";
import type { HeldImage, ImageCache } from "./image-cache.ts";
import type { InspectedImage } from "./inspect-image.ts";

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
  /** To which the run has resolved the image; empty while it has not. */
  readonly digest: string;
}

export interface PullOptions extends ClientOptions {
  readonly engine: ContainerEngine;
  readonly cache: ImageCache;
  /** The images that this agent may use; `*` stands for any text. Empty for all. */
  readonly allowed: readonly string[];
  readonly scratchDir: string;
  /** Distinguishes the files of this agent from those of others on the machine. */
  readonly agentKey: string;
  /** Tells the digest that was found, and answers the one that the run uses. */
  readonly pin: (digest: string) => Promise<string>;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * The image, which is pulled if need be, and held until it is released. All steps of a run get the same one: the first digest
 * that an agent finds for a reference is pinned, and from then on it is got by this digest. Rejects with `forbidden`,
 * `not_found`, as `pin` does, or with the reason of `signal`.
 */
export async function obtainImage(request: ImageRequest, options: PullOptions): Promise<HeldImage> {
  refuseForbidden(request.image, options);
  if (request.digest !== "") return obtainPinned(request, request.digest, options);
  const found = await findOrPull(request, options);
  try {
    const pinned = await pinFound(request, found, options);
    if (pinned === undefined) return found;
    found.release();
    return await obtainPinned(request, pinned, options);
  } catch (error) {
    found.release();
    throw error;
  }
}

/** The image that the tag names now. */
async function findOrPull(request: ImageRequest, options: PullOptions): Promise<HeldImage> {
  const { image, pull } = request;
  const { engine, cache, signal } = options;
  const present = pull === "always" ? undefined : await cache.hold([image]);
  if (present !== undefined) return present;
  if (pull === "never")
    throw new MillraceError("not_found", `this agent does not have the image ${image}, and \`pull\` is never`);
  const fullName = engine.pulledName(image);
  const found = await cache.pull(fullName, [image, fullName], () => pullImage(request, fullName, options));
  if (found !== undefined && !signal.aborted) return found;
  found?.release();
  signal.throwIfAborted();
  throw new MillraceError("not_found", `the image ${image} is not there after its pull`);
}

/** Tells the digest of the image; answers the one that the run uses if that is another one. */
async function pinFound(
  { image }: ImageRequest,
  found: InspectedImage,
  { engine, pin, say }: PullOptions,
): Promise<string | undefined> {
  const reference = parseImage(image);
  if (reference?.digest !== undefined) return undefined;
  const digest = digestIn(found, [image, engine.pulledName(image)]);
  if (digest === undefined) {
    say(`the image ${image} is ${found.id}; no registry has it, so another agent may have another one by this name`);
    return undefined;
  }
  const isMoving = reference !== undefined && movingTag(reference) !== undefined;
  const advice = isMoving ? "; its tag moves: name the image by this digest to get the same one in later runs" : "";
  say(`the image ${image} is ${withDigest(image, digest)}${advice}`);
  const pinned = await pin(digest);
  return pinned === digest ? undefined : pinned;
}

/** The image of the digest that the run uses. */
async function obtainPinned(request: ImageRequest, digest: string, options: PullOptions): Promise<HeldImage> {
  const { image, pull } = request;
  const { engine, cache, say, signal } = options;
  const wanted = withDigest(image, digest)!;
  const fullName = engine.pulledName(wanted);
  const names = [wanted, fullName];
  const present = await cache.hold(names);
  say(`the image ${image} is ${wanted} in this run`);
  if (present !== undefined) return present;
  const why = `another step of this run has found ${digest} for the image ${image}, and this agent does not have it`;
  if (pull === "never") throw new MillraceError("not_found", `${why}: \`pull\` is never`);
  const byDigest = { ...request, image: wanted };
  const found = await cache.pull(fullName, names, () => pullImage(byDigest, fullName, options));
  if (found !== undefined && !signal.aborted) return found;
  found?.release();
  signal.throwIfAborted();
  throw new MillraceError("not_found", `${why}, also after its pull`);
}

function refuseForbidden(image: string, { engine, allowed }: PullOptions): void {
  const names = [image, engine.pulledName(image)];
  if (allowed.length === 0 || allowed.some((pattern) => names.some((name) => matches(pattern, name)))) return;
  const text = `this agent may not use the image ${image}: its operator allows ${allowed.join(", ")}`;
  throw new MillraceError("forbidden", text);
}

/**
 * The digest by which other agents get the same image. An index of several platforms serves them all, and Podman tells it
 * beside that of this machine's manifest.
 */
function digestIn({ references, ownDigest }: InspectedImage, names: readonly string[]): string | undefined {
  const repositories = names.map((name) => parseImage(name)?.name);
  const digests = references.flatMap((reference) => {
    const { name, digest } = parseImage(reference) ?? {};
    return digest !== undefined && repositories.includes(name) ? [digest] : [];
  });
  return digests.find((digest) => digest !== ownDigest) ?? digests[0];
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

/**
 * The second sample of a new installation: a pipeline whose definition is in a Git repository in the data directory, with a
 * schedule and a hook. The repository is served over loopback while the installation runs.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { MillraceError } from "../../domain/errors.ts";
import { findOnPath } from "../../program-path.ts";
import type { Network } from "../../settings/values.ts";
import { PACKAGE_ROOT } from "../../node/package-root.ts";
import { writeOnce } from "../../node/write-once.ts";
import type { ApiClient } from "../api-client.ts";
import { type SampleGitServer, startSampleGitServer } from "./git-server.ts";
import { makeSampleRepository } from "./git-repository.ts";

const NAME = "hello-git";
const HOOK = "sample";
/** The secret with which the repository is read and the sender of the hook proves itself. */
const SECRET = "SAMPLE_KEY";
const SOURCE = join(PACKAGE_ROOT, "examples", "hello");
/** The definition of the first sample is no part of the repository. */
const LEAVES = new Set(["pipeline.yaml"]);

/** Where a Git of the node may connect to besides the public internet, so that it reaches the repository. */
export const SAMPLE_NETWORK: Network = { address: "127.0.0.1", bits: 32 };

/** What a user can do with the sample. */
export interface GitSampleWays {
  /** The path of the bare repository. */
  readonly repository: string;
  /** A command that starts a run through the hook; null when the hook is gone. */
  readonly command: string | null;
}

export class GitSample {
  readonly #folder: string;
  readonly #server: SampleGitServer;
  readonly #key: string;

  private constructor(folder: string, server: SampleGitServer, key: string) {
    this.#folder = folder;
    this.#server = server;
    this.#key = key;
  }

  /** Notes in a new data directory that its installation has the sample, so that a later start makes it. */
  static async plan(dataDir: string): Promise<void> {
    await mkdir(folderIn(dataDir), { recursive: true, mode: 0o700 });
  }

  /**
   * Serves the repository, and makes it at the first start. Undefined when the installation has no such sample; rejects with
   * `unavailable` when there is no Git, or when Git fails.
   */
  static async open(dataDir: string): Promise<GitSample | undefined> {
    const folder = folderIn(dataDir);
    if (!existsSync(folder)) return undefined;
    await writeOnce(join(folder, "key"), randomBytes(32).toString("hex"));
    const key = (await read(join(folder, "key")))!;
    if (findOnPath("git") === undefined) throw new MillraceError("unavailable", "git is not on PATH");
    const repository = join(folder, "hello.git");
    if ((await read(join(repository, "HEAD"))) === undefined) await makeSampleRepository(repository, SOURCE, LEAVES);
    const wanted = Number(await read(join(folder, "port"))) || 0;
    const server = await startSampleGitServer(folder, key, wanted);
    await replace(join(folder, "port"), String(server.port));
    return new GitSample(folder, server, key);
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#server.port}/hello.git`;
  }

  /**
   * Makes the secret, the hook and the pipeline, once in the life of the installation, and tells the pipeline when the port of
   * the repository has changed. `url` is the address of the API. Undefined when the user has removed the pipeline.
   */
  async connect(api: ApiClient, url: string): Promise<GitSampleWays | undefined> {
    const made = join(this.#folder, "made");
    if ((await read(made)) === undefined) {
      await this.#make(api);
      await writeOnce(made, "");
    }
    const pipeline = await api.findPipeline(NAME);
    if (pipeline === undefined || !isOnLoopback(pipeline)) return undefined;
    if (pipeline.repoUrl !== this.#url) await api.moveRepository(pipeline.pipelineId, this.#url);
    const hook = await api.findHook(HOOK);
    const address = hook === undefined ? "" : `${url}${hook.path}`;
    await replace(join(this.#folder, "address"), this.#url);
    await replace(join(this.#folder, "hook-address"), address);
    return {
      repository: join(this.#folder, "hello.git"),
      command: address === "" ? null : commandFor(address, join(this.#folder, "key")),
    };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** A repeat after a kill finds what was made. */
  async #make(api: ApiClient): Promise<void> {
    await api.createSecret(SECRET, this.#key).catch((error: unknown) => {
      if (!(error instanceof MillraceError && error.reason === "already_exists")) throw error;
    });
    if ((await api.findHook(HOOK)) === undefined) {
      await api.createHook({ name: HOOK, kind: "generic", proof: "token", secret: SECRET });
    }
    if ((await api.findPipeline(NAME)) === undefined) {
      const description = "The sample in Git: tests the program in examples/hello";
      await api.createPipeline(NAME, description, { repoUrl: this.#url, repoCredential: SECRET });
    }
  }
}

const folderIn = (dataDir: string) => join(dataDir, "sample");

/** False for a pipeline of the user that only has the name of the sample. */
function isOnLoopback({ repoUrl }: Schemas["Pipeline"]): boolean {
  return repoUrl.startsWith("http://127.0.0.1:");
}

function commandFor(address: string, keyFile: string): string {
  const key = `"Authorization: Bearer $(cat '${keyFile.replaceAll("'", `'\\''`)}')"`;
  return `curl -H ${key} -H 'Content-Type: application/json' -d '{ "event": "hello", "actor": "you" }' ${address}`;
}

/** The text of a file; undefined when there is none. */
async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
}

/** Writes a file whole, for this user only. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
